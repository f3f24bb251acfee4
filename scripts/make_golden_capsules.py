"""Make the golden capsules of today's format: `python scripts/make_golden_capsules.py` writes to tests/capsule/golden.

They are what a later Sandtable must still be able to verify. Use it once for each format: when `SCHEMA` in
`sandtable/capsule/model.py` is raised, add to `capsules()` what is new in it, run this, and commit the files with
the change. Existing files are never overwritten: those of older formats are out of its reach, and one of today's
format that would come out otherwise is named and left alone. The format has then changed without a new version, or
the chart is drawn by other rules (`MAKER`), in which case the kept figure is to be written down here.

Every byte is the same on every machine: nothing is run, the clock stands still, and Ed25519 signs without chance.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from sandtable.capsule.digests import digests_of, prompts_of
from sandtable.capsule.keys import SigningKey, public_pem
from sandtable.capsule.model import LOG_CHARS, SCHEMA, UNCHECKED, Asker, Capsule, ResultRecord, VerdictRecord
from sandtable.capsule.pin import LivePin
from sandtable.capsule.seal import seal
from sandtable.capsule.shown import ROOM_BYTES, records_of
from sandtable.catalog.model import Column, ColumnType, Dataset, Table
from sandtable.catalog.semantics.applying import with_version
from sandtable.chart.rules import FIRST_MAKER, MAKER
from sandtable.errors import ErrorCode
from sandtable.policy.verdict import Approved, Refused
from sandtable.runs.draw import draw
from sandtable.sandbox.artifact import ARTIFACTS
from sandtable.sandbox.job import JobResult, Limits, ResultColumn

TARGET = Path(__file__).resolve().parent.parent / "tests" / "capsule" / "golden"

TEST_KEY = SigningKey.of(Ed25519PrivateKey.from_private_bytes(bytes(range(32))))
"""A key for tests, known to everybody: what it signs proves nothing."""

BEGUN, ENDED = "2024-05-01T10:00:00.000Z", "2024-05-01T10:00:00.120Z"
ROWS_AT_MOST = 200
VERSION = "sha256:" + "ab" * 32
QUESTION = "what did we sell in total?"
SQL = "SELECT sum(amount) AS total FROM orders LIMIT 200"
CODE = "print('hi')\norders.agg({'amount': 'sum'})"
SALES = (
    (("category", "VARCHAR"), ("orders", "BIGINT"), ("total", "DOUBLE"), ("day", "DATE")),
    (("Bücher", 12, 12345678.25, "2024-01-31"), ("Toys", "9007199254740993", 1e20, None)),
)
"""Text beyond ASCII, an integer beyond what a double holds, a large float, nothing."""
REGIONS = (
    (("region", "VARCHAR"), ("total", "DOUBLE")),
    (("<b>North</b>", 12.5), ("South", 1234.5678901), (None, 0.1)),
)
BY_REGION = "total by region"
SHOP = Dataset(
    id="shop",
    tables=(
        Table(
            name="orders",
            file="orders.csv",
            sha256="cd" * 32,
            columns=(
                Column(name="region", type=ColumnType.TEXT, sql_type="VARCHAR"),
                Column(name="amount", type=ColumnType.FLOAT, sql_type="DOUBLE"),
                Column(name="day", type=ColumnType.DATE, sql_type="DATE"),
            ),
            time_column="day",
        ),
    ),
    as_of="2024-04-30",
    version=VERSION,
)
PLAN: dict[str, Any] = {
    "dataset_id": "shop",
    "table": "orders",
    "select": [{"column": "region"}, {"agg": "sum", "column": "amount", "as": "total"}],
    "filters": [{"column": "region", "op": "!=", "value": "<i>West</i>"}],
    "time": {"period": "this_month"},
}
"""Its title has a condition and a time that is counted from the dataset's `as_of`."""
PLANNED_SQL = (
    "SELECT region, sum(amount) AS total FROM orders WHERE region <> '<i>West</i>' AND day >= DATE '2024-04-01' "
    "AND day < DATE '2024-05-01' GROUP BY region ORDER BY region LIMIT 200"
)
SQL_IN_A_DATABASE = (
    'SELECT "region", SUM("amount") AS "total" FROM "public"."orders" GROUP BY 1 ORDER BY 1 LIMIT 200'
)
ORIGIN: dict[str, Any] = {
    "proposer": "openai:gpt-5",
    "prompts": [{"name": "plan", "sha256": "1f" * 32}, {"name": "repair", "sha256": "2e" * 32}],
    "tokens_in": 1200,
    "tokens_out": 85,
    "latency_ms": 812.5,
    "repairs": 1,
}
TABLE: dict[str, Any] = {
    "id": "table-1",
    "kind": "table",
    "title": "Nach Kategorie",
    "columns": [{"name": name, "type": kind} for name, kind in SALES[0]],
    "rows": SALES[1],
    "row_count": len(SALES[1]),
    "truncated": False,
}
PLOT: dict[str, Any] = {
    "id": "plot-1",
    "kind": "plot",
    "title": "",
    "format": "plotly",
    "figure": {"data": [{"type": "bar", "x": ["a"], "y": [0.1]}], "layout": {}},
}
PAGE: dict[str, Any] = {"id": "html-1", "kind": "html", "title": "Große Seite", "html": "x" * ROOM_BYTES}
PRINTED = "line\n" * 4000
"""Both larger than what is kept whole."""
EARLIER = (
    {"python": "import math\nlimit = 3", "interrupted": False},
    {"python": "1 / 0", "interrupted": False},
    {"python": "while True:\n    limit += 1", "interrupted": True},
)
NO_IMPORT = Refused(
    code=ErrorCode.PYTHON_POLICY_VIOLATION,
    construct="os",
    message="`os` cannot be imported here.",
    suggestion="Leave it out.",
    position=7,
    length=2,
)


