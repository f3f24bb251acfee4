"""Whether something has happened to a row: `not yet resolved`, `undelivered`, `never used a coupon`, `have cancelled`.

An empty moment has not happened yet; any other empty column has no value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from sandtable.planner.candidates.constructions.construction import (
    Construction,
    Doubt,
    columns_in,
    count_of,
    home_of,
    rows_of,
    said_otherwise,
    with_filter,
)
from sandtable.planner.language.reading import Reading
from sandtable.planner.schema.columns import has_nulls, is_unique
from sandtable.planner.schema.durations import event_of
from sandtable.planner.schema.entries import Json
from sandtable.planner.schema.index import SchemaIndex

_BE = r"(?:(?:that|which|who|and) )?(?:(?:is|are|was|were|has|have|had|do|does|did|be|been) )?"
_NOT = r"(?:not|never|isn't|aren't|wasn't|weren't|hasn't|haven't|hadn't|didn't|don't|doesn't)"
_NOT_DONE = re.compile(
    rf"{_BE}(?:still )?{_NOT} (?:(?:yet|ever|been|being|be|got|gotten) )*(?P<done>\w+)(?: yet)?"
)
_UNDONE = re.compile(rf"(?:{_BE}(?:(?:still|yet|currently) )+)?un(?P<done>\w+ed)(?= |$)")
_DONE = re.compile(
    r"(?:(?:that|which|who) )?(?:has|have|had|was|were|is|are)(?: already)?(?: been)? (?P<done>\w+ed)(?= |$)"
)
_GAVE = (
    "used?|using|redeem(?:ed)?|enter(?:ed)?|leave|left|give|gave|given|get|got|have|had|received?|pay|paid"
)
_NEVER_GAVE = re.compile(
    rf"(?:(?:that|which|who) )?(?:(?:have|has|had|do|does|did) )?(?:{_NOT} (?:ever )?(?:{_GAVE}) (?:a|an|any|the)"
    rf"|(?:{_GAVE}) no) (?P<what>[^?,.;]+?)(?= (?:in|by|per|during|since|for|on|last|this) |$| [?,.;])"
)
_SHARE = re.compile(
    r"(?:what|which) (?:is the )?(?:share|percentage|percent|proportion|fraction) of (?:all |the |our )?"
    r"(?P<rows>[^?,]+?) (?P<be>is|are|was|were|has|have|had|did|do|does|never|ordered|bought|came|booked) (?P<rest>.+)"
)
_BEHIND = frozenset("since for within in during after before until on by last this".split())
_THERE = ("", "are there")


def undone(reading: Reading, index: SchemaIndex) -> Iterator[Construction | Doubt]:
    """`not yet resolved`, `unresolved`: the moment is empty.

    A status of that name is narrower: closed rows were resolved, too.
    """
    for pattern in (_NOT_DONE, _UNDONE):
        for start, end, match in reading.find(pattern):
            word = match["done"]
            if pattern is _UNDONE and index.find_value(f"un{word}"):
                continue
            yield from _moments(reading, index, start, end, word, "is_null")


def done(reading: Reading, index: SchemaIndex) -> Iterator[Construction | Doubt]:
    """`have cancelled`: the moment is given, where no value and no flag says so."""
    for start, end, match in reading.find(_DONE):
        if not index.find_value(match["done"]):
            yield from _moments(reading, index, start, end, match["done"], "not_null")


def _moments(
    reading: Reading, index: SchemaIndex, start: int, end: int, word: str, op: str
) -> Iterator[Construction]:
    known = {t.name: c.name for t in index.tables if (c := event_of(word, t)) is not None}

    behind = reading.lower(end) in _BEHIND

    def build(plans: Sequence[Json]) -> Json | None:
        plan, column = plans[0], known.get(str(plans[0]["table"]))
        timed = "time" in plan or any("bucket" in item for item in plan["select"])
        if column is None or (timed and (behind or op == "not_null")):
            # `cancelled in March`: ambiguous; the time may be that of the row or of the event.
            return None
        return with_filter(plan, {"column": column, "op": op})

    if known:
        yield from _without(reading, start, end, build)


def not_given(reading: Reading, index: SchemaIndex) -> Iterator[Construction | Doubt]:
    """`never used a coupon`: the column is empty; of customers, in every one of their rows."""
    for start, end, match in reading.find(_NEVER_GAVE):
        columns = [c for c in columns_in(match["what"], index) if has_nulls(c)][:3]

        def build(plans: Sequence[Json], columns: Sequence[object] = columns) -> Json | None:
            plan, home = plans[0], home_of(plans[0], index)
            named = next((c for c in home.columns if c in columns), None) if home else None
            if home is None or named is None:
                return None
            counted = count_of(plan)
            owner = home.column(str(counted.get("column", ""))) if counted else None
            if (
                counted is not None
                and counted["agg"] == "count_distinct"
                and owner
                and not is_unique(owner, home)
            ):
                held = {"agg": "count", "column": named.name, "within": [owner.name], **rows_of(plan)}
                return with_filter(plan, {"of": held, "op": "=", "value": 0})
            return with_filter(plan, {"column": named.name, "op": "is_null"})

        if columns:
            yield from _without(reading, start, end, build)


def _without(
    reading: Reading, start: int, end: int, build: Callable[[Sequence[Json]], Json | None]
) -> Iterator[Construction]:
    for text in _THERE:
        yield Construction((said_otherwise(reading, start, end, text),), build)


def share_of_rows(reading: Reading, index: SchemaIndex) -> Iterator[Construction | Doubt]:
    """`what share of the tickets is …`: those that are, of all."""
    found = reading.find(_SHARE)
    if not found:
        return
    start, end, match = found[0]
    rest = reading.text[reading.words[end - 1].end :]
    tail = re.search(r"( ,)? (?:by|per|for each) .+$", match["rest"])
    groups = tail.group() if tail else ""
    whole = f"how many {match['rows']} are there{groups}"
    those = f"how many {match['rows']} {match['be']} {match['rest']}{rest}"

    def build(plans: Sequence[Json]) -> Json | None:
        part, total = plans
        counted = count_of(part), count_of(total)
        if None in counted or part["table"] != total["table"]:
            return None
        if any(part.get(key) != total.get(key) for key in ("group_by", "time")):
            return None
        more = [f for f in part.get("filters", ()) if f not in total.get("filters", ())]
        whole = {key: value for key, value in (counted[1] or {}).items() if key in {"agg", "column"}}
        if not more or any(
            (item or {}).get(key) != whole.get(key) for item in counted for key in ("agg", "column")
        ):
            return None
        share = {"op": "/", "left": {**whole, "where": more}, "right": whole, "as": "share"}
        keys = [item for item in total["select"] if item is not counted[1]]
        plan = {**total, "select": [*keys, share]}
        plan.pop("order_by", None)
        return {**plan, "order_by": [{"expr": "share", "dir": "desc"}]} if keys else plan

    if start <= 1:
        yield Construction((those, whole), build)
