"""How long something took, in a table: a column of minutes, or the time between two moments."""

from __future__ import annotations

from sandtable.catalog.model import ColumnType
from sandtable.catalog.units import conversion, split_unit
from sandtable.planner.language.words import stem
from sandtable.planner.schema.columns import has_nulls
from sandtable.planner.schema.entries import ColumnEntry, Json, TableEntry

_SINGULAR = {"seconds": "second", "minutes": "minute", "hours": "hour", "days": "day", "weeks": "week"}
_LEAST_KIN = 4
_ENDINGS = frozenset(" v d s y al er ery ion ing ment ution ation sion tion ance ence".split(" "))
"""What words of one root may end in: the v of resolve, the ution of resolution."""


def unit_in(column: ColumnEntry) -> str:
    """The unit of a column's numbers: declared, else at the end of its name."""
    return column.unit or split_unit(column.name)[1]


def is_kin(one: str, other: str) -> bool:
    """Whether two words come from one: resolve and resolution, deliver and delivery."""
    one, other = stem(one), stem(other)
    shared = 0
    while shared < min(len(one), len(other)) and one[shared] == other[shared]:
        shared += 1
    endings = {one[shared:], other[shared:]}
    return one == other or (shared >= _LEAST_KIN and endings <= _ENDINGS)


def event_of(word: str, table: TableEntry) -> ColumnEntry | None:
    """The moment of what the word says, empty while it has not happened: `resolved_at` for resolved."""
    found = [
        c
        for c in table.columns
        if c.temporal
        and has_nulls(c)
        and c.name != table.time_column
        and stem(word) in c.stems
        and len(word) > 3
    ]
    return found[0] if len(found) == 1 else None


def minutes_of(word: str, table: TableEntry) -> ColumnEntry | None:
    """The column of elapsed time that the word refers to: `resolution_minutes` for resolve."""
    found = [
        c
        for c in table.columns
        if c.numeric and conversion(unit_in(c), "seconds") and any(is_kin(word, w) for w in c.words)
    ]
    return found[0] if len(found) == 1 else None


def elapsed_until(word: str, table: TableEntry) -> Json | None:
    """The time from the row's beginning to the moment that the word refers to, in days or hours."""
    ends = [c for c in table.columns if c.temporal and has_nulls(c) and any(is_kin(word, w) for w in c.words)]
    if len(ends) != 1:
        return None
    starts = [c for c in table.columns if c.temporal and not has_nulls(c) and c is not ends[0]]
    if len(starts) != 1:
        # Ordered or shipped: the start of the time is ambiguous.
        return None
    unit = "hour" if ends[0].type is ColumnType.TIMESTAMP else "day"
    return {"elapsed": unit, "from": starts[0].name, "to": ends[0].name}


def period_named(unit: str) -> str | None:
    """The unit of the plan language for elapsed time."""
    found = conversion(unit, "seconds")
    return next((_SINGULAR[u] for u in _SINGULAR if found and _same(unit, u)), None)


def _same(unit: str, other: str) -> bool:
    found = conversion(unit, other)
    return found is not None and found.factor == 1
