"""Fixes of plans and of whole runs: only what the gate approves is offered."""

from __future__ import annotations

from typing import Any

from sandtable.capsule.query import CodeQuery, PlanQuery, Query, SqlQuery
from sandtable.catalog.model import Dataset
from sandtable.engines.duckdb.rules import RULES
from sandtable.errors import ErrorCode, InvalidInput, Problem, RunnerBroken
from sandtable.plan.validate import parse_plan
from sandtable.policy.verdict import Approved, Fix, Refused, Verdict
from sandtable.runs.fixes import fixes_for, with_fixes
from sandtable.runs.model import Run, read_request
from sandtable.sandbox.job import Limits
from sandtable.sql.compile import compile_plan
from tests.plan.shop import SHOP


async def check(dataset: Dataset, query: Query) -> Verdict:
    """A gate that knows plans, and approves of every SQL but that of `oders`."""
    match query:
        case PlanQuery(plan):
            try:
                sql = compile_plan(parse_plan(dict(plan)), dataset).sql
            except InvalidInput as error:
                return Refused(
                    error.code, "plan", error.message, error.suggestion, details=dict(error.details)
                )
        case SqlQuery(sql) | CodeQuery(sql):
            pass
    return Refused(ErrorCode.VALIDATION_ERROR, "oders", "no") if "oders" in sql else Approved(sql)


async def broken(dataset: Dataset, query: Query) -> Verdict:
    raise RunnerBroken("the gate lost its sandbox")


def ended(status: str, error: Problem | None, **request: Any) -> Run:
    return Run.model_validate(
        {
            "id": "run_1",
            "status": status,
            "request": read_request({"dataset_id": "shop", **request}),
            "dataset_version": SHOP.version,
            "limits": Limits(),
            "created_at": "2025-01-01T00:00:00Z",
            "error": error,
        }
    )


async def fixes_of_plan(plan: dict[str, Any]) -> tuple[Fix, ...]:
    query = PlanQuery(plan)
    verdict = await with_fixes(check, SHOP, await check(SHOP, query), query, RULES)
    assert isinstance(verdict, Refused)
    return verdict.fixes


async def test_a_plan_is_mended_until_it_compiles() -> None:
    plan: dict[str, Any] = {
        "dataset_id": "shop",
        "table": "orders",
        "select": [{"agg": "count"}],
        "filters": [{"column": "statu", "op": "equals", "value": "x"}],
    }
    [fix] = await fixes_of_plan(plan)
    assert fix.title == "Use `=` and `status`"
    assert fix.plan == {**plan, "filters": [{"column": "status", "op": "=", "value": "x"}]}


async def test_a_plan_that_would_still_not_compile_is_not_offered() -> None:
    plan = {"dataset_id": "shop", "table": "oders", "select": [{"column": "zzzz"}]}
    assert await fixes_of_plan(plan) == ()


async def test_an_approval_needs_no_fix() -> None:
    approved = Approved("SELECT 1")
    assert await with_fixes(broken, SHOP, approved, SqlQuery("SELECT 1"), RULES) is approved


async def test_a_rejected_run_is_mended_by_the_place_its_error_names() -> None:
    sql = "SELECT count(*) FROM oders"
    details = {"construct": "oders", "position": 21, "length": 5}
    error = Problem(code=ErrorCode.VALIDATION_ERROR, message="There is no table 'oders'.", details=details)
    run = ended("rejected", error, sql=sql)
    assert await fixes_for(check, SHOP, run, RULES) == (Fix("Use `orders`", "SELECT count(*) FROM orders"),)
    assert await fixes_for(broken, SHOP, run, RULES) == (), "the refusal stands without them"


async def test_a_failed_run_is_mended_when_the_engine_says_what_there_is() -> None:
    message = 'there is no column "chanel" in the tables of this query'
    error = Problem(
        code=ErrorCode.VALIDATION_ERROR,
        message=message,
        suggestion='did you mean "channel"?',
        details={"type": "BinderException"},
    )
    fixed = (Fix("Use `channel`", "SELECT channel FROM orders"),)
    assert (
        await fixes_for(check, SHOP, ended("failed", error, sql="SELECT chanel FROM orders"), RULES) == fixed
    )
    other = error.model_copy(update={"details": {"type": "Timeout"}})
    assert await fixes_for(check, SHOP, ended("failed", error, sql="SELECT chanel FROM orders"), None) == ()
    assert await fixes_for(check, SHOP, ended("failed", other, sql="SELECT chanel FROM orders"), RULES) == ()


async def test_a_run_that_succeeded_has_none() -> None:
    assert await fixes_for(broken, SHOP, ended("succeeded", None, sql="SELECT 1"), RULES) == ()
