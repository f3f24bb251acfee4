"""How many rows a compiled query may return, and what its author is told about it."""

from __future__ import annotations

from sandtable.plan.resolved import ResolvedPlan

WIDE = 8
"""More columns than this, of every row, is a copy of the table rather than an answer."""
WIDE_ROWS = 50


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
