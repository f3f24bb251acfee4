"""Questions with known plans over small tables (WikiSQL's form): reading them, and running their plans.

A folder holds `questions.jsonl.gz` (`table, split, question, agg, column, filters`) and `tables.jsonl.gz`
(`id, header, rows`, every cell a text). Each table becomes a dataset and a profile, as ingestion would
make them: a column is a number column when every cell that is not empty is a plain number.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandtable.catalog.model import Column, ColumnType, Dataset, Table
from sandtable.catalog.profile import Cell, ColumnProfile, Profile, TableProfile, ValueCount

TABLE = "data"
PLAIN_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d{1,9})?")
Answer = frozenset[str]


@dataclass(frozen=True, slots=True)
class Question:
    table: str
    text: str
    plan: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Sheet:
    """One table of the collection, with typed cells."""

    id: str
    header: tuple[str, ...]
    numeric: tuple[bool, ...]
    rows: tuple[tuple[Cell, ...], ...]


def read_sheets(folder: Path) -> dict[str, Sheet]:
    return {raw["id"]: typed_sheet(raw["id"], raw["header"], raw["rows"]) for raw in _lines(folder, "tables")}


def read_questions(folder: Path, split: str, sheets: dict[str, Sheet]) -> list[Question]:
    """In the file's order."""
    found: list[Question] = []
    raw_headers = {raw["id"]: raw["header"] for raw in _lines(folder, "tables")}
    for raw in _lines(folder, "questions"):
        if raw["split"] == split:
            sheet = sheets[raw["table"]]
            found.append(
                Question(raw["table"], raw["question"], _plan(raw, raw_headers[raw["table"]], sheet))
            )
    return found


def _lines(folder: Path, name: str) -> Iterator[dict[str, Any]]:
    with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def typed_sheet(id_: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> Sheet:
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(header)
    numeric = tuple(
        any(cell.strip() for cell in cells)
        and all(not cell.strip() or PLAIN_NUMBER.fullmatch(cell.strip()) for cell in cells)
        for cells in columns
    )
    typed = [[_typed(cell, number) for cell in cells] for cells, number in zip(columns, numeric, strict=True)]
    return Sheet(id_, _unique_names(header), numeric, tuple(zip(*typed, strict=True)))


def _typed(cell: str, number: bool) -> Cell:
    text = cell.strip()
    if not text:
        return None
    if not number:
        return text
    return float(text) if "." in text else int(text)


def _unique_names(header: Sequence[str]) -> tuple[str, ...]:
    """Column names as a CSV must have them: none blank, none twice."""
    names: list[str] = []
    for place, raw in enumerate(header, 1):
        name = raw.strip()[:200].strip() or f"column {place}"
        while name.lower() in {other.lower() for other in names}:
            name += f" {place}"
        names.append(name)
    return tuple(names)


def _plan(raw: dict[str, Any], header: Sequence[str], sheet: Sheet) -> dict[str, Any]:
    """The gold plan; a value stays the text that the question's writer gave."""
    column = sheet.header[header.index(raw["column"])]
    item = {"agg": raw["agg"], "column": column} if raw["agg"] else {"column": column}
    filters = [
        {"column": sheet.header[header.index(f["column"])], "op": f["op"], "value": f["value"]}
        for f in raw["filters"]
    ]
    return {"dataset_id": "wikisql", "table": TABLE, "select": [item], "filters": filters}


def catalog_of(sheet: Sheet) -> tuple[Dataset, Profile]:
    digest = hashlib.sha256(sheet.id.encode()).hexdigest()
    types = [
        _number_type([row[place] for row in sheet.rows]) if number else ("VARCHAR", ColumnType.TEXT)
        for place, number in enumerate(sheet.numeric)
    ]
    columns = tuple(
        Column(name=name, type=type_, sql_type=sql_type)
        for name, (sql_type, type_) in zip(sheet.header, types, strict=True)
    )
    table = Table(name=TABLE, file="data.csv", sha256=digest, rows=len(sheet.rows), columns=columns)
    dataset = Dataset(id="wikisql", tables=(table,), version=f"sha256:{digest}")
    profiles = tuple(_profiled(sheet, place) for place in range(len(sheet.header)))
    tables = (TableProfile(name=TABLE, rows=len(sheet.rows), columns=profiles),)
    return dataset, Profile(version=dataset.version, tables=tables)


def _number_type(cells: list[Cell]) -> tuple[str, ColumnType]:
    whole = all(cell is None or isinstance(cell, int) for cell in cells)
    return ("BIGINT", ColumnType.INTEGER) if whole else ("DOUBLE", ColumnType.FLOAT)


def _profiled(sheet: Sheet, place: int) -> ColumnProfile:
    cells = [row[place] for row in sheet.rows if row[place] is not None]
    counted = sorted(Counter(cells).items(), key=lambda pair: (-pair[1], str(pair[0])))
    ordered: list[Any] = sorted({cell for cell, _ in counted})  # pyright: ignore[reportArgumentType] — one type per column
    return ColumnProfile(
        name=sheet.header[place],
        nulls=len(sheet.rows) - len(cells),
        distinct=len(counted),
        minimum=ordered[0] if ordered else None,
        maximum=ordered[-1] if ordered else None,
        values=tuple(ValueCount(value=cell, count=count) for cell, count in counted),
        complete=True,
    )


def squeezed(cell: object) -> str:
    """What two cells must share to count as the same answer: numbers by value, text by its letters."""
    number = _number(cell)
    if number is not None:
        return f"{number:.10g}"
    return re.sub(r"[\s\"'`’]+", "", str(cell).casefold()).replace("–", "-").replace("—", "-")


def _number(cell: object) -> float | None:
    if isinstance(cell, int | float):
        return float(cell)
    try:
        value = float(str(cell).replace(",", "").replace(" ", "").strip("$£€%"))
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def run_plan(plan: dict[str, Any], sheet: Sheet) -> Answer:
    """The answer of a lookup plan as a set of squeezed cells."""
    places = {name: place for place, name in enumerate(sheet.header)}
    rows = [
        row for row in sheet.rows if all(_holds(row[places[f["column"]]], f) for f in plan.get("filters", ()))
    ]
    (item,) = plan["select"]
    if item.get("agg") == "count" and "column" not in item:
        return frozenset({squeezed(len(rows))})
    cells = [row[places[item["column"]]] for row in rows if row[places[item["column"]]] is not None]
    if "agg" not in item:
        return frozenset(squeezed(cell) for cell in cells)
    return frozenset(squeezed(cell) for cell in [_aggregated(item["agg"], cells)] if cell is not None)


def _holds(cell: Cell, condition: dict[str, Any]) -> bool:
    if cell is None:
        return False
    op, value = condition["op"], condition["value"]
    if op == "=":
        return squeezed(cell) == squeezed(value)
    left, right = _number(cell), _number(value)
    if left is None or right is None:
        return False
    return {">": left > right, "<": left < right, ">=": left >= right, "<=": left <= right}[op]


def _aggregated(agg: str, cells: list[Cell]) -> Cell:
    if agg == "count":
        return len(cells)
    numbers = [number for cell in cells if (number := _number(cell)) is not None]
    if len(numbers) < len(cells) or not numbers:
        return (max if agg == "max" else min)(str(cell) for cell in cells) if cells else None
    match agg:
        case "max":
            return max(numbers)
        case "min":
            return min(numbers)
        case "sum":
            return math.fsum(numbers)
        case _:
            return math.fsum(numbers) / len(numbers)
