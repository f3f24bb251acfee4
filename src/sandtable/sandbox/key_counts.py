"""Counts for proposed joins, over all rows of a published version, in the indexing pool.

The SQL is made here from names of the dataset, each a quoted identifier. Nothing of a user's text is in it.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import structlog

from sandtable.catalog.convert import ColumnPlace
from sandtable.catalog.integrity import OpenData
from sandtable.catalog.proposals import JoinCandidate, KeyCounts
from sandtable.sandbox.executor import Executor, executed
from sandtable.sandbox.gate import is_large
from sandtable.sandbox.job import Job, Limits, refs_of

log = structlog.get_logger(__name__)

_LIMITS = Limits(wall_ms=60_000, cpu_s=120, memory_mb=1024, rows=1000)


async def key_counts(
    executor: Executor, data: OpenData, considered: Sequence[JoinCandidate], *, threads: int = 1
) -> tuple[KeyCounts | None, ...]:
    """In the order of `considered`; None where counting failed, such as for want of memory or time."""
    dataset = data.dataset
    found: list[KeyCounts | None] = []
    for each in considered:
        job = Job(
            id=f"keys_{secrets.token_hex(8)}",
            mode="sql",
            dataset_id=dataset.id,
            dataset_version=dataset.version,
            data=refs_of(data),
            text=_counting(each.many, each.one),
            threads=threads if is_large(dataset) else 1,
            limits=_LIMITS,
        )
        result = await executed(executor, job)
        if result.status != "succeeded" or len(result.rows) != 1:
            why = result.error.message if result.error else result.status
            log.warning("join_not_counted", dataset_id=dataset.id, many=each.many, one=each.one, reason=why)
            found.append(None)
            continue
        filled, missing, rows, filled_one, distinct = (int(cell) for cell in result.rows[0])
        found.append(KeyCounts(filled, missing, unique=0 < rows == filled_one == distinct))
    return tuple(found)


def _counting(many: ColumnPlace, one: ColumnPlace) -> str:
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
