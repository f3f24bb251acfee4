"""QueryPlan → DuckDB SQL.

Invariant: pure and byte-deterministic. The text is one SELECT with a LIMIT and a total order, holds
constants only (no clock, no randomness), and reads no table but those the plan's names resolve to.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from sandtable.catalog.model import Dataset
from sandtable.engines.duckdb.spelling import DUCKDB
from sandtable.engines.duckdb.writer import write
from sandtable.plan.model import QueryPlan
from sandtable.plan.resolved import ResolvedPlan
from sandtable.plan.validate import require_plan
from sandtable.recent import Recent
from sandtable.sql.query import build_query

DEFAULT_MAX_ROWS = 200
WIDE = 8
"""More columns than this, of every row, is a copy of the table rather than an answer."""
WIDE_ROWS = 50


@dataclass(frozen=True, slots=True)
class Compiled:
    sql: str
    limit: int
    warnings: tuple[str, ...] = ()
    columns: tuple[()] = ()
    """The engine's own types are kept."""


def compile_plan(plan: QueryPlan, dataset: Dataset, *, max_rows: int = DEFAULT_MAX_ROWS) -> Compiled:
    """SQL for a plan; InvalidInput with every problem when the plan does not fit the dataset."""
    resolved = require_plan(plan, dataset)
    known = _COMPILED.get((id(resolved), id(dataset), max_rows))
    if known is not None:
        return known[2]
    compiled = _compile(resolved, dataset, max_rows)
    _COMPILED.put((id(resolved), id(dataset), max_rows), (resolved, dataset, compiled))
    return compiled


_COMPILED: Recent[tuple[int, int, int], tuple[ResolvedPlan, Dataset, Compiled]] = Recent(256)
"""Keyed by `id`: both are frozen, and the cache keeps them alive as long as their ids."""


def _compile(resolved: ResolvedPlan, dataset: Dataset, max_rows: int) -> Compiled:
    limit, warnings = row_limit(resolved, max_rows)
    query = build_query(resolved, dataset, DUCKDB).limit(exp.Literal.number(limit), copy=False)
    return Compiled(write(query), limit, (*resolved.warnings, *warnings))


def row_limit(plan: ResolvedPlan, max_rows: int) -> tuple[int, list[str]]:
    """The LIMIT, and warnings about rows the author may not expect to be missing."""
    if plan.ties:
        return max_rows, []
    if plan.limit is not None:
        if plan.limit > max_rows:
            return max_rows, [
                f"limit {plan.limit} is above the most allowed; at most {max_rows} rows are returned."
            ]
        return plan.limit, []
    if plan.grouped or plan.decomposition is not None:
        return max_rows, []
    columns = len(plan.outputs) + len(plan.shown)
    if columns > WIDE and plan.where is None:
        limit = min(WIDE_ROWS, max_rows)
        return limit, [
            f"{columns} columns without a filter or limit: at most {limit} rows are returned; "
            "add filters, choose fewer columns or aggregate."
        ]
    return max_rows, [f"no limit was given: at most {max_rows} rows are returned."]
