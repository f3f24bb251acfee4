"""The forms that a statement may have, as patterns over the letters of `lexicon`.

Each form names its parts; `truth` has a check for each form. A sentence is one clause, or several between
semicolons, commas, "and" and "while". Invariant: a sentence is read in one way only, the longest clause first: what
is checked is what a reader reads.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sandtable.agent.grounding.lexicon import SILENT
from sandtable.agent.grounding.reading import Token

# One row, named by one or more of its columns: "Electronics", "Electronics in March 2025".
_ROW = r"N(?:p?N)*"
_SEP = r"(?:,a|,|a)"
_ROWS = rf"{_ROW}(?:{_SEP}{_ROW})*"
# "in March 2025," before a clause, or "in March 2025" after it.
_LEAD = r"(?P<lead>(?:pN(?:pN)*,?)?)"
_TAIL = rf"(?P<tail>(?:,?p{_ROW})*)"
# "a return rate of 14.2 %", "12 orders", "14.2 %".
_STATED = r"(?:Mp?V|Mw?V|VM|VpM|V)"
_ALL_STATED = rf"{_STATED}(?:{_SEP}{_STATED})*"
# A value beside what it belongs to: "(12)", ", at 12", "with 12 orders", ": 12".
_BESIDE = rf"(?:\((?P<inner>{_STATED})\)|(?:,w|,p|w|p|,|:)?(?P<outer>{_STATED}))"
_AGAINST = r"(?:,?g(?P<overall>VO|OV|OM?p?V|VpO))?"
_VALUED = rf"{_ROW}(?:\({_STATED}\)|w{_STATED})?"
_FOLLOWED = rf"(?:,?f(?P<followed>{_VALUED}(?:{_SEP}{_VALUED})*))?"

# "rose from 10 in January 2025 to 12 in March 2025, with its peak in February 2025 (14)".
_SPAN = (
    r"Rp(?P<first>V)(?:p(?P<since>N))?T(?P<last>V)(?:p(?P<until>N))?"
    r"(?:,?wS(?:p(?P<outer>V))?p(?P<at>N)(?:\((?P<inner>V)\))?)?"
)

FORMS: tuple[tuple[str, str], ...] = (
    # Electronics has 12 orders and a return rate of 14.2 %; Electronics: 12; Asia 15
    ("values", rf"{_LEAD}(?P<who>{_ROW})(?:hw?|bw?|w|:|,)?(?P<what>{_ALL_STATED}){_TAIL}{_AGAINST}"),
    ("values", rf"{_LEAD}(?P<who>{_ROW})\((?P<what>{_ALL_STATED})\)"),
    # Electronics' return rate is 14.2 %; the return rate of Electronics is 14.2 %; revenue was 12 in March 2025
    ("values", rf"(?P<who>{_ROW})oM(?:b|bw|w|:)?V{_AGAINST}"),
    ("values", rf"{_LEAD}M(?:p(?P<who>{_ROW}))?(?:b|bw|w|:|hw?)V{_TAIL}{_AGAINST}"),
    # there are 12 orders in Europe; 12 orders came from Europe; 12 is the number of orders
    ("values", rf"{_LEAD}ebV(?P<noun>M|K)?{_TAIL}"),
    ("values", rf"{_LEAD}V(?P<noun>M|K)?(?:bp?|p)(?P<who>{_ROW})"),
    ("values", rf"{_LEAD}VbM{_TAIL}"),
    # Electronics has the highest return rate, at 14.2 %, against 8.9 % overall
    ("extreme", rf"{_LEAD}(?P<who>{_ROWS})(?:h|b)S(?:M|K)?(?:{_BESIDE})?{_TAIL}{_AGAINST}{_FOLLOWED}"),
    ("extreme", rf"{_LEAD}(?P<who>{_ROWS})L(?:(?:p|y)M)?(?:{_BESIDE})?{_TAIL}{_AGAINST}{_FOLLOWED}"),
    # ... and Apparel the lowest, 8.9 %
    ("extreme", rf"(?P<who>{_ROWS})S(?:M)?(?:{_BESIDE})?"),
    # the highest return rate is for Electronics, at 14.2 %; the highest return rate is 14.2 %, for Electronics
    ("extreme", rf"{_LEAD}SM(?:K)?b(?:p|w)?(?P<who>{_ROWS})(?:{_BESIDE})?{_AGAINST}"),
    ("extreme", rf"{_LEAD}SM(?:b|p)(?P<outer>V),?(?:p|w|b)(?P<who>{_ROWS})"),
    # the category with the highest return rate is Electronics, at 14.2 %
    ("extreme", rf"{_LEAD}K(?:w|h)S(?:M)b(?P<who>{_ROWS})(?:{_BESIDE})?{_AGAINST}{_FOLLOWED}"),
    # Europe has more orders (12) than Asia (9); Europe (12) is ahead of Asia (9)
    (
        "compared",
        rf"{_LEAD}(?P<who>{_ROW})(?:\((?P<inner>V)\))?(?:hCM|bC|bCpM)(?:\((?P<outer>V)\)|w(?P<third>V))?"
        rf"t(?P<other>{_ROW})(?:\((?P<last>V)\)|w(?P<end>V))?",
    ),
    (
        "compared",
        rf"{_LEAD}(?P<who>{_ROW})(?:\((?P<inner>V)\))?b?A(?P<other>{_ROW})(?:\((?P<last>V)\))?",
    ),
    # revenue rose from 10 in January 2025 to 12 in March 2025, with its peak in February 2025 (14)
    ("moved", rf"{_LEAD}M(?:p(?P<who>{_ROW}))?{_SPAN}"),
    ("moved", rf"{_LEAD}(?P<who>{_ROW})(?:oM)?{_SPAN}"),
    ("moved", rf"(?P<who>{_ROW})R(?:p|y)?(?P<by>V)"),
    # the top 3 products by revenue are A (5), B (4) and C (3); the regions are North and South
    (
        "listed",
        rf"{_LEAD}(?P<top>YV)?K(?:(?:y|p)M)?{_TAIL}b:?(?P<followed>{_VALUED}(?:{_SEP}{_VALUED})*)",
    ),
)
_COMPILED = tuple((name, re.compile(pattern)) for name, pattern in FORMS)
_SEPARATED = re.compile(r",a|,|a")
MOST_LETTERS = 80


@dataclass(frozen=True, slots=True)
class Clause:
    form: str
    tokens: tuple[Token, ...]
    found: re.Match[str]

    def part(self, name: str) -> tuple[Token, ...]:
        groups = self.found.re.groupindex
        if name not in groups or self.found[name] is None:
            return ()
        return self.tokens[self.found.start(name) : self.found.end(name)]


def clauses_of(tokens: Sequence[Token]) -> list[Clause] | None:
    """The clauses of one sentence; None when it has none of the known forms."""
    spoken = tuple(token for token in tokens if token.letter != SILENT)
    # The comma after "In March 2025", which changes nothing.
    spoken = (
        spoken[1:]
        if tokens and tokens[0].letter == SILENT and spoken[:1] and spoken[0].letter == ","
        else spoken
    )
    if not spoken or len(spoken) > MOST_LETTERS:
        return None
    made: list[Clause] = []
    for part in _parts(spoken):
        clauses = _split(part)
        if clauses is None:
            return None
        made += clauses
    return made


def _parts(tokens: tuple[Token, ...]) -> list[tuple[Token, ...]]:
    """Between semicolons and "while", without the comma that may stand before it."""
    parts: list[list[Token]] = [[]]
    for token in tokens:
        if token.letter == ";":
            if parts[-1] and parts[-1][-1].letter == ",":
                parts[-1].pop()
            parts.append([])
        else:
            parts[-1].append(token)
    return [tuple(part) for part in parts]


def _split(tokens: tuple[Token, ...]) -> list[Clause] | None:
    letters = "".join(token.letter for token in tokens)
    whole = _clause(tokens, letters)
    if whole is not None:
        return [whole]
    for separator in reversed(list(_SEPARATED.finditer(letters))):
        first = _clause(tokens[: separator.start()], letters[: separator.start()])
        if first is not None:
            rest = _split(tokens[separator.end() :])
            # The longest first clause decides: another way to read it is not looked for.
            return [first, *rest] if rest else None
    return None


def _clause(tokens: tuple[Token, ...], letters: str) -> Clause | None:
    for form, pattern in _COMPILED:
        found = pattern.fullmatch(letters)
        if found is not None:
            return Clause(form, tokens, found)
    return None
