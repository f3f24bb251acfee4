"""A small world for capsules: a dataset, a key, capsules of every status, and how to derive them again."""

from __future__ import annotations

import base64
from collections.abc import Collection
from dataclasses import asdict
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from sandtable.capsule.digests import digests_of, prompts_of
from sandtable.capsule.keys import SigningKey
from sandtable.capsule.model import Capsule, ResultRecord, VerdictRecord
from sandtable.capsule.seal import PAYLOAD_TYPE, pre_authentication
from sandtable.capsule.shown import records_of
from sandtable.capsule.verify import Rederive
from sandtable.catalog.model import Column, ColumnType, Dataset, Table
from sandtable.errors import ErrorCode, InvalidInput
from sandtable.policy.verdict import Approved, Refused, Verdict
from sandtable.runs.draw import draw
from sandtable.sandbox.artifact import ARTIFACTS
from sandtable.sandbox.job import JobResult, Limits, ResultColumn

VERSION = "sha256:" + "ab" * 32
CATALOG_VERSION = "sha256:" + "ef" * 32
KEY = SigningKey.of(Ed25519PrivateKey.from_private_bytes(bytes(range(32))))
PLAN = {
    "dataset_id": "shop",
    "table": "orders",
    "select": [{"agg": "sum", "column": "amount", "as": "total"}],
}
SQL = "SELECT sum(amount) AS total FROM orders LIMIT 200"
CANONICAL_SQL = "SELECT sum(amount) AS total FROM orders LIMIT 200;"
COLUMNS = (
    ResultColumn(name="category", type="VARCHAR"),
    ResultColumn(name="orders", type="BIGINT"),
    ResultColumn(name="total", type="DOUBLE"),
    ResultColumn(name="day", type="DATE"),
)
ROWS = (("Bücher", 12, 12345678.25, "2024-01-31"), ("Toys", "9007199254740993", 1e20, None))

SHOP = Dataset(
    id="shop",
    tables=(
        Table(
            name="orders",
            file="orders.csv",
            sha256="cd" * 32,
            rows=3,
            columns=(Column(name="amount", type=ColumnType.FLOAT, sql_type="DOUBLE"),),
        ),
    ),
    version=VERSION,
    catalog_version=CATALOG_VERSION,
)


def answer(rows: tuple[tuple[Any, ...], ...] = ROWS) -> JobResult:
    return JobResult(job_id="j", status="succeeded", columns=COLUMNS, rows=rows, row_count=len(rows))


def capsule(**changes: Any) -> Capsule:
    """A succeeded run of PLAN, with `changes`; its digests fit whatever it holds."""
    fields: dict[str, Any] = {
        "run_id": "run_018f00000000",
        "created_at": "2024-05-01T10:00:00.000Z",
        "finished_at": "2024-05-01T10:00:00.120Z",
        "status": "succeeded",
        "mode": "sql",
        "dataset_id": "shop",
        "dataset_version": VERSION,
        "catalog_version": CATALOG_VERSION,
        "question": "what did we sell in total?",
        "plan": PLAN,
        "sql": SQL,
        "executed_sql": CANONICAL_SQL,
        "python": None,
        "names": None,
        "before": None,
        "artifacts": [],
        "verdict": asdict(VerdictRecord.of(Approved(CANONICAL_SQL, tables=("orders",), functions=("sum",)))),
        "executor": "fake",
        "engine": "duckdb 2.0.0",
        "isolation": ["seccomp", "landlock"],
        "limits": Limits.model_validate({"rows": 200}).model_dump(mode="json"),
        "result": ResultRecord.of(answer()).model_dump(mode="json"),
        "stdout": "",
        "stderr": "",
        "error": None,
        "exec_time_ms": 3.25,
        "cached_from": None,
        "prompts": [],
        "chart": None,
        "origin": None,
        "pin": {"kind": "content"},
        "asked_by": {"kind": "local", "name": None},
        **changes,
    }
    return Capsule.model_validate({**fields, "digests": digests_of(fields)})


def signed(payload: bytes, key: SigningKey = KEY) -> dict[str, Any]:
    """An envelope around any bytes, with a signature that fits them."""
    signature = key.sign(pre_authentication(PAYLOAD_TYPE, payload))
    return {
        "payloadType": PAYLOAD_TYPE,
        "payload": base64.b64encode(payload).decode(),
        "signatures": [{"keyid": key.keyid, "sig": base64.b64encode(signature).decode()}],
    }


REFUSED = Refused(
    code=ErrorCode.SQL_POLICY_VIOLATION,
    construct="read_csv",
    message="`read_csv` reads files",
    suggestion="Query the dataset's tables.",
    position=14,
    length=8,
)


