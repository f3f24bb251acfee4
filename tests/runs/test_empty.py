"""A run that found nothing, explained: the counts, the values that no row has, and corrected plans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from sandtable.capsule.query import CodeQuery, PlanQuery, Query, SqlQuery
from sandtable.catalog.model import Dataset
from sandtable.errors import ErrorCode, QueueFull
from sandtable.plan.literals import Plan
from sandtable.policy.conditions import SqlConditions
from sandtable.policy.verdict import Approved, Fix, Refused, Verdict
from sandtable.runs.empty import explained, found_nothing
from sandtable.runs.explanation import Explanation
from sandtable.runs.model import Run, RunRequest
from sandtable.sandbox.job import Limits, ResultColumn
from tests.plan.test_lookup import COUNT, DATA, PROFILE, eq, plan


def ended(query: Query, rows: Sequence[Sequence[Any]], **more: Any) -> Run:
    fields: dict[str, Any] = {"status": "succeeded", "dataset_version": DATA.version, "columns": (), **more}
    return Run(
        id="run_1",
        request=RunRequest(dataset_id="shop", query=query),
        limits=Limits(),
        created_at="2026-01-01T00:00:00Z",
        rows=tuple(map(tuple, rows)),
        **fields,
    )


@dataclass
class Sandbox:
    """Answers plans of counts: all rows are nine, and no condition leaves one."""

    fails: bool = False
    plans: list[Plan] = field(default_factory=list)

    async def execute(self, query: PlanQuery | SqlQuery) -> Run:
        assert isinstance(query, PlanQuery)
        asked = query.plan
        self.plans.append(asked)
        if self.fails:
            raise QueueFull("the queue is full")
        names = [item["as"] for item in asked["select"]]
        columns = tuple(ResultColumn(name=name, type="BIGINT") for name in names)
        row = [9 if name == "all_rows" else 0 for name in names]
        return ended(PlanQuery(asked), [row], columns=columns).model_copy(update={"id": "run_counts"})


async def approve(dataset: Dataset, query: Query) -> Verdict:
    return Approved("SELECT 1")


async def unread(dataset: Dataset, sql: str) -> SqlConditions:
    raise AssertionError("a plan is not read as SQL")


async def refuse(dataset: Dataset, query: Query) -> Verdict:
    return Refused(ErrorCode.SQL_POLICY_VIOLATION, "x", "no")


EMPTY = plan(eq("status", "payed"))
FIXED = plan(eq("status", "paid"))


async def test_the_counts_and_the_nearest_value() -> None:
    sandbox = Sandbox()
    why = await explained(ended(PlanQuery(EMPTY), [[0]]), DATA, PROFILE, sandbox.execute, approve, unread)
    said = "Of 9 orders, none is left where status is payed. No row has `payed` as status."
    assert why == Explanation(said, ("run_counts",), (Fix("Use `paid` for `payed`", plan=FIXED),))
    assert len(sandbox.plans) == 1, "the profile knows the values of the column"


async def test_what_the_gate_refuses_is_not_offered() -> None:
    run = ended(PlanQuery(EMPTY), [])
    assert (await explained(run, DATA, PROFILE, Sandbox().execute, refuse, unread)).fixes == ()


async def test_without_a_count_the_values_are_still_looked_up() -> None:
    run = ended(PlanQuery(EMPTY), [])
    why = await explained(run, DATA, PROFILE, Sandbox(fails=True).execute, approve, unread)
    assert (why.text, why.run_ids) == ("No row has `payed` as status.", ()) and len(why.fixes) == 1


async def test_other_data_are_not_counted() -> None:
    sandbox = Sandbox()
    run = ended(PlanQuery(EMPTY), [], dataset_version="sha256:" + "cd" * 32)
    why = await explained(run, DATA, PROFILE, sandbox.execute, approve, unread)
    assert why.text == "No row has `payed` as status." and not sandbox.plans


@pytest.mark.parametrize(
    ("run", "nothing"),
    [
        pytest.param(ended(PlanQuery(EMPTY), []), True, id="no row"),
        pytest.param(ended(PlanQuery(EMPTY), [[0]]), True, id="a count of none"),
        pytest.param(ended(PlanQuery(EMPTY), [[3]]), False, id="rows"),
        pytest.param(ended(PlanQuery(EMPTY, dry_run=True), []), False, id="a dry run"),
        pytest.param(ended(PlanQuery(EMPTY), [], status="failed"), False, id="a failure"),
        pytest.param(ended(SqlQuery("SELECT 1"), [[1]]), False, id="SQL with rows"),
        pytest.param(ended(SqlQuery("SELECT 1", dry_run=True), []), False, id="a dry run of SQL"),
        pytest.param(ended(CodeQuery("1"), []), False, id="code"),
    ],
)
async def test_only_queries_that_found_nothing_are_explained(run: Run, nothing: bool) -> None:
    assert found_nothing(run, DATA) is nothing
    if not nothing:
        sandbox = Sandbox()
        assert await explained(run, DATA, PROFILE, sandbox.execute, approve, unread) == Explanation()
        assert not sandbox.plans


async def test_a_value_that_the_profile_does_not_list_is_looked_up_by_a_run() -> None:
    sandbox = Sandbox()
    asked = plan(eq("note", "heavy"), select=[{"column": "status"}, COUNT])

    async def execute(given: PlanQuery | SqlQuery) -> Run:
        if isinstance(given, PlanQuery) and "limit" in given.plan:
            sandbox.plans.append(given.plan)
            return ended(given, [["heavyish", 3]]).model_copy(update={"id": "run_near"})
        return await sandbox.execute(given)

    why = await explained(ended(PlanQuery(asked), []), DATA, PROFILE, execute, approve, unread)
    assert why.run_ids == ("run_counts", "run_counts", "run_near")
    assert [fix.title for fix in why.fixes] == ["Use `heavyish` for `heavy`"]
