"""Business terms replaced by the names in the data: `sold most`, `best selling`, `happiest`, `add up`.

A table's main measure is its metric or its only amount. Where money and pieces are equally near, the user is asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sandtable.planner.candidates.constructions.construction import (
    Construction,
    Doubt,
    as_it_is,
    said_otherwise,
)
from sandtable.planner.language.reading import Reading
from sandtable.planner.schema.index import SchemaIndex
from sandtable.planner.schema.main_measures import amounts, pieces, satisfaction

_ENDS = r"(?= [?.,]|$| in | by | per | on | last | this | since | during | for )"
_SELL = r"(?:sold|sell|sells|selling)"
_SPEND = r"(?:spent|spend|spends|paid|earned|earns|earn|brought in|brings in|bring in|took in|makes|made|generated)"
_SOLD_MOST = re.compile(
    rf"(?:(?:did|do|does|has|have|had|was|were) (?:we )?)?{_SELL} (?:the )?(?P<way>most|least){_ENDS}"
)
_BEST_SELLING = re.compile(
    r"(?:the )?(?:(?P<n>\d+) )?(?P<way>best|top|worst) (?:- )?(?:selling|sellers?|sold)(?= )"
)
_SOLD_PIECES = re.compile(
    rf"{_SELL} (?:the )?(?P<way>most|fewest|least) (?:units|pieces|items|copies)(?= [?.,]|$| )"
)
_SPENT_MOST = re.compile(
    rf"(?:has |have |had )?{_SPEND} (?:us )?(?:the )?(?P<way>most|least)(?: (?:money|revenue|sales|turnover))?{_ENDS}"
)
_REVENUE = re.compile(r"(?:revenue|revenues|turnover|takings|sales revenue)(?= |$)")
_HAPPIEST = re.compile(
    r"(?:the )?(?:(?P<way>happiest|unhappiest)|(?P<how>most|least) (?:satisfied|happy|content)) (?P<who>\w+)"
)
_ADD_UP = re.compile(
    r"add (?:all )?(?:(?:of )?the )?(?P<what>[^?,.]+?) (?:all )?up(?= [?.,]|$| by | per | for )"
)
_ADD_UP_FIRST = re.compile(r"(?:add|sum) (?:it |them )?(?:all )?up(?: all)?(?: of)?(?: the)?(?= )")
_DO_ADD_UP = re.compile(r"(?:what|how much) (?:do|does|did) (?:the |all )?(?P<what>[^?,.]+?) add up to")
_MANY_PIECES = re.compile(
    rf"how many (?:units|pieces|items|copies) (?:did we|did they|have we|were|was|have been) {_SELL}(?= |$)"
)
_HOW_MUCH = re.compile(
    r"how much (?:money )?(?:did|do|does|have|has) (?P<who>[\w ]+?) "
    rf"(?P<verb>sell|sold|spend|spent|earn|earned|make|made|bring in){_ENDS}"
)
_ONLY_MEANT = re.compile(
    r"(?:(?:i|we) (?:only |just )?(?:care about|am interested in|are interested in|mean)|only|just) "
    r"(?P<what>[^.?!]+?) [.!]"
)
_ANYBODY = frozenset(
    "we they customers people clients guests our customers buyers shoppers users".split()
) | {"our customers"}
_HELPING = frozenset("did do does has have had was were we they".split())


@dataclass(frozen=True, slots=True)
class _Place:
    start: int
    end: int
    way: str
    words: str


def _is_plural(word: str) -> bool:
    return word.endswith("s") and not word.endswith("ss") and len(word) > 3


def _superlative(way: str) -> str:
    return "lowest" if way in {"least", "fewest", "worst"} else "highest"


def sold_most(reading: Reading, index: SchemaIndex) -> Iterator[Construction | Doubt]:
    """`which region sold most`: by the amount, or by pieces where only those are counted."""
    for start, end, match in reading.find(_SOLD_PIECES):
        for name in pieces(index)[:1]:
            text = said_otherwise(reading, start, end, f"has the {_superlative(match['way'])} {name}")
            yield Construction((text,), as_it_is)
    for start, end, match in reading.find(_SOLD_MOST):
        yield from _by(
            reading, index, _Place(start, end, match["way"], _said(reading, start, end)), money=False
        )
    for start, end, match in reading.find(_SPENT_MOST):
        yield from _by(
            reading, index, _Place(start, end, match["way"], _said(reading, start, end)), money=True
        )


def _said(reading: Reading, start: int, end: int) -> str:
    """The verb and what follows, without `did we`."""
    while start < end - 1 and reading.lower(start) in _HELPING:
        start += 1
    return reading.written(start, end)


def _by(
    reading: Reading, index: SchemaIndex, place: _Place, *, money: bool
) -> Iterator[Construction | Doubt]:
    names = amounts(index) if money else [*amounts(index), *pieces(index)]
    has = "have" if _is_plural(reading.lower(place.start - 1)) else "has"
    readings = tuple(
        said_otherwise(reading, place.start, place.end, f"{has} the {_superlative(place.way)} {name}")
        for name in names
    )
    yield from _one_of(place.words, readings, names)


def best_selling(reading: Reading, index: SchemaIndex) -> Iterator[Construction | Doubt]:
    """`best selling product`, with what it is measured by said behind it or not."""
    for start, end, match in reading.find(_BEST_SELLING):
        top = "bottom" if match["way"] == "worst" else "top"
        said = f"{top} {match['n'] or ('' if _is_plural(reading.lower(end)) else 1)}"
        noun = said_otherwise(reading, start, end, said)
        if re.search(r" by \w+", reading.line[reading.offsets[end - 1] :]):
            yield Construction((noun,), as_it_is)
            continue
        names = [*amounts(index), *pieces(index)]
        readings = tuple(_behind(noun, f"by {name}") for name in names)
        yield from _one_of(reading.written(start, end), readings, names)


def _behind(text: str, more: str) -> str:
    """Words behind the noun, before a time or a place that follows it."""
    bare = text.rstrip("?. ")
    found = re.search(r" (?:in|of|during|since|last|this|for|from|by|per) ", f"{bare} ".lower())
    at = found.start() if found else len(bare)
    return f"{bare[:at]} {more}{bare[at:]}"


def _one_of(words: str, readings: tuple[str, ...], names: list[str]) -> Iterator[Construction | Doubt]:
    if len(readings) == 1:
        yield Construction(readings, as_it_is)
    elif readings:
        yield Doubt(words, readings, tuple(names))


def how_much_sold(reading: Reading, index: SchemaIndex) -> Iterator[Construction | Doubt]:
    """`how much did Ada sell`, `how many units did we sell`: the amount, or the pieces."""
    for start, end, _ in reading.find(_MANY_PIECES):
        for name in pieces(index)[:1]:
            yield Construction((said_otherwise(reading, start, end, f"what are the {name}"),), as_it_is)
    for start, end, match in reading.find(_HOW_MUCH):
        selling = match["verb"].startswith("s") and match["verb"] not in {"spend", "spent"}
        names = [*amounts(index), *pieces(index)] if selling else amounts(index)
        who = "" if match["who"] in _ANYBODY else f" of {match['who']}"
        readings = tuple(said_otherwise(reading, start, end, f"what is the {name}{who}") for name in names)
        yield from _one_of(reading.written(start, start + 2), readings, names)


def called_revenue(reading: Reading, index: SchemaIndex) -> Iterator[Construction | Doubt]:
    """`revenue` where the data calls it amount."""
    names = amounts(index)
    for start, end, _ in reading.find(_REVENUE):
        if len(names) == 1:
            text = said_otherwise(reading, start, end, names[0])
            yield Construction((text,), as_it_is)
            yield Construction((text.replace("most total", "highest total"),), as_it_is)


def happiest(reading: Reading, index: SchemaIndex) -> Iterator[Construction | Doubt]:
    """`the happiest customers`: the highest average of the only score of satisfaction."""
    names = satisfaction(index)
    for start, end, match in reading.find(_HAPPIEST):
        low = match["way"] == "unhappiest" or match["how"] == "least"
        if len(names) == 1:
            text = f"the {'lowest' if low else 'highest'} average {names[0]}"
            yield Construction((said_otherwise(reading, start, end, text),), as_it_is)


def added_up(reading: Reading, index: SchemaIndex) -> Iterator[Construction | Doubt]:
    """`add up the fees`, `what do the fees add up to`: their total."""
    for pattern in (_DO_ADD_UP, _ADD_UP):
        for start, end, match in reading.find(pattern):
            text = said_otherwise(reading, start, end, f"what is the total {match['what']}")
            yield Construction((text,), as_it_is)
    for start, end, _ in reading.find(_ADD_UP_FIRST):
        yield Construction((said_otherwise(reading, start, end, "total"),), as_it_is)


def meant_only(reading: Reading, index: SchemaIndex) -> Iterator[Construction | Doubt]:
    """`I only care about Germany. Revenue by month?`: a sentence that says which rows are meant."""
    for start, end, match in reading.find(_ONLY_MEANT):
        if start == 0 and end < len(reading):
            rest = said_otherwise(reading, start, end).rstrip("?. ")
            yield Construction(
                (f"{rest} for {reading.written(end - 1 - len(match['what'].split()), end - 1)}",), as_it_is
            )
