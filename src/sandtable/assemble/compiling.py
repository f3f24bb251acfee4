"""Plans of clients → the text of an engine."""

from __future__ import annotations

from typing import Any

from sandtable.catalog.model import Dataset
from sandtable.plan.validate import parse_plan
from sandtable.sql.compile import Compiled, compile_plan


def compile_checked(plan: dict[str, Any], dataset: Dataset, rows: int) -> Compiled:
    """Raises InvalidInput with every problem of the plan at once."""
    return compile_plan(parse_plan(plan), dataset, max_rows=rows)
