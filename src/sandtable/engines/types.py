"""The properties of an engine's types that other packages use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sandtable.catalog.model import ColumnType

DigestFamily = Literal["bool", "int", "float", "decimal", "time", "text", "any"]
"""How a cell is encoded in a result digest. Part of the capsule format: a type never changes its family."""
Axis = Literal["number", "moment", "text", "other"]
"""How a chart can place a cell."""

NUMERIC = frozenset({ColumnType.INTEGER, ColumnType.DECIMAL, ColumnType.FLOAT})
TEMPORAL = frozenset({ColumnType.DATE, ColumnType.TIMESTAMP})
_NOT_FORMULAS = NUMERIC | TEMPORAL | {ColumnType.BOOLEAN, ColumnType.TIME}


@dataclass(frozen=True, slots=True)
class TypeFacts:
    logical: ColumnType
    digest: DigestFamily = "any"
    axis: Axis = "other"
    zoned: bool = False
    """A moment or time of day with a time zone."""

    @property
    def numeric(self) -> bool:
        return self.logical in NUMERIC

    @property
    def inert(self) -> bool:
        """No value of this type is read as a formula by a spreadsheet, whatever character it begins with."""
        return self.logical in _NOT_FORMULAS