def capsules() -> dict[str, Capsule]:
    """By what they show."""
    refused = {
        "code": NO_IMPORT.code,
        "message": NO_IMPORT.message,
        "suggestion": "",
        "details": {"construct": "os", "position": 7, "length": 2},
    }
    missing = {
        "code": "VALIDATION_ERROR",
        "message": "'b'",
        "suggestion": "",
        "details": {"type": "KeyError"},
    }
    return {
        "sql": _of_sql(),
        "plan": _of_plan(),
        "sql-of-a-person": _of_sql(asked_by=Asker.of("anna@example.org").model_dump()),
        "sql-of-an-address": _of_sql(asked_by=Asker.of("@192.0.2.7").model_dump()),
        "plan-in-a-database": _of_plan_in_a_database(),
        "python": _of_python(),
        "python-cell": _of_python(run_id="run_018f00000001", before=list(EARLIER[:2])),
        "python-after-an-interrupt": _of_python(run_id="run_018f00000001", before=list(EARLIER)),
        "python-unchecked": _of_python(verdict={"decision": "unchecked", "warnings": [UNCHECKED]}),
        "python-failed": _of_python(
            status="failed", result=None, error=missing, stderr='File "<cell>", line 2'
        ),
        "python-rejected": _of_python(
            status="rejected",
            python="import os",
            verdict=asdict(VerdictRecord.of(NO_IMPORT)),
            result=None,
            artifacts=[],
            stdout="",
            error=refused,
        ),
        "python-large": _of_python(artifacts=_shown(PAGE, TABLE), stdout=PRINTED),
    }


def files() -> dict[str, bytes]:
    """All files of today's format, by name; the public key they are signed with is one of them."""
    made = {
        f"v{SCHEMA}-{name}.json": (json.dumps(seal(capsule, TEST_KEY), indent=2) + "\n").encode()
        for name, capsule in capsules().items()
    }
    return {f"v{SCHEMA}-key.pem": public_pem(TEST_KEY.private.public_key()), **made}


def write(folder: Path) -> list[str]:
    """Write those that are not there; the names of those that are, and would come out otherwise."""
    other: list[str] = []
    for name, content in files().items():
        path = folder / name
        if not path.exists():
            path.write_bytes(content)
            print(f"made {name}")
        elif path.read_bytes() != content:
            other.append(name)
    return other


def _of_sql(**changes: Any) -> Capsule:
    """A question in a conversation, answered with a chart."""
    answer = _answer(REGIONS)
    return _capsule(
        question=BY_REGION,
        sql=SQL,
        executed_sql=f"{SQL};",
        verdict=asdict(VerdictRecord.of(Approved(f"{SQL};", tables=("orders",), functions=("sum",)))),
        result=ResultRecord.of(answer).model_dump(mode="json"),
        chart=draw(answer, BY_REGION, None, ROWS_AT_MOST, maker=FIRST_MAKER),
        origin=ORIGIN,
        prompts=prompts_of(ORIGIN),
        **changes,
    )


