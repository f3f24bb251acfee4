"""What a proposal may name: tables, columns, metrics and values of the dataset, found under other spellings too."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from sandtable.catalog.model import Column, Dataset, Metric, Table
from sandtable.catalog.profile import Cell, Profile

Json = dict[str, Any]
_T = TypeVar("_T")

_APART = re.compile(r"[^a-z0-9]+")
_QUOTES = "`\"'[]"


def definitions(plan: Mapping[str, Any]) -> list[Json]:
    """The tables that a plan defines for itself."""
    given = plan.get("define")
    named = given if isinstance(given, list) else []
    return [each for each in named if isinstance(each, dict) and isinstance(each.get("name"), str)]


def key_of(name: str) -> str:
    """`Return Rate`, `return-rate` and `return_rate` have one key."""
    return _APART.sub("_", name.lower()).strip("_")


def renamed(given: Mapping[str, Any], names: Mapping[str, str]) -> Json:
    """With fields under their own names; a field that is there under its own name keeps its value."""
    made: Json = {}
    for field, value in given.items():
        plain = _plain_key(field)
        meant = names.get(plain, plain if plain in names.values() else field)
        if meant not in made and (meant == field or meant not in given):
            made[meant] = value
    return made


def _plain_key(field: str) -> str:
    """`groupBy`, `group-by` and `GROUP BY` are `group_by`."""
    return key_of(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", field))


@dataclass(frozen=True, slots=True)
class Known:
    dataset: Dataset
    profile: Profile | None = None
    defined: frozenset[str] = frozenset()
    """Names, in lower case, of tables that the conversation or the plan itself defines."""

    def table(self, name: object) -> Table | None:
        if not isinstance(name, str):
            return None
        bare = name.strip().strip(_QUOTES)
        found = self.dataset.table(bare)
        if found is None and bare.lower().startswith(f"{self.dataset.id.lower()}."):
            found = self.dataset.table(bare[len(self.dataset.id) + 1 :])
        return found or _only(t for t in self.dataset.tables if _same(t.name, bare, plural=True))

    def metric(self, name: object) -> Metric | None:
        if not isinstance(name, str):
            return None
        bare = name.strip().strip(_QUOTES)
        found = self.dataset.metric(bare)
        table, _, last = bare.rpartition(".")
        if found is None and self.table(table) is not None:
            found = self.dataset.metric(last)
        return found or _only(m for m in self.dataset.metrics if _same(m.name, bare))

    def columns(self, name: str) -> list[tuple[Table, Column]]:
        """Every column that the name may be; `table.column` names one of that table."""
        bare = name.strip().strip(_QUOTES)
        exact = [(t, c) for t in self.dataset.tables if (c := t.column(bare))]
        if exact:
            return exact
        place, _, last = bare.rpartition(".")
        table = self.table(place) if place else None
        if table is not None:
            own = column_in(table, last.strip(_QUOTES))
            return [(table, own)] if own is not None else []
        return [(t, c) for t in self.dataset.tables if (c := column_in(t, bare)) is not None]

    def names_column(self, name: object) -> bool:
        return isinstance(name, str) and bool(self.columns(name))

    def reachable(self, table: Table) -> list[Table]:
        """The table and those that its rows refer to: one row of each for every row of the table."""
        found, frontier = [table], [table]
        while frontier:
            names = {t.name.lower() for t in frontier}
            ones = {r.one_table.lower() for r in self.dataset.relationships if r.many_table.lower() in names}
            frontier = [t for t in self.dataset.tables if t.name.lower() in ones and t not in found]
            found += frontier
        return found

    def values(self, table: Table, column: Column) -> list[Cell]:
        """All values of a column; none where not all of them are known."""
        described = self.profile.table(table.name) if self.profile else None
        found = described.column(column.name) if described else None
        if found is None or not found.complete:
            return []
        return [counted.value for counted in found.values if counted.value is not None]


def column_in(table: Table, name: str) -> Column | None:
    return table.column(name) or _only(c for c in table.columns if _same(c.name, name))


def _same(known: str, given: str, *, plural: bool = False) -> bool:
    one, other = key_of(known), key_of(given)
    return bool(other) and (one == other or (plural and one.removesuffix("s") == other.removesuffix("s")))


def _only(found: Iterable[_T]) -> _T | None:
    every = list(found)
    return every[0] if len(every) == 1 else None
