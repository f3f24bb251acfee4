"""One CSV table and how its values are spelled: LF line ends, UTF-8, empty cell for a missing value."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field
from datetime import date, datetime

Cell = str | int | bool | date | datetime | None


@dataclass(slots=True)
class CsvTable:
    name: str
    columns: tuple[str, ...]
    rows: list[tuple[Cell, ...]] = field(default_factory=list)

    @property
    def file(self) -> str:
        return f"{self.name}.csv"

    def to_bytes(self) -> bytes:
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows([_spell(cell) for cell in row] for row in self.rows)
        return text.getvalue().encode("utf-8")


def _spell(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, datetime):
        return cell.isoformat(sep=" ", timespec="seconds")
    if isinstance(cell, date):
        return cell.isoformat()
    return str(cell)


def decimal(units: int, places: int = 2) -> str:
    """The integer `units` of 10^-places as text: `decimal(-1205) == "-12.05"`."""
    sign = "-" if units < 0 else ""
    whole, fraction = divmod(abs(units), 10**places)
    return f"{sign}{whole}.{fraction:0{places}d}"
