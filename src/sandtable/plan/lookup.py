"""Texts of a plan that are in no row of their column: what is near them, which other columns hold them, and the plans
that this makes.

A profile decides where it lists all values of a column. Where it does not, the data must be asked: `counts_of` and
`spellings_of` are plans for that, run like any other.
Invariant: pure. Every corrected plan fits the dataset.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sandtable.catalog.model import ColumnType, Dataset
from sandtable.catalog.near_values import MOST_NEAR, folded, held, near_values, texts_of
from sandtable.catalog.profile import ColumnProfile, Profile
from sandtable.plan.literals import Plan, TextLiteral, with_text
from sandtable.plan.model import QueryPlan
from sandtable.plan.reading import read_plan
from sandtable.plan.resolve import resolve_plan
from sandtable.plan.resolved import ColumnRef, ResolvedPlan

MOST_ELSEWHERE = 3
MOST_LOOKED_UP = 50
"""Texts of one plan that are counted in the data."""
_MOST_SPELLINGS = 400


@dataclass(frozen=True, slots=True)
class Elsewhere:
    table: str
    column: str
    value: str


@dataclass(frozen=True, slots=True)
class MissingValue:
    """A text that is in no row of its column."""

    literal: TextLiteral
    nearest: tuple[str, ...] = ()
    elsewhere: tuple[Elsewhere, ...] = ()


@dataclass(frozen=True, slots=True)
class Change:
    """What a correction does about one missing text."""

    missing: MissingValue
    value: str
    """What stands in the plan now."""
    column: Elsewhere | None = None
    """Where the condition was moved to; None when only the value changed."""


@dataclass(frozen=True, slots=True)
class Correction:
    plan: Plan
    changes: tuple[Change, ...]


def column_profile(profile: Profile, column: ColumnRef) -> ColumnProfile | None:
    table = profile.table(column.table)
    return table.column(column.column) if table else None


def undecided(literals: Sequence[TextLiteral], profile: Profile) -> tuple[TextLiteral, ...]:
    """Those of which the profile cannot say whether a row holds them, each once."""
    kept = {
        (literal.column, literal.value): literal
        for literal in literals
        if held(column_profile(profile, literal.column), literal.value) is None
    }
    return tuple(kept.values())[:MOST_LOOKED_UP]


def counts_of(literals: Sequence[TextLiteral], dataset_id: str) -> list[tuple[Plan, tuple[TextLiteral, ...]]]:
    """For each table the plan that counts the rows with each of the texts, in the order of its columns."""
    by_table: dict[str, list[TextLiteral]] = {}
    for literal in literals:
        by_table.setdefault(literal.column.table, []).append(literal)
    return [(_counts(dataset_id, table, ours), tuple(ours)) for table, ours in by_table.items()]


def _counts(dataset_id: str, table: str, literals: Sequence[TextLiteral]) -> Plan:
    counts = [
        {
            "agg": "count",
            "where": [{"column": literal.column.column, "op": "=", "value": literal.value}],
            "as": f"rows_{number}",
        }
        for number, literal in enumerate(literals, start=1)
    ]
    return {"dataset_id": dataset_id, "table": table, "select": counts}


def spellings_of(literal: TextLiteral, dataset_id: str) -> Plan:
    """Values of the column that have a beginning, an end or a word in common with the text."""
    text, name = literal.value.strip(), literal.column.column
    longest = max(text.split(), key=len)
    parts = (("startswith", text[:2]), ("endswith", text[-3:]), ("contains", longest))
    return {
        "dataset_id": dataset_id,
        "table": literal.column.table,
        "select": [{"column": name}, {"agg": "count", "as": "rows_with_it"}],
        "filters": [{"any": [{"column": name, "op": op, "value": part} for op, part in parts]}],
        "order_by": [{"expr": "rows_with_it", "dir": "desc"}],
        "limit": _MOST_SPELLINGS,
    }


def missing_values(
    literals: Sequence[TextLiteral],
    profile: Profile,
    dataset: Dataset,
    counted: Mapping[TextLiteral, bool] | None = None,
    spellings: Mapping[TextLiteral, Sequence[str]] | None = None,
) -> tuple[MissingValue, ...]:
    """`counted` says of texts that the profile cannot decide whether a row holds them; without it they are taken as
    held. `spellings` are values of their columns beyond those that the profile lists."""
    known = {(each.column, each.value): there for each, there in (counted or {}).items()}
    more = {(each.column, each.value): values for each, values in (spellings or {}).items()}
    found: list[MissingValue] = []
    for literal in literals:
        column = column_profile(profile, literal.column)
        key = (literal.column, literal.value)
        there = held(column, literal.value)
        if there or (there is None and known.get(key, True)):
            continue
        values = [*(texts_of(column) if column else ()), *more.get(key, ())]
        near = near_values(literal.value, dict.fromkeys(values))
        found.append(MissingValue(literal, near, tuple(_elsewhere(literal, profile, dataset))))
    return tuple(found)


def _elsewhere(literal: TextLiteral, profile: Profile, dataset: Dataset) -> Iterator[Elsewhere]:
    """Other columns that hold the text, of the same table first."""
    if not literal.within or dataset.table(literal.within) is None:
        return
    wanted, own = literal.value.casefold(), literal.column
    tables = sorted(dataset.tables, key=lambda table: table.name.lower() != literal.within.lower())
    for table in tables:
        profiled = profile.table(table.name)
        for column in table.columns:
            seen = profiled.column(column.name) if profiled else None
            if seen is None or column.type is not ColumnType.TEXT:
                continue
            if (table.name, column.name) == (own.table, own.column):
                continue
            same = [value for value in texts_of(seen) if value.casefold() == wanted]
            if same:
                exact = literal.value if literal.value in same else same[0]
                yield Elsewhere(table.name, column.name, exact)


def corrections(
    plan: Mapping[str, Any], missing: Sequence[MissingValue], dataset: Dataset
) -> tuple[Correction, ...]:
    """Plans with one of the missing texts put right in each of the ways there are, and each other by its nearest."""
    found: dict[str, Correction] = {}
    for one in missing:
        others = [Change(each, each.nearest[0]) for each in missing if each is not one and each.nearest]
        for value, column in ways_of(one):
            # Last: a condition of several texts that is moved becomes two.
            changes = (*others, Change(one, value, column))
            made = dict(plan)
            for change in changes:
                literal = change.missing.literal
                made = with_text(made, literal, change.value, _reference(literal, change.column))
            if _fits(made, dataset):
                found.setdefault(repr(made), Correction(made, changes))
    return tuple(found.values())


def ways_of(missing: MissingValue) -> Iterator[tuple[str, Elsewhere | None]]:
    """What may be meant: the same text in another spelling, another column that holds it, then what is only like it."""
    same = [value for value in missing.nearest if folded(value) == folded(missing.literal.value)]
    yield from ((value, None) for value in same)
    yield from ((each.value, each) for each in missing.elsewhere[:MOST_ELSEWHERE])
    yield from ((value, None) for value in missing.nearest[:MOST_NEAR] if value not in same)


def _reference(literal: TextLiteral, column: Elsewhere | None) -> str | None:
    if column is None:
        return None
    here = column.table.lower() == literal.within.lower()
    return column.column if here else f"{column.table}.{column.column}"


def _fits(plan: Plan, dataset: Dataset) -> bool:
    parsed = read_plan(plan)
    return isinstance(parsed, QueryPlan) and isinstance(resolve_plan(parsed, dataset), ResolvedPlan)
