"""Names → columns: what `column` and `table.column` mean from a plan's table, and the joins that takes.

Invariant: rows of the plan's table are never multiplied by a many-to-one join; a join that would
multiply them is only made for plain rows, and says so. Each table is joined at most once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sandtable.catalog.model import Column, ColumnType, Dataset, Table
from sandtable.plan.problems import did_you_mean, listed
from sandtable.plan.resolved import ColumnRef, Join
from sandtable.quoting import quote

TIME_TYPES = frozenset({ColumnType.DATE, ColumnType.TIMESTAMP})


@dataclass(frozen=True, slots=True)
class Unresolved:
    message: str
    suggestion: str = ""


@dataclass(slots=True)
class Scope:
    dataset: Dataset
    table: Table
    aggregating: bool
    """Rows are combined, so a join that repeats them would give wrong numbers."""
    joins: dict[str, Join] = field(default_factory=dict[str, Join])
    defined: frozenset[str] = frozenset()
    """Tables that the plan defines: no relationship leads into or out of them."""
    inside_exists: bool = False
    """Rows are only tested for existence: see `plan.existing`."""

    def column(self, name: str, home: Table | None = None) -> ColumnRef | Unresolved:
        """`name` as seen from `home` (the plan's own table unless a metric looks it up)."""
        home = home or self.table
        own = home.column(name)
        if own:
            return self.reach(home, own)
        for table, column in self._qualified(name):
            found = table.column(column)
            if found:
                return self.reach(table, found)
        return self._unknown(name, home)

    def time_column(self, home: Table | None = None) -> ColumnRef | Unresolved:
        """The column that time means when a plan names none."""
        home = home or self.table
        own = _time_column(home)
        if own:
            return self.reach(home, own)
        near = self.tables_by_distance()
        for distance in sorted(set(near.values())):
            found = [(t, c) for t in self._tables(near, distance) if (c := _time_column(t))]
            if len(found) == 1:
                return self.reach(*found[0])
            if found:
                break
        choices = [c.name for c in home.columns if c.type in TIME_TYPES]
        hint = (
            f"Name it in `column`: {listed(choices)}." if choices else "Name a `column` of a related table."
        )
        return Unresolved(f"{home.name} has no time column of its own to use here", hint)

    def reach(self, table: Table, column: Column) -> ColumnRef | Unresolved:
        failed = self._join(table)
        if failed:
            return failed
        return ColumnRef(table.name, column.name, column.type, column.sql_type)

    def _join(self, table: Table) -> Unresolved | None:
        if table.name == self.table.name or table.name in self.joins:
            return None
        paths = self._shortest(table, fanning=False)
        if not paths:
            paths = self._shortest(table, fanning=True)
            if paths and self.aggregating:
                return self._would_fan_out(table)
        if not paths and self.defined & {table.name, self.table.name}:
            return self._apart(table)
        if not paths:
            known = listed(t.name for t in self.dataset.tables if t.name in self.tables_by_distance())
            hint = (
                f"Tables reachable from {self.table.name}: {known}."
                if known
                else f"Use columns of {self.table.name} only."
            )
            return Unresolved(f"no declared relationship leads from {self.table.name} to {table.name}", hint)
        if len(paths) > 1:
            ways = " or ".join(_spelled(path) for path in paths[:3])
            ends = listed(path[0].to_column for path in paths)
            return Unresolved(
                f"{table.name} can be reached from {self.table.name} in {len(paths)} ways ({ways})",
                f"Use a column of {self.table.name} itself: {ends}.",
            )
        for join in paths[0]:
            self.joins.setdefault(join.table, join)
        return None

    def _apart(self, table: Table) -> Unresolved:
        if self.table.name in self.defined:
            hint = f"Select what you need of {table.name} where {self.table.name} is defined."
        else:
            hint = f'Base the plan on it: "table": "{table.name}".'
        return Unresolved(
            f"relationships do not lead into or out of defined tables, such as from {self.table.name} "
            f"to {table.name}",
            hint,
        )

    def _would_fan_out(self, table: Table) -> Unresolved:
        if self.inside_exists:
            return Unresolved(
                f"{self.table.name} has many rows in {table.name} for each of its own",
                f'Look for them with {{"exists": {{"table": "{table.name}", …}}}} inside `where`, or in place of '
                f"{self.table.name}.",
            )
        return Unresolved(
            f"{self.table.name} has many rows in {table.name} for each of its own, so totals over "
            f"{self.table.name} would be counted several times",
            f'Base the plan on the detailed table: "table": "{table.name}", and refer to '
            f"`{self.table.name}.…` from there.",
        )

    def _shortest(self, goal: Table, *, fanning: bool) -> list[tuple[Join, ...]]:
        frontier: list[tuple[str, tuple[Join, ...]]] = [(self.table.name, ())]
        seen = {self.table.name}
        while frontier:
            reached = [
                (join.table, (*path, join))
                for name, path in frontier
                for join in self._edges(name, fanning)
                if join.table not in seen
            ]
            found = [path for name, path in reached if name == goal.name]
            if found:
                return found
            seen.update(name for name, _ in reached)
            frontier = reached
        return []

    def _edges(self, name: str, fanning: bool) -> Iterator[Join]:
        for r in self.dataset.relationships:
            many, one = (
                self.canonical(r.many_table, r.many_column),
                self.canonical(r.one_table, r.one_column),
            )
            if many[0] == name:
                yield Join(*one, *many, fans_out=False)
            if fanning and one[0] == name:
                yield Join(*many, *one, fans_out=True)

    def canonical(self, table_name: str, column_name: str) -> tuple[str, str]:
        table = self.dataset.table(table_name)
        column = table.column(column_name) if table else None
        if table is None or column is None:
            raise AssertionError(f"the catalog let {table_name}.{column_name} through")
        return table.name, column.name

    def tables_by_distance(self) -> dict[str, int]:
        near, frontier, distance = {self.table.name: 0}, [self.table.name], 0
        while frontier:
            distance += 1
            frontier = [j.table for name in frontier for j in self._edges(name, False) if j.table not in near]
            near.update(dict.fromkeys(frontier, distance))
        del near[self.table.name]
        return near

    def _tables(self, near: dict[str, int], distance: int) -> list[Table]:
        return [t for t in self.dataset.tables if near.get(t.name) == distance]

    def _qualified(self, name: str) -> Iterator[tuple[Table, str]]:
        for index, char in enumerate(name):
            table = self.dataset.table(name[:index]) if char == "." else None
            if table:
                yield table, name[index + 1 :]

    def _unknown(self, name: str, home: Table) -> Unresolved:
        qualified = next(self._qualified(name), None)
        if qualified:
            table, column = qualified
            hint = did_you_mean(column, [c.name for c in table.columns])
            return Unresolved(
                f"no column {quote(column)} in {table.name}{hint}",
                f"Columns: {listed(c.name for c in table.columns)}.",
            )
        elsewhere = [
            f"{t.name}.{c.name}" for t in self.dataset.tables if (c := t.column(name)) and t is not home
        ]
        columns = [c.name for c in home.columns]
        near = did_you_mean(name, [*columns, *self._related_columns(home)])
        if elsewhere and not near.endswith(f"{quote(name)}?"):
            near = f"; did you mean {quote(elsewhere[0])}?"
        return Unresolved(f"no column {quote(name)} in {home.name}{near}", f"Columns: {listed(columns)}.")

    def _related_columns(self, home: Table) -> list[str]:
        near = self.tables_by_distance()
        return [
            f"{t.name}.{c.name}"
            for t in self.dataset.tables
            if t.name in near
            for c in t.columns
            if t is not home
        ]


def _time_column(table: Table) -> Column | None:
    if table.time_column:
        return table.column(table.time_column)
    candidates = [c for c in table.columns if c.type in TIME_TYPES]
    return candidates[0] if len(candidates) == 1 else None


def _spelled(path: tuple[Join, ...]) -> str:
    return ", then ".join(f"{j.to_table}.{j.to_column} = {j.table}.{j.column}" for j in path)
