"""What the columns of a result mean when only their names, types and cells are known: results of SQL."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from sandtable.catalog.model import Column, ColumnType, Dataset
from sandtable.engines.duckdb.types import column_type, facts
from sandtable.plan.moments import read_moment
from sandtable.plan.units import FRACTION, PERCENT
from sandtable.wording.field import MOMENTS, NUMBERS, Field
from sandtable.wording.figures import number_of
from sandtable.wording.naming import Naming
from sandtable.wording.phrases import plural, words

_AGGREGATES = {
    "avg": "average", "average": "average", "mean": "average", "sum": "total", "total": "total", "max": "maximum",
    "min": "minimum", "median": "median", "fsum": "total", "favg": "average",
}  # fmt: skip
_CALL = re.compile(r"(\w+)\((?:DISTINCT )?\"?([\w .*]*)\"?\)", re.IGNORECASE)
_COUNTS = re.compile(
    r"(?:count|cnt|num|number|n)(?:_of)?_(.+)|(.+)_count|(count|cnt|n|num|total)", re.IGNORECASE
)
_NOT_THINGS = frozenset(
    "milliseconds seconds minutes hours days weeks months years points stars status gross is was has as bonus".split()
)
_SHARE = frozenset("rate share fraction proportion".split())
_PERCENT = frozenset("pct percent percentage".split())
_BUCKETS = ("hour", "day", "week", "month", "quarter", "year")

Columns = Sequence[tuple[str, str]]
Rows = Sequence[Sequence[Any]]


def guessed_fields(columns: Columns, rows: Rows, dataset: Dataset) -> tuple[Field, ...]:
    fields = (
        _field(index, name, type_, columns, rows, dataset) for index, (name, type_) in enumerate(columns)
    )
    return with_instants(fields, columns, rows)


def with_instants(fields: Iterable[Field], columns: Columns, rows: Rows) -> tuple[Field, ...]:
    """Mark the fields whose cells are moments with a known time zone."""
    return tuple(
        replace(field, instant=_instants(field.index, columns[field.index][1], rows)) for field in fields
    )


def _instants(index: int, sql_type: str, rows: Rows) -> bool:
    """Whether the cells have a time zone and a time: if it is midnight in every row, they are days, months or years."""
    if column_type(sql_type) is not ColumnType.TIMESTAMP or not facts(sql_type).zoned:
        return False
    read = [read_moment(row[index]) for row in rows if index < len(row) and isinstance(row[index], str)]
    return any(isinstance(moment, dt.datetime) and moment.time() != dt.time() for moment in read)


def _field(index: int, name: str, sql_type: str, columns: Columns, rows: Rows, dataset: Dataset) -> Field:
    type_ = column_type(sql_type)
    cells = [row[index] for row in rows if index < len(row)]
    counted = _counted(name, type_) if _catalog_column(name, dataset) is None else None
    if counted is not None:
        return Field(index, name, f"number of {counted}", type_, measure=True, counts=True)
    if dataset.metric(name) is not None:
        named = Naming(dataset, None).metric(name)
        return Field(index, name, named.text, type_, measure=True, unit=named.unit, metric=True)
    text, source = _described(name, dataset)
    unit = _share_unit(name, type_, cells) or (source.unit if source else "")
    text = words(name, PERCENT) if unit == PERCENT else text
    field = Field(index, name, text, type_, measure=False, unit=unit, bucket=_bucket(name, type_, cells))
    if (
        type_ in MOMENTS
        and len(rows) == 1
        and all(column_type(other) is not ColumnType.TEXT for _, other in columns)
    ):
        return Field(index, name, text, type_, measure=True)
    if type_ not in NUMBERS or field.is_code or _is_key(name, columns, dataset):
        return field
    return Field(index, name, text, type_, measure=True, unit=unit)


def _counted(name: str, type_: ColumnType) -> str | None:
    """What a column counts; None if it does not count."""
    if type_ is not ColumnType.INTEGER and not name.lower().startswith("count"):
        return None
    call = _CALL.fullmatch(name)
    if call:
        inner = call.group(2).strip("* ")
        counts = call.group(1).lower() in ("count", "count_star")
        return (plural(words(inner)) if inner else "rows") if counts else None
    found = _COUNTS.fullmatch(name)
    head, _, rest = name.partition("_")
    if head.lower() == "total" and rest and _is_plural(rest):
        return words(rest)
    if not found:
        return words(name) if _is_plural(name) else None
    what = found.group(1) or found.group(2)
    return plural(words(what)) if what else "rows"


def _is_plural(name: str) -> bool:
    """A whole number with a plural name, such as `orders`, is a count."""
    last = words(name).lower().split(" ")[-1]
    first = words(name).lower().split(" ")[0]
    many = last.endswith("s") and not last.endswith("ss") and last not in _NOT_THINGS
    return many and first not in (*_AGGREGATES, *_AGGREGATES.values(), "highest", "lowest")


def _described(name: str, dataset: Dataset) -> tuple[str, Column | None]:
    """The column in words, and the column of the data that it is or aggregates."""
    exact = _catalog_column(name, dataset)
    if exact is not None:
        return words(exact.name, exact.unit), exact
    call = _CALL.fullmatch(name)
    prefix, _, rest = name.partition("_")
    agg, inner = (call.group(1), call.group(2)) if call else (prefix, rest)
    word = _AGGREGATES.get(agg.lower())
    source = _catalog_column(inner, dataset) if inner else None
    if word and inner:
        rest = words(inner, source.unit if source else "")
        return f"sum of {plural(rest)}" if "total" in rest.split(" ") else f"{word} {rest}", source
    text = words(name)
    for start, better in (("highest ", "maximum "), ("lowest ", "minimum ")):
        text = better + text.removeprefix(start) if text.startswith(start) else text
    return text, None


def _catalog_column(name: str, dataset: Dataset) -> Column | None:
    return next((column for table in dataset.tables if (column := table.column(name))), None)


def _is_key(name: str, columns: Columns, dataset: Dataset) -> bool:
    """A plain number of the data beside something that was computed: `rating, count(*)`."""
    if _catalog_column(name, dataset) is None:
        return False
    return any(
        _catalog_column(other, dataset) is None and column_type(type_) in NUMBERS
        for other, type_ in columns
        if other != name
    )


def _share_unit(name: str, type_: ColumnType, cells: list[Any]) -> str:
    tokens = set(words(name).lower().split(" "))
    if type_ not in NUMBERS or type_ is ColumnType.INTEGER:
        return ""
    if tokens & _PERCENT:
        return PERCENT
    numbers = [number for cell in cells if (number := number_of(cell)) is not None]
    small = bool(numbers) and all(abs(number) <= 1 for number in numbers)
    return FRACTION if tokens & _SHARE and small else ""


def _bucket(name: str, type_: ColumnType, cells: list[Any]) -> str:
    if type_ not in MOMENTS:
        return ""
    read = [moment for cell in cells if isinstance(cell, str) and (moment := read_moment(cell)) is not None]
    if not read:
        return ""
    tokens = set(words(name).lower().split(" "))
    fits = [unit for unit in _BUCKETS if all(_starts(moment, unit) for moment in read)]
    named = [unit for unit in fits if unit in tokens]
    if named:
        return named[-1]
    return "month" if "month" in fits and len(set(read)) > 2 else ""


def _starts(moment: dt.date, unit: str) -> bool:
    if isinstance(moment, dt.datetime):
        if unit == "hour":
            return (moment.minute, moment.second) == (0, 0)
        if moment.time() != dt.time():
            return False
    match unit:
        case "week":
            return moment.weekday() == 0
        case "month":
            return moment.day == 1
        case "quarter":
            return moment.day == 1 and moment.month % 3 == 1
        case "year":
            return (moment.day, moment.month) == (1, 1)
        case _:
            return unit == "day"