def _of_plan() -> Capsule:
    """The same from a plan: the title of the chart says its conditions and its time."""
    answer = _answer(REGIONS)
    return _capsule(
        question=BY_REGION,
        plan=PLAN,
        sql=PLANNED_SQL,
        executed_sql=f"{PLANNED_SQL};",
        verdict=asdict(VerdictRecord.of(Approved(f"{PLANNED_SQL};", tables=("orders",), functions=("sum",)))),
        result=ResultRecord.of(answer).model_dump(mode="json"),
        chart=draw(answer, BY_REGION, PLAN, ROWS_AT_MOST, SHOP, MAKER),
    )


def _of_plan_in_a_database() -> Capsule:
    """What was approved is the text as it was compiled; its rows are pinned by nothing."""
    answer = _answer(REGIONS)
    return _capsule(
        question=BY_REGION,
        plan=PLAN,
        sql=SQL_IN_A_DATABASE,
        executed_sql=SQL_IN_A_DATABASE,
        verdict=asdict(VerdictRecord.of(Approved(SQL_IN_A_DATABASE, tables=("orders",)))),
        result=ResultRecord.of(answer).model_dump(mode="json"),
        executor="postgresql",
        engine="postgresql",
        pin=LivePin(engine="postgresql", source="shop").model_dump(mode="json"),
    )


def _of_python(**changes: Any) -> Capsule:
    fields: dict[str, Any] = {
        "mode": "python",
        "engine": "duckdb 2.0.0, python 3.11.2, pandas 3.1.0",
        "python": CODE,
        "names": {"award_data": "orders"},
        "before": [],
        "verdict": asdict(VerdictRecord.of(Approved(CODE, tables=("orders",)))),
        "result": ResultRecord.of(_answer(SALES)).model_dump(mode="json"),
        "stdout": "hi\n",
        "artifacts": _shown(TABLE, PLOT),
        **changes,
    }
    return _capsule(**fields)


def _capsule(**fields: Any) -> Capsule:
    """What is common to all; the digests fit the rest."""
    whole: dict[str, Any] = {
        "run_id": "run_018f00000000", "created_at": BEGUN, "finished_at": ENDED, "status": "succeeded",
        "mode": "sql", "dataset_id": "shop", "dataset_version": VERSION,
        "catalog_version": with_version(SHOP).catalog_version, "question": QUESTION, "plan": None,
        "sql": None, "executed_sql": None, "python": None, "names": None, "before": None, "artifacts": [],
        "executor": "fake", "engine": "duckdb 2.0.0", "isolation": ["seccomp", "landlock"],
        "limits": Limits(rows=ROWS_AT_MOST).model_dump(mode="json"), "stdout": "", "stderr": "",
        "error": None, "exec_time_ms": 3.25, "cached_from": None, "prompts": [], "chart": None, "origin": None,
        "pin": {"kind": "content"}, "asked_by": {"kind": "local", "name": None}, **fields,
    }  # fmt: skip
    kept = {**whole, "stdout": whole["stdout"][:LOG_CHARS]}
    return Capsule.model_validate({**kept, "digests": digests_of(kept, whole_stdout=whole["stdout"])})


def _answer(table: tuple[tuple[tuple[str, str], ...], tuple[tuple[Any, ...], ...]]) -> JobResult:
    columns, rows = table
    return JobResult(
        job_id="j",
        status="succeeded",
        columns=tuple(ResultColumn(name=name, type=kind) for name, kind in columns),
        rows=rows,
        row_count=len(rows),
    )


def _shown(*artifacts: dict[str, Any]) -> list[dict[str, Any]]:
    return records_of(ARTIFACTS.validate_python(artifacts))


def main() -> int:
    other = write(TARGET)
    if other:
        print(
            f"left as they are, though they would come out otherwise now: {', '.join(other)}", file=sys.stderr
        )
        print("Raise SCHEMA when the format has changed; see the beginning of this file.", file=sys.stderr)
    return 1 if other else 0


if __name__ == "__main__":
    sys.exit(main())
