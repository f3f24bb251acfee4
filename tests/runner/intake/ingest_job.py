"""The whole ingest job, in this process."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sandtable_runner import engine
from sandtable_runner.intake.convert import convert
from tests.runner.intake.desk import Desk


@dataclass(frozen=True)
class Converted:
    answer: dict[str, Any]
    rows: dict[str, list[tuple[Any, ...]]]
    types: dict[str, dict[str, str]]

    def column(self, table: str, name: str) -> dict[str, Any]:
        recipe = next(each["recipe"] for each in self.answer["tables"] if each["table"] == table)
        return next(column for column in recipe["columns"] if column["name"] == name)

    @property
    def recipes(self) -> list[dict[str, Any]]:
        return [{"table": each["table"], "recipe": each["recipe"]} for each in self.answer["tables"]]


class Job:
    def __init__(self, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
        self._desk = desk
        monkeypatch.chdir(desk.folder)
        desk.out.mkdir()

    def __call__(
        self,
        content: bytes,
        answers: dict[str, str] | None = None,
        recipes: list[dict[str, Any]] | None = None,
        repairs: tuple[str, ...] = (),
        name: str = "shop.sqlite",
    ) -> Converted:
        Path(name).write_bytes(content)
        options = {
            "source": name,
            "format": "sqlite",
            "table": "shop",
            "columns": None,
            "recipes": recipes,
            "answers": answers or {},
            "repairs": list(repairs),
            "file_mb": 1024,
        }
        job = {"options": options, "limits": {"memory_mb": 1024}, "threads": 1, "out": str(self._desk.out)}
        answer = convert(self._desk.connection, job)
        rows: dict[str, list[tuple[Any, ...]]] = {}
        for table in answer["tables"]:
            if table["output"] is not None:
                path = engine.literal(str(self._desk.out / table["output"]))
                rows[table["table"]] = self._desk.connection.execute(f"SELECT * FROM {path}").fetchall()
        types = {t["table"]: {c["name"]: c["sql_type"] for c in t["columns"]} for t in answer["tables"]}
        return Converted(answer, rows, types)
