"""The sealed questions, and the data they are asked of.

A source is the id of a built-in dataset or the files of one table folder. Each source is one in-memory database
whose tables are named like the CSV files; built-in columns have the types that the registry declares.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb

from datasets.generate import generate

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
QUESTIONS = HERE / "questions.jsonl"
DIALOGUES = HERE / "dialogues.jsonl"

Source = tuple[str, ...]
"""`("ecommerce",)`, or paths of CSV files from this folder."""


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to answer: a question, a turn of a dialogue, or a part of such a turn."""

    id: str
    source: Source
    question: str
    expect: str
    gold: tuple[str, ...]
    answers: tuple[Any, ...]
    tags: tuple[str, ...]
    why: str
    ordered: bool = field(default=False)
    """Whether the order of the rows is part of the answer."""


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line]


def source_of(line: dict[str, Any]) -> Source:
    return (line["dataset"],) if "dataset" in line else tuple(line["data"])


def read_questions() -> list[Item]:
    return [_item(line["id"], source_of(line), line) for line in lines(QUESTIONS)]


def read_turns() -> list[Item]:
    """Every turn, and every part of a turn that asks several things, in order."""
    return [item for dialogue in lines(DIALOGUES) for item in _turns(dialogue)]


def _turns(dialogue: dict[str, Any]) -> Iterator[Item]:
    for number, turn in enumerate(dialogue["turns"], 1):
        name = f"{dialogue['id']}.{number}"
        if "parts" not in turn:
            yield _item(name, source_of(dialogue), turn)
        for place, part in enumerate(turn.get("parts", ()), 1):
            whole = {"tags": turn["tags"], "expect": turn["expect"], **part}
            yield _item(f"{name}.{place}", source_of(dialogue), whole)


def _item(name: str, source: Source, line: dict[str, Any]) -> Item:
    return Item(
        name,
        source,
        line["question"],
        line["expect"],
        tuple(line["gold"]),
        tuple(line["answers"]),
        tuple(line["tags"]),
        line.get("why", ""),
        line.get("ordered", False),
    )


class Data:
    """Databases of sources, opened when first used."""

    def __init__(self, made: Path, *, backwards: bool = False) -> None:
        self._made = made
        self._backwards = backwards
        self._open: dict[Source, duckdb.DuckDBPyConnection] = {}

    def rows(self, source: Source, sql: str) -> list[tuple[Any, ...]]:
        if source not in self._open:
            self._open[source] = self._load(source)
        return self._open[source].execute(sql).fetchall()

    def close(self) -> None:
        for connection in self._open.values():
            connection.close()

    def _load(self, source: Source) -> duckdb.DuckDBPyConnection:
        connection = duckdb.connect(config={"threads": 1})
        for name, reader in self._readers(source):
            connection.execute(f"CREATE TABLE {name} AS SELECT * FROM {reader}")
            if self._backwards:
                order = f"SELECT * FROM {name} ORDER BY rowid DESC"
                connection.execute(f"CREATE OR REPLACE TABLE {name} AS {order}")
        return connection

    def _readers(self, source: Source) -> Iterator[tuple[str, str]]:
        if len(source) == 1 and not source[0].endswith(".csv"):
            yield from self._built_in(source[0])
            return
        for file in source:
            yield Path(file).stem, f"read_csv('{HERE / file}', header = true, sample_size = -1)"

    def _built_in(self, name: str) -> Iterator[tuple[str, str]]:
        if not (self._made / name).is_dir():
            generate(self._made, [name])
        registry = json.loads((ROOT / "datasets" / "registry.json").read_text("utf-8"))
        dataset = next(d for d in registry["datasets"] if d["id"] == name)
        for table in dataset["tables"]:
            types = ", ".join(f"'{column['name']}': '{column['sql_type']}'" for column in table["columns"])
            path = self._made / name / table["file"]
            yield table["name"], f"read_csv('{path}', header = true, columns = {{{types}}})"


def answer_of(rows: Sequence[Sequence[Any]]) -> Any:
    """A result as an expected answer: a value, a list of values, or a list of rows."""
    plain = [[_plain(cell) for cell in row] for row in rows]
    if len(plain) == 1:
        [row] = plain
        return row[0] if len(row) == 1 else (plain if None in row else row)
    if plain and len(plain[0]) == 1 and [None] not in plain:
        return [row[0] for row in plain]
    return plain


def _plain(cell: Any) -> Any:
    """As JSON: floats to 10 digits, so that the order of adding up makes no difference."""
    if isinstance(cell, Decimal | float):
        number = float(cell) if isinstance(cell, Decimal) else float(f"{cell:.10g}")
        return int(number) if number.is_integer() else number
    if isinstance(cell, datetime | date | time):
        return cell.isoformat()
    return cell
