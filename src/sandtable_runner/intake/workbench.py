"""What every way of opening a file shares: the connection, the folder for text files, and the agreed repairs."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sandtable_runner import engine
from sandtable_runner.intake.scanning import Unproven

MAX_COLUMNS = 10_000
CHUNK = 4 << 20


@dataclass(slots=True)
class Workbench:
    connection: engine.Connection
    source: str
    """The name that messages give to the file, or to the member of an archive."""
    out: Path
    repairs: Collection[str] = ()
    file_mb: int = 64 << 10
    unproven: Unproven | None = None
    """Where given, a CSV file that seems clean is not read to its end: that is left to its user."""
    _made: list[int] = field(default_factory=lambda: [0])

    def new_path(self, ending: str) -> Path:
        """A file of text. Tables end in `.parquet`, so that the names cannot collide."""
        self._made[0] += 1
        return self.out / f"text_{self._made[0]}.{ending}"

    def of(self, source: str) -> Workbench:
        """The same, for one member of an archive."""
        return Workbench(
            self.connection, source, self.out, self.repairs, self.file_mb, self.unproven, self._made
        )


def reading(kind: str, **found: Any) -> dict[str, Any]:
    """The `text` of a recipe, complete."""
    return {
        "kind": kind,
        "compression": "",
        "member": "",
        "sheet": "",
        "encoding": "utf-8",
        "delimiter": ",",
        "skipped_rows": 0,
        "header": True,
        "ragged": "refuse",
        "repairs": [],
        **found,
    }


def repair(name: str, label: str) -> dict[str, str]:
    return {"id": name, "label": label}


def counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number != 1 else f"1 {noun}"[: -1 if noun.endswith("s") else None]
