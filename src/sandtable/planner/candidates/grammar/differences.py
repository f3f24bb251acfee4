"""Differences between two values or columns: `how many more …`, `the difference in … between A and B`;
and rows compared with the average of all."""

from __future__ import annotations

import re

from sandtable.planner.candidates.grammar.draft import Condition, Draft, Measure
from sandtable.planner.language.vocabulary import IMPLIED
from sandtable.planner.schema.columns import is_measure, speaking_of
from sandtable.planner.schema.entries import ColumnEntry, Json

_HOW_MUCH_MORE = re.compile(
    r"(?:by )?how (?:many|much) (?:more|fewer|less|higher|lower|longer|older|taller|larger|bigger|greater|cheaper|"
    r"richer|wealthier|poorer|heavier|lighter|younger|shorter)(?= )"
    r"|(?:what (?:is|was) )?the difference (?:in|of)(?: the)?(?= )|(?:what (?:is|was) )?the difference between(?= )"
)
_LESS = frozenset("fewer less lower cheaper poorer lighter younger shorter".split())
_AVERAGE = re.compile(
    r"(?P<side>above|over|below|under"
    r"|(?:higher|greater|more|larger|older|longer|less|lower|smaller|younger|shorter) than)"
    r" (?:the )?(?:average|mean|avg)(?: of)?(?: the)?(?= |$)"
)
_BELOW = frozenset("below under less lower smaller younger shorter".split())
_MORE = re.compile(r"(?:by )?how (?:many|much) (?P<way>more|fewer|less)(?= )")


def find_difference(draft: Draft) -> None:
    """A number of one value minus that of the other, in the order in which they were said."""
    hits = [(s, e) for s, e, _ in draft.reading.find(_HOW_MUCH_MORE) if draft.reading.free(s, e)]
    pair = next((c for c in draft.conditions if c.json.get("op") == "in" and len(c.json["value"]) == 2), None)
    spot = next((s for s in draft.spots if s.open and s.column is not None and is_measure(s.column)), None)
    if not hits or pair is None:
        return
    start, end = hits[0]
    column = spot.column if spot is not None else _spoken_of(draft, end)
    if column is None and "how many" not in draft.reading.line[: draft.reading.offsets[end - 1]]:
        return
    draft.reading.claim(start, end, "measure")
    if spot is not None:
        spot.role = "measured"
    draft.conditions.remove(pair)
    draft.comparing = True
    first, second = pair.json["value"]
    if draft.reading.words[end - 1].lower in _LESS:
        first, second = second, first
    sides = [_side(draft.ref(column) if column else "", pair, value) for value in (first, second)]
    item: Json = {"op": "-", "left": sides[0], "right": sides[1], "as": "difference"}
    draft.measures.append(Measure(item, start, column))


def _side(ref: str, pair: Condition, value: object) -> Json:
    """The number of one of the two, or how many rows it has."""
    where = [{"column": pair.json["column"], "op": "=", "value": value}]
    return {"agg": "sum", "column": ref, "where": where} if ref else {"agg": "count", "where": where}


def _spoken_of(draft: Draft, end: int) -> ColumnEntry | None:
    """`how much richer`: the comparative determines the column."""
    word = draft.reading.lower(end - 1)
    column = speaking_of(IMPLIED[word][0], draft.home) if word in IMPLIED else None
    return column if column is not None and column.numeric else None


def find_above_average(draft: Draft) -> None:
    """`above the average age`: a z-score above zero; only of all rows, and only where rows are listed."""
    for start, end, match in draft.reading.find(_AVERAGE):
        if not draft.reading.free(start, end):
            continue
        after, before = (
            draft.after(end, frozenset(), 0),
            draft.before(start, frozenset({"is", "are", "was", "an", "a"}), 2),
        )
        spot = next((s for s in (after, before) if s is not None and s.open and s.number is not None), None)
        if spot is None or spot.number is None:
            continue
        draft.reading.claim(start, end, "condition")
        spot.role = "filter"
        op = "<" if match.group("side").split()[0] in _BELOW else ">"
        draft.derive.append({"zscore": draft.ref(spot.number), "as": "against_average"})
        draft.derived_having.append({"column": "against_average", "op": op, "value": 0})
        draft.against = spot.number
        return


def find_column_difference(draft: Draft) -> None:
    """The difference of the sums of both columns over the rows in question."""
    for start, end, match in draft.reading.find(_MORE):
        than = next((at for at in range(end, len(draft.reading)) if draft.reading.lower(at) == "than"), None)
        spots = [s for s in draft.spots if s.open and s.start >= end and s.number and is_measure(s.number)]
        if than is None or len(spots) != 2 or not spots[0].start < than <= spots[1].start:
            continue
        left, right = (s.number for s in spots)
        if left is None or right is None or left is right or not draft.reading.free(start, end):
            continue
        for spot in draft.spots:
            if spot in spots or (spot.table is not None and end <= spot.start <= spots[1].end):
                spot.role = "measured"
        draft.reading.claim(start, end, "measure")
        draft.reading.claim(than, than + 1, "measure")
        if match.group("way") != "more":
            left, right = right, left
        sides: list[Json] = [{"agg": "sum", "column": draft.ref(c)} for c in (left, right)]
        item: Json = {"op": "-", "left": sides[0], "right": sides[1], "as": "difference"}
        draft.measures.append(Measure(item, start, left))
        return
