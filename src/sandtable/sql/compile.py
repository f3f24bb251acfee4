"""QueryPlan → DuckDB SQL.

Invariant: pure and byte-deterministic. The text is one SELECT with a LIMIT and a total order, holds
constants only (no clock, no chance), and reads no table but those the plan's names resolve to.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from sandtable.catalog.model import ColumnType, Dataset
from sandtable.plan.model import QueryPlan
from sandtable.plan.resolved import ResolvedPlan
from sandtable.plan.validate import require_plan
from sandtable.recent import Recent
from sandtable.sql import writing as w
from sandtable.sql.limits import row_limit
from sandtable.sql.query import build_query

DEFAULT_MAX_ROWS = 200


@dataclass(frozen=True, slots=True)
class OutputColumn:
    name: str
    type: ColumnType
    key: bool
    """A group key (or a plain column) rather than a computed value."""
    format: str = "number"
    """How a number is meant to be shown: number, percent, currency, duration."""


@dataclass(frozen=True, slots=True)
class Compiled:
    sql: str
    columns: tuple[OutputColumn, ...]
    limit: int
    warnings: tuple[str, ...] = ()


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
"""By identity: both are frozen, and kept here as long as their numbers are."""


def _compile(resolved: ResolvedPlan, dataset: Dataset, max_rows: int) -> Compiled:
    limit, warnings = row_limit(resolved, max_rows)
    query = build_query(resolved, dataset).limit(exp.Literal.number(limit), copy=False)
    return Compiled(w.write(query), _columns(resolved), limit, (*resolved.warnings, *warnings))


def _columns(plan: ResolvedPlan) -> tuple[OutputColumn, ...]:
    plain = [
        OutputColumn(o.name, o.expr.type, o.key if plan.grouped else True, o.format) for o in plan.outputs
    ]
    derived = [
        OutputColumn(
            d.name, d.type, False, "percent" if d.percent or d.kind == "share_of_total" else "number"
        )
        for d in plan.shown
    ]
    return (*plain, *derived)