def rejected(**changes: Any) -> Capsule:
    return capsule(
        **{
            "status": "rejected",
            "plan": None,
            "sql": "SELECT * FROM read_csv('x')",
            "executed_sql": None,
            "verdict": asdict(VerdictRecord.of(REFUSED)),
            "result": None,
            "error": {
                "code": "SQL_POLICY_VIOLATION",
                "message": REFUSED.message,
                "suggestion": REFUSED.suggestion,
                "details": {"construct": "read_csv", "position": 14, "length": 8},
            },
            **changes,
        }
    )


CHART_COLUMNS = (ResultColumn(name="region", type="VARCHAR"), ResultColumn(name="total", type="DOUBLE"))
CHART_ROWS = (("<b>North</b>", 12.5), ("South", 1234.5678901), (None, 0.1))
ORIGIN: dict[str, Any] = {
    "proposer": "openai:gpt-5",
    "prompts": [{"name": "plan", "sha256": "1f" * 32}, {"name": "repair", "sha256": "2e" * 32}],
    "tokens_in": 1200,
    "tokens_out": 85,
    "latency_ms": 812.5,
    "repairs": 1,
}


def chart_answer(rows: tuple[tuple[Any, ...], ...] = CHART_ROWS) -> JobResult:
    return JobResult(job_id="j", status="succeeded", columns=CHART_COLUMNS, rows=rows, row_count=len(rows))


def charted(given: JobResult | None = None, **changes: Any) -> Capsule:
    """A run from a conversation, with the figure that its rows give."""
    made = given or chart_answer()
    fields: dict[str, Any] = {
        "plan": None,
        "question": "total by region",
        "result": ResultRecord.of(made).model_dump(mode="json"),
        "chart": draw(made, "total by region", None, 200),
        "origin": ORIGIN,
        "prompts": prompts_of(ORIGIN),
        **changes,
    }
    return capsule(**fields)


CODE = "print('hi')\norders.agg({'amount': 'sum'})"
TABLE_SHOWN: dict[str, Any] = {
    "id": "table-1",
    "kind": "table",
    "title": "Nach Kategorie",
    "columns": [column.model_dump() for column in COLUMNS],
    "rows": [list(row) for row in ROWS],
    "row_count": len(ROWS),
    "truncated": False,
}
PLOT_SHOWN: dict[str, Any] = {
    "id": "plot-1",
    "kind": "plot",
    "title": "",
    "format": "plotly",
    "figure": {"data": [{"type": "bar", "x": ["a"], "y": [0.1]}], "layout": {}},
}


def shown(*artifacts: dict[str, Any]) -> list[dict[str, Any]]:
    return records_of(ARTIFACTS.validate_python(artifacts))


def code_answer(*artifacts: dict[str, Any], stdout: str = "hi\n") -> JobResult:
    given = list(artifacts or (TABLE_SHOWN, PLOT_SHOWN))
    return answer().model_copy(update={"stdout": stdout, "output": {"artifacts": given}})


def coded(**changes: Any) -> Capsule:
    """A succeeded run of CODE."""
    fields: dict[str, Any] = {
        "mode": "python",
        "plan": None,
        "sql": None,
        "executed_sql": None,
        "python": CODE,
        "names": {"award_data": "orders"},
        "before": [],
        "artifacts": shown(TABLE_SHOWN, PLOT_SHOWN),
        "stdout": "hi\n",
        "engine": "duckdb 2.0.0, python 3.11.2, pandas 3.1.0",
        "verdict": asdict(VerdictRecord.of(Approved(CODE, tables=("orders",)))),
        **changes,
    }
    return capsule(**fields)


def world(
    *,
    version: str = VERSION,
    compiled: str = SQL,
    verdict: Verdict | None = None,
    result: JobResult | None = None,
    **changes: Any,
) -> Rederive:
    """Everything as it was when the samples were made, unless told otherwise."""

    async def dataset(dataset_id: str, wanted: str, catalog_version: str | None) -> Dataset:
        return SHOP

    async def rehash(found: Dataset) -> str:
        return version

    def compile_plan(plan: dict[str, Any], found: Dataset, rows: int) -> str:
        if plan.get("table") != "orders":
            raise InvalidInput("no such table")
        return compiled

    async def judge(text: str, found: Dataset) -> Verdict:
        if verdict is not None:
            return verdict
        if "read_csv" in text:
            return REFUSED
        return Approved(CANONICAL_SQL, tables=("orders",), functions=("sum",))

    async def judge_python(text: str, found: Dataset, names: Collection[str]) -> Verdict:
        return verdict or Approved(text, tables=("orders",))

    async def run(made: Capsule, approved: Approved, found: Dataset) -> JobResult:
        return result or answer()

    steps: dict[str, Any] = {
        "keys": {KEY.keyid: KEY.private.public_key()},
        "dataset": dataset,
        "rehash": rehash,
        "compile": compile_plan,
        "judge": judge,
        "judge_python": judge_python,
        "run": run,
        "draw": draw,
        **changes,
    }
    return Rederive(**steps)
