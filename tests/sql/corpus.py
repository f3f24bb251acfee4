"""The corpus: titled plans with the SQL they compile to and the rows that SQL returns on the shop.

`python -m tests.sql.corpus` (with `src` on PYTHONPATH) writes the files anew from their plans; read
the difference before keeping it.
"""

from __future__ import annotations

import datetime as dt
import json
import uuid
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb

from sandtable.plan.validate import parse_plan
from sandtable.sql.compile import compile_plan
from tests.plan.shop import SHOP, connect

FOLDER = Path(__file__).parent / "corpus"

Case = dict[str, Any]


def cases() -> list[tuple[str, Case]]:
    return [
        (f"{path.stem}: {case['title']}", case)
        for path in sorted(FOLDER.glob("*.json"))
        for case in json.loads(path.read_text())
    ]


def observe(plan: Case, connection: duckdb.DuckDBPyConnection) -> Case:
    """What the plan compiles to and returns."""
    compiled = compile_plan(parse_plan(plan), SHOP)
    result = connection.execute(compiled.sql)
    columns = [name for name, *_ in result.description]
    rows = result.fetchall()
    return {
        "sql": compiled.sql.split("\n"),
        "warnings": list(compiled.warnings),
        "columns": columns,
        "rows": [[_plain(cell) for cell in row] for row in rows],
    }


def _plain(cell: object) -> object:
    match cell:
        case Decimal() | uuid.UUID():
            return str(cell)
        case dt.datetime() | dt.date() | dt.time():
            return cell.isoformat()
        case float():
            return round(cell, 9)
        case _:
            return cell


def _lines(case: Case) -> str:
    """One readable block per case: a line of SQL per line, a row per line."""
    body = []
    for key, value in case.items():
        if key in ("sql", "rows") and value:
            inner = ",\n".join(f"      {json.dumps(line, ensure_ascii=False)}" for line in value)
            body.append(f"    {json.dumps(key)}: [\n{inner}\n    ]")
        else:
            body.append(f"    {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}")
    return "  {\n" + ",\n".join(body) + "\n  }"


def rewrite() -> None:
    connection = connect()
    for path in sorted(FOLDER.glob("*.json")):
        renewed = [
            {"title": case["title"], "plan": case["plan"], **observe(case["plan"], connection)}
            for case in json.loads(path.read_text())
        ]
        path.write_text("[\n" + ",\n".join(_lines(case) for case in renewed) + "\n]\n")


if __name__ == "__main__":
    rewrite()
