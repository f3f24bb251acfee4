"""Two columns compared with each other: by their correlation, or row by row."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sandtable.planner.candidates.constructions.construction import (
    Construction,
    Doubt,
    columns_in,
    count_of,
    home_of,
    measure_in,
    measured_column,
    said_otherwise,
    with_filter,
    with_measure,
)
from sandtable.planner.language.reading import Reading
from sandtable.planner.language.words import parse_number
from sandtable.planner.schema.columns import is_measure
from sandtable.planner.schema.durations import minutes_of
from sandtable.planner.schema.entries import ColumnEntry, Json, TableEntry
from sandtable.planner.schema.index import SchemaIndex

_END = r"(?= by | per | for | in | across | of each | within |(?: [?.,;])|$)"
_CORRELATION = (
    re.compile(
        rf"(?:(?:is|are|was) there (?:a|any) |what is the |how (?:strong|high) is the )?"
        rf"correlation (?:coefficient )?(?:between|of) (?P<x>[^?.,]+?) (?:and|with|to) (?P<y>[^?.,]+?){_END}"
    ),
    re.compile(
        rf"(?:do|does|did|is|are|how (?:do|does|did|is|are)) (?P<x>[^?.,]+?) (?:strongly )?(?:correlate|correlated)"
        rf" (?:with|to) (?P<y>[^?.,]+?){_END}"
    ),
    re.compile(
        rf"(?:do|are|how (?:do|are)) (?P<x>[^?.,]+?) and (?P<y>[^?.,]+?) (?:strongly )?(?:correlate|correlated){_END}"
    ),
)
_LESS = {"less": "<", "fewer": "<", "lower": "<", "smaller": "<", "shorter": "<"}
_AGAINST = re.compile(
    r"(?:(?:that|which|who|whose) )?(?:(?:has|have|had|with|took|take|takes|needed) )?(?:a |an )?"
    r"(?P<way>more|less|fewer|higher|lower|greater|larger|smaller|longer|shorter) (?P<x>[^?.,]+?) than "
    r"(?:their |its |his |her |the |our )?(?P<y>[^?.,\d]+?)(?= by | per | in |(?: [?.,;])|$)"
)


_ABOVE = {
    "above": ">", "over": ">", "higher than": ">", "more than": ">", "greater than": ">", "at least": ">=",
    "below": "<", "under": "<", "lower than": "<", "less than": "<", "at most": "<=",
}  # fmt: skip
_IS_ABOVE = re.compile(
    rf"(?:is|was|are|were) (?:the |our )(?P<what>[^?.,]+?) (?P<op>{'|'.join(_ABOVE)}) (?P<n>\d[\d.,]*)"
    r"(?P<percent> %| percent)?(?: (?:€|\$|eur|euros?|usd|dollars?))?(?= \?|$)"
)


def correlation(reading: Reading, index: SchemaIndex) -> Iterator[Construction | Doubt]:
    """`correlation between X and Y`: one number, for each group where there are some."""
    for pattern in _CORRELATION:
        for start, end, match in reading.find(pattern):

            def build(plans: Sequence[Json]) -> Json | None:
                one, other = (measured_column(plan, index) for plan in plans)
                item = measure_in(plans[0])
                if not one or not other or one == other or item is None:
                    return None
                if plans[0]["table"] != plans[1]["table"]:
                    return None
                related = {"agg": "correlation", "column": one, "with": other, "as": "correlation"}
                return with_measure(plans[0], item, related)

            texts = tuple(
                said_otherwise(reading, start, end, f"what is the average {_bare(match[side])}")
                for side in "xy"
            )
            yield Construction(texts, build)


def correlation_of_columns(reading: Reading, index: SchemaIndex) -> Iterator[Construction | Doubt]:
    """The same where a metric's name hides a column's average."""
    for pattern in _CORRELATION:
        for start, end, match in reading.find(pattern):
            for table in index.tables:
                one, other = (_number(_bare(match[side]), index, table) for side in "xy")
                if one is None or other is None or one is other:
                    continue
                related = {"agg": "correlation", "column": one.name, "with": other.name, "as": "correlation"}

                def build(
                    plans: Sequence[Json], table: str = table.name, related: Json = related
                ) -> Json | None:
                    counted = count_of(plans[0])
                    if counted is None or plans[0]["table"] != table:
                        return None
                    return with_measure(plans[0], counted, related)

                rows = " ".join(table.words)
                yield Construction((said_otherwise(reading, start, end, f"number of {rows}"),), build)


def is_above(reading: Reading, index: SchemaIndex) -> Iterator[Construction | Doubt]:
    """`is the average score above 4`: the number, and whether it is."""
    for start, end, match in reading.find(_IS_ABOVE):
        number = parse_number(match["n"])
        if start != 0 or number is None:
            continue
        value = number / 100 if match["percent"] else number
        exact = int(value) if float(value).is_integer() else value

        def build(plans: Sequence[Json], op: str = _ABOVE[match["op"]], value: float = exact) -> Json | None:
            item = measure_in(plans[0])
            if item is None or len(plans[0]["select"]) != 1 or "derive" in plans[0]:
                return None
            holds = {"holds": [{"column": item["as"], "op": op, "value": value}], "as": "holds"}
            return {**plans[0], "derive": [holds]}

        rest = said_otherwise(reading, start, end, f"what is the {match['what']}")
        yield Construction((rest,), build)


def _bare(words: str) -> str:
    return re.sub(r"^(?:the|a|an|our|its|their) ", "", words)


def column_against_column(reading: Reading, index: SchemaIndex) -> Iterator[Construction | Doubt]:
    """`less stock than their reorder point`: rows where one column is below another."""
    for start, end, match in reading.find(_AGAINST):
        op = _LESS.get(match["way"], ">")

        def build(
            plans: Sequence[Json], x: str = match["x"], y: str = match["y"], op: str = op
        ) -> Json | None:
            home = home_of(plans[0], index)
            one, other = (_number(side, index, home) if home else None for side in (x, y))
            if one is None or other is None or one is other:
                return None
            return with_filter(plans[0], {"column": one.name, "op": op, "other_column": other.name})

        for text in ("", "are there"):
            yield Construction((said_otherwise(reading, start, end, text),), build)


def _number(words: str, index: SchemaIndex, home: TableEntry) -> ColumnEntry | None:
    doing = re.fullmatch(r"(?:time )?to (?:be )?(\w+)", words)
    if doing is not None:
        return minutes_of(doing[1], home)
    found = [c for c in columns_in(words, index, home) if is_measure(c)]
    return found[0] if found else None
