"""Requests as rows of the run store hold them."""

from __future__ import annotations

from typing import Any

import pytest

from sandtable.capsule.query import CodeQuery, PlanQuery, Query, SqlQuery
from sandtable.runs.model import Run, body_of, run_of
from sandtable.sandbox.job import Limits
from sandtable.store.run_store import RunRecord

COMMON: dict[str, Any] = {
    "dataset_id": "shop",
    "question": "why?",
    "user": "local",
    "max_rows": None,
    "timeout_ms": None,
    "cache": True,
    "chart": False,
    "origin": None,
}
NO_QUERY: dict[str, Any] = {
    "plan": None,
    "sql": None,
    "python": None,
    "names": {},
    "check": True,
    "mode": "sql",
    "session": None,
}
CODE = {"python": "1", "names": {"a": "orders"}, "check": False, "mode": "python", "session": "s"}
ROWS: list[tuple[dict[str, Any], Query]] = [
    ({"plan": {"table": "orders"}, "mode": "dry_run"}, PlanQuery({"table": "orders"}, dry_run=True)),
    ({"sql": "SELECT 1"}, SqlQuery("SELECT 1")),
    (CODE, CodeQuery("1", {"a": "orders"}, check=False, session="s")),
]


def run_in(request: dict[str, Any]) -> Run:
    body = {"request": request, "dataset_version": "v", "limits": Limits().model_dump(), "created_at": "t"}
    return run_of(
        RunRecord(
            id="run_1", owner="o", user="local", dataset_id="shop", created_at="t", body=body, search=""
        )
    )


@pytest.mark.parametrize(("fields", "query"), ROWS, ids=["plan", "sql", "code"])
def test_a_row_has_the_same_fields_in_every_version(fields: dict[str, Any], query: Query) -> None:
    row = COMMON | NO_QUERY | fields
    run = run_in(row)
    assert run.request.query == query
    assert body_of(run)["request"] == row


def test_a_row_from_before_python_is_read() -> None:
    later = {"python", "names", "check", "session", "origin", "chart"}
    row = {
        name: value for name, value in (COMMON | NO_QUERY | {"sql": "SELECT 1"}).items() if name not in later
    }
    assert run_in(row).request.query == SqlQuery("SELECT 1")
