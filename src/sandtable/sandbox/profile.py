"""The profile of a dataset, made by a job in a sandbox of the indexing pool.

Invariant: the sandbox's answer is untrusted. It becomes a Profile only when it covers exactly the dataset's tables and
columns, in their order, and its numbers agree with each other.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StrictBool, ValidationError

from sandtable.catalog.model import Dataset
from sandtable.catalog.model import Table as CatalogTable
from sandtable.catalog.profile import MOST_VALUES, Bin, Cell, ColumnProfile, Profile, TableProfile, ValueCount
from sandtable.catalog.stored.integrity import OpenData
from sandtable.errors import RunnerBroken
from sandtable.sandbox.executor import Executor
from sandtable.sandbox.gate import is_large
from sandtable.sandbox.job import Job, JobResult, Limits, refs_of

_LIMITS = Limits(
    wall_ms=300_000, cpu_s=1200, memory_mb=1024, tmp_mb=256, pids=64, rows=0, result_bytes=4 << 20
)
_SECONDS = 60
"""After this long, the remaining columns get their counts only."""
_LONGEST_CELL = 1000

_Count = Annotated[int, Field(ge=0, strict=True)]


class _Wire(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class _Column(_Wire):
    name: str
    nulls: _Count
    distinct: _Count
    minimum: Cell
    maximum: Cell
    values: list[tuple[Cell, Annotated[int, Field(ge=1, strict=True)]]] = Field(max_length=MOST_VALUES)
    complete: StrictBool
    edges: list[float] = Field(max_length=101)
    counts: list[_Count] = Field(max_length=100)


class _Table(_Wire):
    name: str
    rows: _Count
    columns: list[_Column]


class _Answer(_Wire):
    tables: list[_Table]


async def profile_of(executor: Executor, data: OpenData, *, threads: int = 1) -> Profile:
    """`threads` are for large data. Raises RunnerBroken when there is no usable answer."""
    dataset = data.dataset
    job = Job(
        id=f"profile_{secrets.token_hex(8)}",
        mode="profile",
        dataset_id=dataset.id,
        dataset_version=dataset.version,
        data=refs_of(data),
        threads=threads if is_large(dataset) else 1,
        limits=_LIMITS,
        options={"values": MOST_VALUES, "seconds": _SECONDS},
    )
    await executor.submit(job)
    return _read(await executor.result(job.id), dataset)


def _read(result: JobResult, dataset: Dataset) -> Profile:
    if result.status != "succeeded":
        why = result.error.message if result.error else result.status
        raise RunnerBroken(
            f"the columns of {dataset.id} could not be looked at: {why}",
            suggestion="Ask again; if it fails again, report it.",
            stderr=result.stderr,
        )
    try:
        answer = _Answer.model_validate(result.output)
    except ValidationError as error:
        raise _invalid(dataset, f"{error.error_count()} fields are not as agreed") from error
    if [table.name for table in answer.tables] != [table.name for table in dataset.tables]:
        raise _invalid(dataset, "it describes other tables")
    tables = tuple(
        _table(found, known, dataset) for found, known in zip(answer.tables, dataset.tables, strict=True)
    )
    return Profile(version=dataset.version, tables=tables)


def _table(found: _Table, known: CatalogTable, dataset: Dataset) -> TableProfile:
    if [column.name for column in found.columns] != [column.name for column in known.columns]:
        raise _invalid(dataset, f"it describes other columns in {known.name}")
    for column in found.columns:
        breach = _breach(column, found.rows)
        if breach is not None:
            raise _invalid(dataset, f"{known.name}.{column.name}: {breach}")
    return TableProfile(name=known.name, rows=found.rows, columns=tuple(map(_column, found.columns)))


def _breach(column: _Column, rows: int) -> str | None:
    cells = [column.minimum, column.maximum, *(value for value, _ in column.values)]
    if any(isinstance(cell, str) and len(cell) > _LONGEST_CELL for cell in cells):
        return "a value is too long"
    counts = [count for _, count in column.values]
    if None in cells[2:] or column.nulls + sum(counts) > rows or counts != sorted(counts, reverse=True):
        return "its values do not add up"
    if len({(type(value), value) for value, _ in column.values}) != len(counts):
        return "a value is there twice"
    if column.complete and (len(counts) != column.distinct or column.nulls + sum(counts) != rows):
        return "its values are not all there"
    return _bins_breach(column.edges, column.counts, rows - column.nulls)


def _bins_breach(edges: Sequence[float], counts: Sequence[int], most: int) -> str | None:
    if not edges and not counts:
        return None
    rising = all(low <= high for low, high in pairwise(edges))
    if len(edges) != len(counts) + 1 or not all(map(math.isfinite, edges)) or not rising:
        return "its bins do not follow each other"
    return None if sum(counts) <= most else "its bins hold more than there is"


def _column(found: _Column) -> ColumnProfile:
    bins = zip(found.edges, found.edges[1:], found.counts, strict=False)
    return ColumnProfile(
        name=found.name,
        nulls=found.nulls,
        distinct=found.distinct,
        minimum=found.minimum,
        maximum=found.maximum,
        values=tuple(ValueCount(value=value, count=count) for value, count in found.values),
        complete=found.complete,
        histogram=tuple(Bin(low=low, high=high, count=count) for low, high, count in bins),
    )


def _invalid(dataset: Dataset, why: str) -> RunnerBroken:
    return RunnerBroken(
        f"invalid profile for {dataset.id}: {why}",
        suggestion="Ask again; if it fails again, report it.",
    )
