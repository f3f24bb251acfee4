"""What the columns of tables that stay in a database hold: asked of the database with plans, like any question.

Invariant: a table costs one pass over its rows, and one more for each column whose values are listed. A query that
takes too long leaves its columns without values; nothing is estimated.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import structlog

from sandtable.catalog.model import Column, ColumnType, Dataset, Table
from sandtable.catalog.profile import Cell, ColumnProfile, Profile, TableProfile, ValueCount
from sandtable.errors import RunnerBroken
from sandtable.runs.parts import Route
from sandtable.sandbox.executor import executed
from sandtable.sandbox.job import Job, JobResult, Limits

log = structlog.get_logger(__name__)

MOST_VALUES = 500
"""Listed of one column."""
_FEW = 60
"""Whole numbers have their values listed where there are at most so many different ones."""
_LONGEST = 200
_AT_ONCE = 20
"""Columns that are counted by one query."""
_LIMITS = Limits(
    wall_ms=30_000, cpu_s=60, memory_mb=256, tmp_mb=0, rows=MOST_VALUES + 1, result_bytes=1 << 20
)
_NAMED = (ColumnType.TEXT, ColumnType.BOOLEAN)
_RANGED = (
    ColumnType.INTEGER,
    ColumnType.DECIMAL,
    ColumnType.FLOAT,
    ColumnType.DATE,
    ColumnType.TIMESTAMP,
)


async def live_profile(dataset: Dataset, route: Route) -> Profile:
    """Raises RunnerBroken where the database does not even say how many rows there are."""
    asking = _Asking(dataset, route)
    return Profile(version=dataset.version, tables=tuple([await asking.table(t) for t in dataset.tables]))


class _Asking:
    def __init__(self, dataset: Dataset, route: Route) -> None:
        self._dataset = dataset
        self._route = route

    async def table(self, table: Table) -> TableProfile:
        rows = await self._rows(table)
        found: list[ColumnProfile] = []
        for start in range(0, len(table.columns), _AT_ONCE):
            found += await self._counted(table, rows, table.columns[start : start + _AT_ONCE])
        return TableProfile(name=table.name, rows=rows, columns=tuple(found))

    async def _rows(self, table: Table) -> int:
        result = await self._asked(table, [{"agg": "count", "as": "n"}])
        if result.status != "succeeded":
            why = result.error.message if result.error else result.status
            raise RunnerBroken(
                f"the rows of {table.name} could not be counted: {why}",
                suggestion=result.error.suggestion if result.error else "Ask again.",
            )
        return _whole(result.rows[0][0])

    async def _counted(self, table: Table, rows: int, columns: Sequence[Column]) -> list[ColumnProfile]:
        result = await self._asked(table, [item for n, c in enumerate(columns) for item in _counts(n, c)])
        if result.status != "succeeded":
            log.info("live_profile_incomplete", dataset_id=self._dataset.id, table=table.name)
            return [ColumnProfile(name=column.name, nulls=0, distinct=rows) for column in columns]
        cells = dict(zip((column.name for column in result.columns), result.rows[0], strict=True))
        return [await self._listed(table, rows, n, column, cells) for n, column in enumerate(columns)]

    async def _listed(
        self, table: Table, rows: int, number: int, column: Column, cells: dict[str, Cell]
    ) -> ColumnProfile:
        filled, distinct = _whole(cells[f"filled_{number}"]), _whole(cells[f"distinct_{number}"])
        # Rows can come and go between two queries.
        profile = ColumnProfile(
            name=column.name,
            nulls=max(rows - filled, 0),
            distinct=distinct,
            minimum=_short(cells.get(f"least_{number}")),
            maximum=_short(cells.get(f"most_{number}")),
        )
        is_few = column.type is ColumnType.INTEGER and distinct <= _FEW
        if not distinct or not (column.type in _NAMED or is_few):
            return profile
        values = await self._values(table, column)
        complete = len(values) == distinct and sum(value.count for value in values) == filled
        return profile.model_copy(update={"values": values, "complete": complete})

    async def _values(self, table: Table, column: Column) -> tuple[ValueCount, ...]:
        """The most frequent ones first."""
        result = await self._asked(
            table,
            [{"agg": "count", "as": "n"}],
            group_by=[column.name],
            filters=[{"column": column.name, "op": "not_null"}],
            order_by=[{"expr": "n", "dir": "desc"}],
            limit=MOST_VALUES,
        )
        if result.status != "succeeded":
            log.info("live_values_not_listed", dataset_id=self._dataset.id, table=table.name)
            return ()
        return tuple(
            ValueCount(value=value, count=_whole(count))
            for value, count in result.rows
            if _short(value) is not None
        )

    async def _asked(self, table: Table, select: Iterable[Any], **rest: Any) -> JobResult:
        plan = {"dataset_id": self._dataset.id, "table": table.name, "select": list(select), **rest}
        compiled = self._route.compile(plan, self._dataset, MOST_VALUES)
        job = Job(
            id=f"profile_{secrets.token_hex(8)}",
            mode="sql",
            dataset_id=self._dataset.id,
            dataset_version=self._dataset.version,
            text=compiled.sql,
            limits=_LIMITS,
            options={"columns": [column.model_dump() for column in compiled.columns]},
        )
        return await executed(self._route.executor, job)


def _counts(number: int, column: Column) -> Iterator[dict[str, Any]]:
    yield {"agg": "count", "column": column.name, "as": f"filled_{number}"}
    yield {"agg": "count_distinct", "column": column.name, "as": f"distinct_{number}"}
    if column.type in _RANGED:
        yield {"agg": "min", "column": column.name, "as": f"least_{number}"}
        yield {"agg": "max", "column": column.name, "as": f"most_{number}"}


def _whole(cell: Any) -> int:
    return int(cell)


def _short(cell: Cell) -> Cell:
    return None if isinstance(cell, str) and len(cell) > _LONGEST else cell
