"""Counts for proposed joins and keys, over all rows of a published version, in the indexing pool.

The SQL is made here from names of the dataset, each a quoted identifier. Nothing of a user's text is in it.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import structlog

from sandtable.catalog.convert import ColumnPlace
from sandtable.catalog.proposed.keys import IdentityCounts, KeyCandidate
from sandtable.catalog.proposed.proposals import JoinCandidate, KeyCounts
from sandtable.catalog.stored.integrity import OpenData
from sandtable.sandbox.executor import Executor, executed
from sandtable.sandbox.gate import is_large
from sandtable.sandbox.job import Job, Limits, refs_of

log = structlog.get_logger(__name__)

_LIMITS = Limits(wall_ms=60_000, cpu_s=120, memory_mb=1024, rows=1000)


class KeyCounter:
    """None stands for what could not be counted, such as for want of memory or time."""

    def __init__(self, executor: Executor, threads: int = 1) -> None:
        self._executor = executor
        self._threads = threads

    async def references(
        self, data: OpenData, considered: Sequence[JoinCandidate]
    ) -> tuple[KeyCounts | None, ...]:
        """In the order of `considered`."""
        found: list[KeyCounts | None] = []
        for each in considered:
            row = await self._row(data, _references(each.many, each.one), f"{each.many} {each.one}")
            found.append(None if row is None else KeyCounts(row[0], row[1], 0 < row[2] == row[3] == row[4]))
        return tuple(found)

    async def identities(
        self, data: OpenData, considered: Sequence[KeyCandidate]
    ) -> tuple[IdentityCounts | None, ...]:
        """In the order of `considered`."""
        found: list[IdentityCounts | None] = []
        for each in considered:
            row = await self._row(data, _identities(each), f"{each.table} {', '.join(each.columns)}")
            found.append(None if row is None else IdentityCounts(*row))
        return tuple(found)

    async def _row(self, data: OpenData, sql: str, what: str) -> list[int] | None:
        dataset = data.dataset
        job = Job(
            id=f"keys_{secrets.token_hex(8)}",
            mode="sql",
            dataset_id=dataset.id,
            dataset_version=dataset.version,
            data=refs_of(data),
            text=sql,
            threads=self._threads if is_large(dataset) else 1,
            limits=_LIMITS,
        )
        result = await executed(self._executor, job)
        if result.status == "succeeded" and len(result.rows) == 1:
            return [int(cell) for cell in result.rows[0]]
        why = result.error.message if result.error else result.status
        log.warning("key_not_counted", dataset_id=dataset.id, columns=what, reason=why)
        return None


def _identities(candidate: KeyCandidate) -> str:
    table = _quoted(candidate.table)
    columns = [_quoted(name) for name in candidate.columns]
    filled = " AND ".join(f"{column} IS NOT NULL" for column in columns)
    return (  # Names of the dataset, each a quoted identifier.
        f"SELECT count(*) AS all_rows, count(*) FILTER ({filled}) AS filled, "
        f"(SELECT count(*) FROM (SELECT DISTINCT {', '.join(columns)} FROM {table})) AS distinct_rows FROM {table}"
    )


def _references(many: ColumnPlace, one: ColumnPlace) -> str:
    ours, theirs = _quoted(many.column), _quoted(one.column)
    from_many, from_one = _quoted(many.table), _quoted(one.table)
    return (  # Names of the dataset, each a quoted identifier.
        f"SELECT (SELECT count({ours}) FROM {from_many}) AS filled, "
        f"(SELECT count(*) FROM (SELECT {ours} AS key FROM {from_many} WHERE {ours} IS NOT NULL) AS m "
        f"ANTI JOIN (SELECT {theirs} AS key FROM {from_one}) AS o ON m.key = o.key) AS missing, "
        f"count(*) AS all_rows, count({theirs}) AS filled_one, count(DISTINCT {theirs}) AS distinct_one "
        f"FROM {from_one}"
    )


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'
