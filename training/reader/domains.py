"""Training domains: datasets in words, each with questions and the sketch that they mean.

A file is described in `training/README.md`. `read_domain` gives the dataset as the catalog knows datasets, a profile
with the values that the columns list, and the questions.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandtable.catalog.model import Column, ColumnType, Dataset, Metric, Relationship, Table
from sandtable.catalog.profile import ColumnProfile, Profile, TableProfile, ValueCount
from sandtable.engines.duckdb.types import NAMES
from sandtable.planner.candidates.network.plans import plan_of
from sandtable.planner.candidates.network.sketch import Token
from training.reader.notation import NotationError, read_sketch
from training.reader.shipped import shipped

_ROWS = 1000
_COLUMN = re.compile(
    r"^\s+(?:\"(?P<quoted>[^\"]+)\"|(?P<name>\S.*?))\s+(?P<type>integer|double|text|boolean|date|timestamp)\b(?P<rest>.*)$"
)


class DomainError(ValueError):
    pass


@dataclass(frozen=True, slots=True)
class Asked:
    """One question in its wordings, and what it means."""

    line: int
    wordings: tuple[str, ...]
    written: str
    sketch: tuple[Token, ...]


@dataclass(frozen=True, slots=True)
class Domain:
    name: str
    dataset: Dataset
    profile: Profile
    asked: tuple[Asked, ...]
    refused: tuple[str, ...]
    """Lines whose sketch cannot be read, with the reason."""


@dataclass(slots=True)
class _Table:
    name: str
    description: str
    time: str | None
    columns: list[Column]
    values: dict[str, list[str]]


class _File:
    def __init__(self) -> None:
        self.shipped = ""
        """The dataset of the product that the questions are about; it has no tables in the file."""
        self.title = ""
        self.description = ""
        self.as_of: str | None = None
        self.tables: list[_Table] = []
        self.relations: list[tuple[str, str, str, str]] = []
        self.metrics: list[tuple[str, str, str, str]] = []
        self.synonyms: dict[tuple[str, str], str] = {}
        self.questions: list[tuple[int, list[str], str]] = []


def read_domain(path: Path) -> Domain:
    """The domain in a file; `DomainError` when its tables cannot be read."""
    found = _File()
    wordings: list[str] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            if line.startswith("?"):
                wordings.append(line[1:].strip())
            elif line.startswith("="):
                found.questions.append((number, wordings, line[1:].strip()))
                wordings = []
            elif line.strip() and not line.startswith("#"):
                _take(line, found)
        except (DomainError, ValueError) as error:
            raise DomainError(f"{path.name}:{number}: {error}") from error
    try:
        if found.shipped:
            dataset, profile = shipped(found.shipped)
        else:
            dataset = _dataset(path.stem, found)
            profile = _profile(found, dataset.version)
    except ValueError as error:
        raise DomainError(f"{path.name}: {error}") from error
    asked: list[Asked] = []
    refused: list[str] = []
    for number, said, written in found.questions:
        try:
            sketch = read_sketch(written, dataset)
            if plan_of(sketch, dataset.id) is None and sketch != ("none",):
                raise NotationError("the sketch means no plan")
            asked.append(Asked(number, tuple(said), written, sketch))
        except (NotationError, IndexError) as error:
            refused.append(f"{path.name}:{number}: {error}: {written}")
    return Domain(path.stem, dataset, profile, tuple(asked), tuple(refused))


def _take(line: str, found: _File) -> None:
    fields = [each.strip() for each in line.strip().split("|")]
    word, _, rest = fields[0].partition(" ")
    if line[0].isspace():
        _column(line, found)
    elif word == "builtin":
        found.shipped = rest
    elif word == "dataset":
        found.title, found.description = rest, " ".join(fields[1:])
    elif word == "as_of":
        found.as_of = rest
    elif word == "table":
        time = next((each[5:].strip().strip('"') for each in fields[1:] if each.startswith("time ")), None)
        described = " ".join(each for each in fields[1:] if not each.startswith("time "))
        found.tables.append(_Table(rest.strip('"'), described, time, [], {}))
    elif word == "metric":
        if len(fields) < 3:
            raise DomainError("a metric is: metric NAME | TABLE | SKETCH | description")
        found.metrics.append((rest, fields[1], fields[2], ". ".join(fields[3:])))
    elif word == "synonyms":
        table, _, column = rest.partition(".")
        found.synonyms[table, column.strip('"')] = " ".join(fields[1:])
    else:
        raise DomainError(f"nothing begins with {word!r}")


def _column(line: str, found: _File) -> None:
    match = _COLUMN.match(line)
    if match is None or not found.tables:
        raise DomainError("a column is: NAME TYPE [-> table.column] [| unit U] [| values a, b]")
    table = found.tables[-1]
    name = match.group("quoted") or match.group("name")
    rest, *fields = [each.strip() for each in match.group("rest").split("|")]
    if rest.startswith("->"):
        other, _, key = rest[2:].strip().partition(".")
        found.relations.append((table.name, name, other.strip('"'), key.strip('"')))
    unit, described = "", ""
    for each in fields:
        if each.startswith("unit "):
            unit = each[5:].strip()
        elif each.startswith("values "):
            table.values[name] = [value.strip() for value in each[7:].split(",") if value.strip()]
        else:
            described = f"{described} {each}".strip()
    kind = ColumnType.FLOAT if match.group("type") == "double" else ColumnType(match.group("type"))
    table.columns.append(Column(name=name, type=kind, sql_type=NAMES[kind], unit=unit, description=described))


def _dataset(name: str, found: _File) -> Dataset:
    digest = hashlib.sha256(name.encode()).hexdigest()
    tables = tuple(
        Table(
            name=table.name,
            description=table.description,
            file=f"{table.name}.csv",
            sha256=digest,
            rows=_ROWS,
            columns=tuple(_described(table.name, column, found) for column in table.columns),
            time_column=table.time,
        )
        for table in found.tables
    )
    plain = Dataset(
        id=name,
        title=found.title,
        description=found.description,
        tables=tables,
        relationships=tuple(
            Relationship(many_table=many, many_column=column, one_table=one, one_column=key)
            for many, column, one, key in found.relations
        ),
        as_of=found.as_of,
        version=f"sha256:{digest}",
    )
    metrics = tuple(_metric(plain, *each) for each in found.metrics)
    return plain.model_copy(update={"metrics": metrics})


def _described(table: str, column: Column, found: _File) -> Column:
    more = found.synonyms.get((table, column.name))
    return (
        column.model_copy(update={"description": f"{column.description} {more}".strip()}) if more else column
    )


def _metric(dataset: Dataset, name: str, table: str, written: str, described: str) -> Metric:
    sketch = read_sketch(f"{table}: {written}", dataset)
    plan = plan_of(sketch, dataset.id)
    if plan is None or len(plan["select"]) != 1:
        raise DomainError(f"metric {name}: {written} is no measure")
    item: dict[str, Any] = dict(plan["select"][0])
    item.pop("as", None)
    if item.get("op") == "/":
        return Metric(
            name=name, table=table, description=described, numerator=item["left"], denominator=item["right"]
        )
    return Metric(name=name, table=table, description=described, numerator=item)


def _profile(found: _File, version: str) -> Profile:
    return Profile(version=version, tables=tuple(_table_profile(table) for table in found.tables))


def _table_profile(table: _Table) -> TableProfile:
    columns: list[ColumnProfile] = []
    for position, column in enumerate(table.columns):
        listed = table.values.get(column.name, [])
        cells: list[str | int | float] = [_cell(column, value) for value in listed]
        if column.type is ColumnType.BOOLEAN:
            cells = []
        values = tuple(
            ValueCount(value=cell, count=max(1, _ROWS // (at + 2))) for at, cell in enumerate(cells)
        )
        distinct = len(values) or (
            2 if column.type is ColumnType.BOOLEAN else _ROWS if position == 0 else 300
        )
        columns.append(
            ColumnProfile(
                name=column.name,
                nulls=0 if position == 0 else 10,
                distinct=distinct,
                values=values,
                complete=bool(values) and len(values) < 12,
            )
        )
    return TableProfile(name=table.name, rows=_ROWS, columns=tuple(columns))


def _cell(column: Column, value: str) -> str | int | float:
    try:
        if column.type is ColumnType.INTEGER:
            return int(value)
        if column.type is ColumnType.FLOAT:
            return float(value)
    except ValueError:
        return value
    return value
