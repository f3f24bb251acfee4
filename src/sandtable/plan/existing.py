"""`exists`: whether another table has rows for a row, and which relationship says that they belong to it.

Invariant: a row counts once, however many rows of the other table belong to it; an empty key belongs to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sandtable.catalog.model import ColumnType, Table
from sandtable.plan.conditions import Conditions, every
from sandtable.plan.filters import RelatedRows
from sandtable.plan.findings import Findings
from sandtable.plan.problems import did_you_mean, listed
from sandtable.plan.resolved import (
    Aggregate,
    ColumnRef,
    Compare,
    Condition,
    IsNull,
    Matched,
    Output,
    ResolvedPlan,
    Value,
)
from sandtable.plan.scope import Scope, Unresolved
from sandtable.plan.walking import each_elements
from sandtable.quoting import quote

_KEY = "key"
"""The column that the rows of the other table are reduced to."""


def resolve_exists(
    rows: RelatedRows,
    place: str,
    row: tuple[Scope, Table],
    found: Findings,
    conditions: Callable[[Scope], Conditions],
) -> Condition | None:
    """`row` is what the condition is about: a row of that table, as the plan's scope reaches it. None after
    reporting what is wrong."""
    scope, home = row
    other = scope.dataset.table(rows.table)
    if other is None:
        names = [table.name for table in scope.dataset.tables]
        message = f"no table {quote(rows.table)} in {scope.dataset.id}{did_you_mean(rows.table, names)}"
        found.add(f"{place}.table", message, f"Tables: {listed(names)}.")
        return None
    inner = Scope(scope.dataset, other, aggregating=True, defined=scope.defined, inside_exists=True)
    ends = _ends(scope, home, inner, rows.via)
    where = conditions(inner).all_of(rows.where, f"{place}.where")
    if isinstance(ends, Unresolved):
        found.unresolved(f"{place}.{'table' if rows.via is None else 'via'}", ends)
        return None
    if each_elements(where):
        message = "elements of a list make rows of their own, which cannot be counted here"
        found.add(f"{place}.where", message, "Use `has` to look for an element.")
        return None
    near, key = ends
    return IsNull(Matched(near, _rows(inner, key, where, rows.at_least), key.type), negated=True)


def _rows(scope: Scope, key: ColumnRef, where: Condition | None, at_least: int) -> ResolvedPlan:
    count = Aggregate("count", None, ColumnType.INTEGER)
    many = Compare(count, ">=", Value(at_least, ColumnType.INTEGER)) if at_least > 1 else None
    given = IsNull(key, negated=True)
    return ResolvedPlan(
        table=scope.table.name,
        joins=tuple(scope.joins.values()),
        where=every([given, where] if where is not None else [given]),
        grouped=True,
        outputs=(Output(_KEY, key, key=True),),
        derived=(),
        having=many,
        top=None,
        order=(),
        limit=None,
        warnings=(),
    )


@dataclass(frozen=True, slots=True)
class _Way:
    """A relationship by which rows of the other table belong to a row; ends are table and column."""

    steps: tuple[int, int]
    """Many-to-one joins from the row to its end, and from the other table to its end."""
    near: tuple[str, str]
    key: tuple[str, str]

    def key_from(self, table: Table) -> str:
        """What `via` calls it."""
        return self.key[1] if self.key[0] == table.name else ".".join(self.key)


def _ends(
    scope: Scope, home: Table, inner: Scope, via: str | None
) -> tuple[ColumnRef, ColumnRef] | Unresolved:
    """The column of the row and the column of the other table that must be equal."""
    other = inner.table
    ways = list(dict.fromkeys(_ways(scope, home, other)))
    if not ways:
        return _apart(scope, home, other)
    chosen = [way for way in ways if via is None or via.lower() in _called(way, other)]
    if via is not None and not chosen:
        keys = [way.key_from(other) for way in ways]
        message = f"{quote(via)} does not lead from {other.name} to {home.name}{did_you_mean(via, keys)}"
        return Unresolved(message, f"Columns that do: {listed(dict.fromkeys(keys))}.")
    nearest = [way for way in chosen if way.steps == min(way.steps for way in chosen)]
    if len(nearest) > 1:
        keys = listed(dict.fromkeys(way.key_from(other) for way in nearest))
        return Unresolved(
            f"rows of {other.name} belong to rows of {home.name} in {len(nearest)} ways",
            f'Name the column in "via": {keys}.'
            if via is None
            else f'Name another one in "via" than {keys}.',
        )
    near, key = _reached(scope, nearest[0].near), _reached(inner, nearest[0].key)
    if isinstance(near, Unresolved):
        return near
    return key if isinstance(key, Unresolved) else (near, key)


def _ways(scope: Scope, home: Table, other: Table) -> Iterator[_Way]:
    """Both refer to the same row of a third table; one of them may be that row itself."""
    dataset = scope.dataset
    from_row = {home.name: 0} | Scope(dataset, home, aggregating=True).tables_by_distance()
    from_other = {other.name: 0} | Scope(dataset, other, aggregating=True).tables_by_distance()
    for r in dataset.relationships:
        many = scope.canonical(r.many_table, r.many_column)
        one = scope.canonical(r.one_table, r.one_column)
        if one[0] in from_row and many[0] in from_other:
            yield _Way((from_row[one[0]], from_other[many[0]] + 1), near=one, key=many)
        if one[0] == other.name and many[0] in from_row:
            yield _Way((from_row[many[0]] + 1, 0), near=many, key=one)


def _called(way: _Way, other: Table) -> set[str]:
    return {way.key_from(other).lower(), ".".join(way.key).lower()}


def _reached(scope: Scope, end: tuple[str, str]) -> ColumnRef | Unresolved:
    table = scope.dataset.table(end[0])
    column = table.column(end[1]) if table else None
    if table is None or column is None:
        raise AssertionError(f"the catalog let {'.'.join(end)} through")
    return scope.reach(table, column)


def _apart(scope: Scope, home: Table, other: Table) -> Unresolved:
    if scope.defined & {home.name, other.name}:
        hint = (
            f"Put `exists` into the filters where {home.name} is defined."
            if home.name in scope.defined
            else f"Name the table that {other.name} is made from, with its conditions in `where`."
        )
        return Unresolved(
            f"relationships do not lead into or out of defined tables, such as from {other.name} to {home.name}",
            hint,
        )
    known = [t.name for t in scope.dataset.tables if t.name != home.name and any(_ways(scope, home, t))]
    return Unresolved(
        f"no declared relationship leads from {other.name} to {home.name}",
        f"Tables with rows for {home.name}: {listed(known)}."
        if known
        else "Declare the relationship between them in the dataset.",
    )
