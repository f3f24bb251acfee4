"""A database of Spider: its columns as the dataset has them, and which of them refers to which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sandtable.catalog.model import ColumnType, Dataset
from sandtable.catalog.profile import Profile
from sandtable.planner.candidates.network.sketch import Item

Place = tuple[str, str]
"""A table and a column, by their original names in lower case."""


class NoSketch(Exception):
    """With the reason."""


@dataclass(frozen=True, slots=True)
class Names:
    """A database: its columns as the dataset has them, and which column refers to which."""

    dataset: Dataset
    profile: Profile
    columns: dict[Place, str]
    links: frozenset[tuple[Place, Place]]

    def item(self, place: Place) -> Item:
        return Item("column", place[0], self.columns[place])

    def type_of(self, place: Place) -> ColumnType:
        table = self.dataset.table(place[0])
        column = table.column(self.columns[place]) if table else None
        assert column is not None
        return column.type

    def cell(self, place: Place, value: str | float) -> Any:
        table = self.profile.table(place[0])
        column = table.column(self.columns[place]) if table else None
        for each in column.values if column else ():
            if str(each.value) == str(value) or (
                isinstance(value, float) and str(each.value) == f"{value:g}"
            ):
                return each.value
        raise NoSketch("a value that is not in the profile")
