"""The datasets that can be queried by id, read from a folder's `registry.json`.

Invariant: a loaded catalog is consistent. Types agree with SQL types, versions with the tables they cover, and metrics
with the columns they name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from sandtable.catalog.model import ColumnType, Dataset, Metric, Table
from sandtable.catalog.names import nearest
from sandtable.catalog.version import dataset_version
from sandtable.errors import InvalidInput, NotFound
from sandtable.quoting import quote
from sandtable.settings import Settings

TypeOf = Callable[[str], ColumnType]

REGISTRY = "registry.json"
_FORMAT = 1
_TABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,59}")
_FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_. -]{0,199}")
_REFRESH = "Run `python datasets/generate --write-registry` after changing the data or the schema."


class Catalog:
    """Datasets by id, in the order of the registry."""

    def __init__(self, datasets: Iterable[Dataset], folder: Path | None = None) -> None:
        self._by_id = {dataset.id: dataset for dataset in datasets}
        self.folder = folder
        """Where the sources of these datasets lie, or their generator."""

    def get(self, dataset_id: str) -> Dataset:
        """The dataset, or NotFound with the nearest id."""
        found = self._by_id.get(dataset_id)
        if found is not None:
            return found
        alike = nearest(dataset_id, self._by_id)
        hint = f"; did you mean {quote(alike)}?" if alike else ""
        raise NotFound(
            f"no dataset {quote(dataset_id)}{hint}",
            suggestion=f"The datasets are: {', '.join(self._by_id) or 'none'}.",
            dataset=dataset_id,
            nearest=alike,
        )

    def values(self) -> tuple[Dataset, ...]:
        return tuple(self._by_id.values())

    def __contains__(self, dataset_id: object) -> bool:
        return dataset_id in self._by_id

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_id)

    def __len__(self) -> int:
        return len(self._by_id)


def registry_folder(settings: Settings | None = None) -> Path:
    """The folder of `settings.datasets`, else the built-in one of the wheel or the checkout."""
    if settings is not None and settings.datasets is not None:
        return settings.datasets.expanduser()
    here = Path(__file__).resolve()
    places = (here.parents[1] / "_datasets", here.parents[3] / "datasets")
    for place in places:
        if (place / REGISTRY).is_file():
            return place
    raise InvalidInput(
        "the built-in datasets are missing: " + " and ".join(f"{p} has no {REGISTRY}" for p in places),
        suggestion="Install sandtable again, or set SANDTABLE_DATASETS to a folder with a registry.json.",
    )


def load_catalog(folder: Path, column_type: TypeOf) -> Catalog:
    """`column_type`: the logical type of an SQL type, for the engine that reads the files."""
    path = folder / REGISTRY
    content = _read(path)
    datasets: list[Dataset] = []
    for index, entry in enumerate(content):
        dataset = _dataset(path, index, entry, column_type)
        if any(other.id == dataset.id for other in datasets):
            raise _invalid(path, f"two datasets have the id {quote(dataset.id)}")
        datasets.append(dataset)
    return Catalog(datasets, folder)


def _read(path: Path) -> list[Any]:
    try:
        content: Any = json.loads(path.read_text("utf-8"))
    except OSError as e:
        raise InvalidInput(
            f"cannot read {path}: {e.strerror or e}",
            suggestion="SANDTABLE_DATASETS must name a folder with a registry.json.",
        ) from e
    except ValueError as e:
        raise _invalid(path, f"not JSON in UTF-8: {e}") from e
    if not isinstance(content, dict):
        raise _invalid(path, "the file must hold an object with `format` and `datasets`")
    fields = cast(dict[str, Any], content)
    if fields.get("format") != _FORMAT:
        raise _invalid(path, f"`format` is {quote(str(fields.get('format')))}; this version reads {_FORMAT}")
    datasets = fields.get("datasets")
    if not isinstance(datasets, list):
        raise _invalid(path, "`datasets` must be a list")
    return cast(list[Any], datasets)


def _dataset(path: Path, index: int, entry: Any, column_type: TypeOf) -> Dataset:
    named = cast(dict[str, Any], entry).get("id") if isinstance(entry, dict) else None
    where = f"dataset {quote(named)}" if named else f"datasets[{index}]"
    try:
        dataset = Dataset.model_validate(entry)
    except ValidationError as e:
        raise _invalid(path, f"{where}: {explain(e)}") from e
    problem = _problem(dataset, column_type)
    if problem:
        raise _invalid(path, f"{where}: {problem}")
    version = dataset_version(dataset.tables)
    if dataset.version != version:
        raise InvalidInput(
            f"{path}: {where}: version is {dataset.version}, but its tables give {version}",
            suggestion=_REFRESH,
        )
    return dataset


def explain(error: ValidationError) -> str:
    """Each problem with its field, on one line."""
    return "; ".join(
        f"{'.'.join(str(part) for part in e['loc']) or 'value'}: {e['msg'].removeprefix('Value error, ')}"
        for e in error.errors()
    )


def _problem(dataset: Dataset, column_type: TypeOf) -> str | None:
    for table in dataset.tables:
        problem = _table_problem(table, column_type)
        if problem:
            return problem
    for metric in dataset.metrics:
        problem = metric_problem(dataset, metric)
        if problem:
            return problem
    if dataset.as_of is not None:
        try:
            datetime.fromisoformat(dataset.as_of)
        except ValueError:
            return f"as_of {quote(dataset.as_of)} is neither an ISO date nor an ISO timestamp"
    return None


def _table_problem(table: Table, column_type: TypeOf) -> str | None:
    if not _TABLE_NAME.fullmatch(table.name):
        return f"table name {quote(table.name)} must be letters, digits and underscores, at most 60"
    if not _FILE_NAME.fullmatch(table.file):
        return f"table {table.name}: file {quote(table.file)} must be a plain file name"
    for column in table.columns:
        logical = column_type(column.sql_type)
        if logical != column.type:
            return f"{table.name}.{column.name}: type is {column.type}, but {column.sql_type} is {logical}"
    return None


def metric_problem(dataset: Dataset, metric: Metric) -> str | None:
    """A column that the metric names and that does not exist, in words."""
    home = dataset.table(metric.table)
    for name in _columns_in([metric.numerator, metric.denominator]):
        table_name, dot, column = name.rpartition(".")
        table = dataset.table(table_name) if dot else home
        if table is None or table.column(column) is None:
            near = nearest(column, [c.name for c in table.columns]) if table else None
            hint = f"; did you mean {quote(near)}?" if near else ""
            return f"metric {metric.name} uses {name}, which does not exist{hint}"
    return None


def _columns_in(value: Any) -> Iterator[str]:
    """Every column that an expression of the plan language names, at any depth."""
    if isinstance(value, dict):
        for key, item in cast(dict[str, Any], value).items():
            if key == "column" and isinstance(item, str):
                yield item
            elif key != "value":
                yield from _columns_in(item)
    elif isinstance(value, list):
        for item in cast(list[Any], value):
            yield from _columns_in(item)


def _invalid(path: Path, what: str) -> InvalidInput:
    return InvalidInput(f"{path}: {what}", suggestion="Correct that field in the registry and start again.")
