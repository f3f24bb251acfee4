"""Opens one file in this process, with an engine like the sandbox's; results are read back as rows of text."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sandtable_runner import engine
from sandtable_runner.intake.bad_file import BadFile
from sandtable_runner.intake.opening import open_tables
from sandtable_runner.intake.text_table import TextTable

Rows = list[tuple[str | None, ...]]


@dataclass(frozen=True, slots=True)
class Desk:
    folder: Path
    connection: engine.Connection

    @property
    def out(self) -> Path:
        return self.folder / "out"

    def tables(
        self,
        content: bytes,
        name: str = "orders.csv",
        *,
        given: Sequence[Mapping[str, Any]] | None = None,
        repairs: Collection[str] = (),
        file_mb: int = 1024,
    ) -> list[TextTable]:
        self.out.mkdir(exist_ok=True)
        source = self.folder / name
        source.write_bytes(content)
        return open_tables(self.connection, source, "", self.out, given, repairs, file_mb=file_mb)

    def table(self, content: bytes, name: str = "orders.csv", **options: Any) -> TextTable:
        (table,) = self.tables(content, name, **options)
        return table

    def rows(self, table: TextTable) -> Rows:
        return self.connection.execute(f"SELECT * FROM {table.relation}").fetchall()

    def refusal(self, content: bytes, name: str = "orders.csv", **options: Any) -> BadFile:
        with pytest.raises(BadFile) as caught:
            self.tables(content, name, **options)
        error = caught.value
        assert name in error.message
        assert error.suggestion[0].isupper()
        assert len(error.message + error.suggestion) < 1500
        return error


def ids(error: BadFile) -> list[str]:
    return [repair["id"] for repair in error.repairs]
