"""A dataset as a chat model sees it: tables, columns, relationships, metrics and, where allowed, some values.

Invariant: it depends on the dataset and the privacy alone, so that every prompt about a dataset has the same bytes
here and a server can reuse what it has read. The same values are listed once, whatever columns hold them.
"""

from __future__ import annotations

import json
import re
from calendar import month_name
from typing import Any

from sandtable.agent.endpoint import Privacy
from sandtable.agent.privacy import column_samples, column_statistics
from sandtable.agent.prompt_files import as_data
from sandtable.catalog.measures import NUMBER_TYPES, MeasureKind, measure_kind
from sandtable.catalog.model import Column, Dataset, Metric, Table
from sandtable.catalog.profile import ColumnProfile, Profile

_AGGREGATES = {"additive": "sum", "averaged": "average", "identifier": "none"}
"""How numbers are put together where a question does not say it, in the catalog's words."""
LARGEST_SCHEMA = 14_000
"""Characters that a dataset's description may take before details are left out."""


def schema_data(dataset: Dataset, profile: Profile, privacy: Privacy) -> str:
    """As much of the schema as fits: first samples are left out, then descriptions."""
    text = ""
    for samples, words in ((privacy == "off", True), (False, True), (False, False)):
        text = as_data(described_dataset(dataset, profile, samples=samples, words=words))
        if len(text) <= LARGEST_SCHEMA:
            break
    return text


def listed_values(dataset: Dataset, profile: Profile, name: str) -> list[Any]:
    """The values of a column, such as `orders.region`, that a description with samples lists somewhere."""
    table_name, _, column_name = name.partition(".")
    table, seen = dataset.table(table_name), profile.table(table_name)
    column = table.column(column_name) if table else None
    if table is None or column is None or seen is None or column.name.lower() in _references(dataset, table):
        return []
    found = column_samples(column, seen.column(column_name))
    return found.get("values") or found.get("examples") or []


def _references(dataset: Dataset, table: Table) -> set[str]:
    """Columns that hold the values of a column in another table, where those are listed."""
    return {r.many_column.lower() for r in dataset.relationships if r.many_table == table.name}


def described_dataset(dataset: Dataset, profile: Profile, *, samples: bool, words: bool) -> dict[str, Any]:
    listed: dict[str, str] = {}
    """The samples that are in the description already, with the column they stand at."""
    return {
        "dataset_id": dataset.id,
        **_described(dataset.description, words),
        **_calendar(dataset),
        **({} if dataset.live is None else {"takes": "plans only, no SQL and no Python"}),
        "tables": [_table(dataset, profile, table, samples, words, listed) for table in dataset.tables],
        "relationships": [
            {"many": f"{r.many_table}.{r.many_column}", "one": f"{r.one_table}.{r.one_column}"}
            for r in dataset.relationships
        ],
        "metrics": [_metric(metric, words) for metric in dataset.metrics],
    }


def _calendar(dataset: Dataset) -> dict[str, str]:
    """What differs from the usual calendar."""
    made = {"week_start": dataset.week_start} if dataset.week_start != "monday" else {}
    if dataset.fiscal_month is None:
        return made
    return made | {
        "fiscal_year_start": month_name[dataset.fiscal_month].lower(),
        "fiscal_periods": "a fiscal year has the name of the year in which it ends; buckets: fiscal_quarter, "
        "fiscal_year; periods: this_ and last_ fiscal_quarter and fiscal_year, fiscal_ytd",
    }


def _metric(metric: Metric, words: bool) -> dict[str, Any]:
    made = {"name": metric.name, "table": metric.table, "format": metric.format}
    return {**made, **_described(metric.description, words), **_synonyms(metric.synonyms, words)}


def _table(
    dataset: Dataset, profile: Profile, table: Table, samples: bool, words: bool, listed: dict[str, str]
) -> dict[str, Any]:
    seen = profile.table(table.name)
    refers = _references(dataset, table)
    columns: list[dict[str, Any]] = []
    for column in table.columns:
        its = seen.column(column.name) if seen else None
        one = _column(column, its, words)
        if samples and words and column.name.lower() not in refers:
            one |= _samples(f"{table.name}.{column.name}", column, its, listed)
        columns.append(one)
    made: dict[str, Any] = {
        "name": table.name,
        **_described(table.description, words),
        **_synonyms(table.synonyms, words),
    }
    rows = seen.rows if seen else table.rows
    if rows is not None:
        made["rows"] = rows
    if table.time_column:
        made["time_column"] = table.time_column
    return {**made, "columns": columns}


def _column(column: Column, profile: ColumnProfile | None, words: bool) -> dict[str, Any]:
    made: dict[str, Any] = {"name": column.name, "type": column.type.value}
    if not words:
        return made
    made |= _described(column.description, words) | _synonyms(column.synonyms, words)
    made |= {"unit": column.unit} if column.unit else {}
    made |= {"aggregate": _AGGREGATES[column.measure]} if column.measure else {}
    return made | column_statistics(column, profile)


def _samples(
    name: str, column: Column, profile: ColumnProfile | None, listed: dict[str, str]
) -> dict[str, Any]:
    found = column_samples(column, profile)
    numbered = column.type in NUMBER_TYPES and measure_kind(column, profile) is MeasureKind.IDENTIFIER
    if not found or numbered or _names_all(column.description, found.get("values")):
        return {}
    key = json.dumps({kind: _in_order(values) for kind, values in found.items()}, default=str)
    if key in listed:
        return {"values_as": listed[key]}
    listed[key] = name
    return found


def _names_all(description: str, values: list[Any] | None) -> bool:
    """Whether the description names every value as the cells spell it."""
    return bool(values) and all(
        re.search(rf"(?<!\w){re.escape(str(value))}(?!\w)", description) for value in values or ()
    )


def _in_order(values: Any) -> Any:
    """Values come by how often they occur, which differs from column to column."""
    return sorted(values, key=str) if isinstance(values, list) else values


def _synonyms(synonyms: tuple[str, ...], words: bool) -> dict[str, list[str]]:
    return {"synonyms": list(synonyms)} if synonyms and words else {}


def _described(description: str, words: bool) -> dict[str, str]:
    return {"description": description} if description and words else {}
