"""A second engine, for tests: it holds its data itself and adds up one column of them.

It has type names, a query language and a gate of its own. Its results have DuckDB's type names, as those of every
engine.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from sandtable.catalog.model import Column, ColumnType, Dataset, Table
from sandtable.engines.duckdb.types import NAMES
from sandtable.errors import ErrorCode, InvalidInput
from sandtable.plan.resolved import Aggregate, ColumnRef
from sandtable.plan.validate import parse_plan, require_plan
from sandtable.policy.verdict import Approved, Refused, Verdict
from sandtable.runs.parts import Route
from sandtable.sandbox.fake import FakeExecutor, Script

_TYPES = {"STR": ColumnType.TEXT, "NUM": ColumnType.INTEGER}
_ROWS = (("Graz", 3), ("Linz", 5), ("Graz", 4))
_QUERY = re.compile(r"TOTAL amount AS (\w+) PER city IN entries FIRST ([0-9]+)")

LEDGER = Dataset(
    id="ledger",
    tables=(
        Table(
            name="entries",
            file="",
            sha256="ab" * 32,
            rows=len(_ROWS),
            columns=tuple(
                Column(name=name, type=_TYPES[kind], sql_type=kind)
                for name, kind in (("city", "STR"), ("amount", "NUM"))
            ),
        ),
    ),
    version="sha256:" + "1e" * 32,
)
PLAN: dict[str, Any] = {
    "dataset_id": "ledger",
    "table": "entries",
    "group_by": ["city"],
    "select": [{"agg": "sum", "column": "amount", "as": "total"}],
}


@dataclass(frozen=True)
class Written:
    sql: str
    warnings: tuple[str, ...] = ()
    columns: tuple[()] = ()


def write(plan: dict[str, Any], dataset: Dataset, rows: int) -> Written:
    resolved = require_plan(parse_plan(plan), dataset)
    match [output.expr for output in resolved.outputs]:
        case [ColumnRef(column="city"), Aggregate(function="sum", operand=ColumnRef(column="amount"))]:
            name = resolved.outputs[1].name
            return Written(f"TOTAL amount AS {name} PER city IN entries FIRST {rows}")
        case _:
            raise InvalidInput("the ledger cannot compute this", suggestion="Ask for the total per city.")


async def judge(text: str, dataset: Dataset) -> Verdict:
    if _QUERY.fullmatch(text):
        return Approved(text, tables=("entries",))
    return Refused(
        code=ErrorCode.SQL_POLICY_VIOLATION,
        construct="text",
        message="the ledger takes no SQL",
        suggestion="Send a plan.",
    )


class LedgerExecutor(FakeExecutor):
    name = "ledger"

    def script_of(self, text: str) -> Script:
        query = _QUERY.fullmatch(text)
        assert query is not None, "only what the gate approved is executed"
        totals: dict[str, int] = {}
        for city, amount in _ROWS:
            totals[city] = totals.get(city, 0) + amount
        columns = (("city", NAMES[_TYPES["STR"]]), (query[1], NAMES[_TYPES["NUM"]]))
        return Script(columns=columns, rows=sorted(totals.items())[: int(query[2])])


def route() -> Route:
    return Route(engine="ledger 1", compile=write, judge=judge, executor=LedgerExecutor())
