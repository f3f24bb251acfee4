"""WikiTableQuestions, split `tune`: answers only, compared by value as the set's own evaluator does.

`DATA` holds `questions.jsonl.gz` {id, split, question, table, answers} and `tables.jsonl.gz` {id, header, rows}. An
answer is a set of numbers, dates and texts; a result is right when one of its columns, or its one row, is that set.
A column that stands beside it, such as the measure of a superlative, does no harm; more than two do.
"""

from __future__ import annotations

import gzip
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from evals.public.measure import Measured, Planner, measure_question, sample
from evals.public.relations import Database, Relation, catalog_of
from evals.wikisql_data import typed_sheet
from sandtable.catalog.model import Dataset
from sandtable.catalog.profile import Profile
from sandtable.cli.evaluation.expected import MOST_BESIDE
from sandtable.planner.schema.index import SchemaIndex

TABLE = "data"
Value = float | date | str
_MONTHS = {
    name: number
    for number, word in enumerate(
        "january february march april may june july august september october november december".split(), 1
    )
    for name in (word, word[:3])
}
_ISO = re.compile(r"(\d{4})-(\d\d?)-(\d\d?)(?:[ t]00:00(?::00)?)?")
_DAY_FIRST = re.compile(r"(\d{1,2}) ([a-z]+)\.?,? (\d{4})")
_MONTH_FIRST = re.compile(r"([a-z]+)\.? (\d{1,2}),? (\d{4})")
_NUMBER = re.compile(r"[-+]?(?:\d[\d,]*)?\.?\d+")
_QUOTES = str.maketrans(
    {"‘": "'", "’": "'", "´": "'", "`": "'", "“": '"', "”": '"', **dict.fromkeys("‐‑‒–—−", "-")}
)


@dataclass(frozen=True, slots=True)
class Asked:
    id: str
    question: str
    answers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WtqWork:
    table: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    asked: tuple[Asked, ...]

    def table_of(self) -> tuple[Relation, Dataset, Profile]:
        sheet = typed_sheet(self.table, [" ".join(name.split()) for name in self.header], self.rows)
        types = tuple(
            _type(cells, number)
            for cells, number in zip(_columns(sheet.rows, sheet.header), sheet.numeric, strict=True)
        )
        relation = Relation(TABLE, sheet.header, types, sheet.rows)
        return relation, *catalog_of("wtq", [relation])

    def measure(self, planner: Planner) -> list[Measured]:
        relation, dataset, profile = self.table_of()
        index, database = SchemaIndex.build(dataset, profile), Database([relation])
        measured: list[Measured] = []
        for one in self.asked:

            def judge(plan: dict[str, Any], answers: tuple[str, ...] = one.answers) -> bool | None:
                rows = database.run(plan, dataset)
                return None if rows is None else is_answer(answers, rows)

            measured.append(measure_question(one.id, ("all",), one.question, index, planner, judge))
        database.close()
        return measured


def _columns(rows: Sequence[Sequence[Any]], header: Sequence[str]) -> list[tuple[Any, ...]]:
    return list(zip(*rows, strict=True)) or [()] * len(header)


def _type(cells: Iterable[Any], numeric: bool) -> str:
    if not numeric:
        return "VARCHAR"
    return "BIGINT" if all(cell is None or isinstance(cell, int) for cell in cells) else "DOUBLE"


def works(folder: Path, split: str, limit: int | None) -> list[WtqWork]:
    chosen = [raw for raw in _lines(folder / "questions.jsonl.gz") if raw["split"] == split]
    by_table: dict[str, list[Asked]] = {}
    for raw in sample(chosen, lambda raw: raw["id"], limit):
        by_table.setdefault(raw["table"], []).append(Asked(raw["id"], raw["question"], tuple(raw["answers"])))
    return [
        WtqWork(raw["id"], tuple(raw["header"]), tuple(map(tuple, raw["rows"])), tuple(by_table[raw["id"]]))
        for raw in _lines(folder / "tables.jsonl.gz")
        if raw["id"] in by_table
    ]


def is_answer(answers: Sequence[str], rows: Sequence[Sequence[Any]]) -> bool:
    wanted = _values(answers)
    if not rows:
        return False
    width = len(rows[0])
    if len(rows) == 1 and width > 1 and _same(wanted, _values(rows[0])):
        return True
    return width <= 1 + MOST_BESIDE and any(
        _same(wanted, _values(column)) for column in zip(*rows, strict=True)
    )


def _values(cells: Iterable[Any]) -> list[Value]:
    return list(dict.fromkeys(value_of(cell) for cell in cells))


def _same(wanted: list[Value], found: list[Value]) -> bool:
    return len(wanted) == len(found) and all(any(_match(a, b) for b in found) for a in wanted)


def _match(wanted: Value, found: Value) -> bool:
    if isinstance(wanted, float) and isinstance(found, float):
        return abs(wanted - found) < 1e-6
    return type(wanted) is type(found) and wanted == found


def value_of(cell: Any) -> Value:
    """A number, a day, or a text in its plainest form."""
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        return float(cell)
    text = normalised("" if cell is None else str(cell))
    if _NUMBER.fullmatch(text):
        return float(text.replace(",", ""))
    return _day(text) or text


def _day(text: str) -> date | None:
    if found := _ISO.fullmatch(text):
        year, month, day = (int(part) for part in found.groups())
    elif found := _DAY_FIRST.fullmatch(text):
        day, month, year = int(found[1]), _MONTHS.get(found[2], 0), int(found[3])
    elif found := _MONTH_FIRST.fullmatch(text):
        month, day, year = _MONTHS.get(found[1], 0), int(found[2]), int(found[3])
    else:
        return None
    try:
        return date(year, month, day)
    except ValueError:
        return None


def normalised(text: str) -> str:
    """Without accents, references such as [1], notes in brackets at the end, quotes around it, and a full stop."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", text) if unicodedata.category(c) != "Mn")
    plain = " ".join(plain.translate(_QUOTES).casefold().split())
    before = ""
    while before != plain:
        before = plain
        plain = re.sub(r"((?<!^)\[[^\]]*\]|\[\d+\]|[•♦†‡*#+])*$", "", plain).strip()
        plain = re.sub(r"(?<!^)( \([^)]*\))*$", "", plain).strip()
        plain = re.sub(r'^"([^"]*)"$', r"\1", plain).strip()
        plain = plain.removesuffix(".").strip() if not _NUMBER.fullmatch(plain) else plain
    return plain


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)
