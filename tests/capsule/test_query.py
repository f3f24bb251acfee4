"""A query is one of three things, whatever the fields it is read from say."""

from __future__ import annotations

from typing import Any

import pytest

from sandtable.capsule.query import CodeQuery, PlanQuery, Query, SqlQuery, fields_of, fitted_plan, query_of
from sandtable.errors import ErrorCode, InvalidInput

QUERIES: list[Query] = [
    PlanQuery({"table": "orders"}),
    PlanQuery({"table": "orders"}, dry_run=True),
    SqlQuery("SELECT 1"),
    SqlQuery("SELECT 1", dry_run=True),
    CodeQuery("orders"),
    CodeQuery("orders", {"sales": "orders"}, check=False, session="s"),
]


@pytest.mark.parametrize("query", QUERIES, ids=repr)
def test_what_is_written_is_read_as_the_same(query: Query) -> None:
    assert query_of(**fields_of(query)) == query


@pytest.mark.parametrize("mode", ["sql", "python"])
def test_code_needs_no_mode(mode: Any) -> None:
    assert query_of(python="1", mode=mode) == CodeQuery("1")
    assert CodeQuery("1").mode == "python"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "a check needs a plan, SQL or Python"),
        ({"plan": {}, "sql": ""}, "a check cannot have both `plan` and `sql`"),
        ({"plan": {}, "sql": "", "python": ""}, "a check cannot have both `plan` and `sql` and `python`"),
        ({"python": "1", "mode": "dry_run"}, "the mode `dry_run` is not for Python"),
        ({"plan": {}, "mode": "python"}, "the mode `python` is not for SQL"),
        ({"sql": "SELECT 1", "check": False}, "only Python can run unchecked"),
        ({"sql": "SELECT 1", "names": {"a": "b"}}, "only Python has further names for tables"),
        ({"plan": {}, "session": "s"}, "only Python runs in a session"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_fields_that_make_no_query(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        query_of(**fields, what="a check")
    assert (refused.value.message, refused.value.code) == (message, ErrorCode.VALIDATION_ERROR)
    assert refused.value.suggestion


def test_a_plan_need_not_repeat_the_dataset() -> None:
    assert fitted_plan({"table": "orders"}, "shop") == {"table": "orders", "dataset_id": "shop"}
    assert fitted_plan({"dataset_id": "other"}, "shop") == {"dataset_id": "other"}
