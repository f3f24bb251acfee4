"""The first rows of each table, from an ordinary run through the gate and the sandbox.

A sample is cached until the files that it came from are found damaged or are replaced.
"""

from __future__ import annotations

import asyncio

from sandtable.assemble import Parts
from sandtable.capsule.query import PlanQuery, Query, SqlQuery
from sandtable.catalog.model import Dataset, Table
from sandtable.errors import ErrorCode, Problem, SandtableError
from sandtable.plan.shapes import MAX_ITEMS
from sandtable.runs.model import RunRequest
from sandtable.server.views import Sample

ROWS = 5
KEPT = 256
WAIT_S = 20.0


class Samples:
    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._kept: dict[tuple[str, str, str, str], Sample] = {}

    async def of(self, dataset: Dataset, user: str) -> tuple[Sample, ...]:
        """One sample per table, in the tables' order."""
        return tuple(await asyncio.gather(*(self._one(dataset, table, user) for table in dataset.tables)))

    async def _one(self, dataset: Dataset, table: Table, user: str) -> Sample:
        try:
            data = await self._parts.datasets.open(dataset.id, dataset.version)
            # A sample names its run, which belongs to its user.
            key = (user, dataset.version, data.whole.copy_id, table.name)
            sample = self._kept.get(key) or await self._take(dataset, table, user)
        except SandtableError as error:
            return Sample(error=error.problem)
        if sample.error is None:
            self._kept[key] = sample
            if len(self._kept) > KEPT:
                del self._kept[next(iter(self._kept))]
        return sample

    async def _take(self, dataset: Dataset, table: Table, user: str) -> Sample:
        request = RunRequest(
            dataset_id=dataset.id,
            query=_first_rows(dataset, table),
            question=f"Sample rows of {table.name}",
            user=user,
        )
        run = await self._parts.runs.submit(request)
        run = await self._parts.runs.wait(run.id, WAIT_S)
        if run.status == "succeeded":
            names = tuple(column.name for column in run.columns)
            return Sample(run_id=run.id, columns=names, rows=run.rows or ())
        return Sample(run_id=run.id, error=run.error or _not_yet(run.status))


def _first_rows(dataset: Dataset, table: Table) -> Query:
    if dataset.live is not None:
        names = [{"column": column.name} for column in table.columns[:MAX_ITEMS]]
        plan = {"dataset_id": dataset.id, "table": table.name, "select": names, "limit": ROWS}
        return PlanQuery(plan)
    columns = ", ".join(_quoted(column.name) for column in table.columns)
    return SqlQuery(f"SELECT {columns} FROM {_quoted(table.name)} LIMIT {ROWS}")  # noqa: S608 - judged by the gate


def _not_yet(status: str) -> Problem:
    return Problem(
        code=ErrorCode.RUNNER_TIMEOUT,
        message=f"the sample is {status}",
        suggestion="Ask for the schema again in a moment.",
    )


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
