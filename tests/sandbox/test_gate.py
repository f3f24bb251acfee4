"""The gate at work: what the compiler writes passes, hostile text is refused in time, in a real sandbox."""

from __future__ import annotations

import copy
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from hypothesis import given

from sandtable.catalog.convert import ColumnPlace, CompareRequest, Comparison, Counts
from sandtable.catalog.model import Dataset
from sandtable.catalog.registry import load_catalog, registry_folder
from sandtable.engines.duckdb.rules import RULES
from sandtable.engines.duckdb.types import column_type
from sandtable.errors import ErrorCode, RunnerBroken
from sandtable.plan.validate import parse_plan
from sandtable.policy.gate import judge
from sandtable.policy.pregate import pregate
from sandtable.policy.verdict import Approved, Refused, Verdict
from sandtable.sandbox.convert import SandboxedConvert
from sandtable.sandbox.executor import JobStatus
from sandtable.sandbox.gate import Gate, is_large, parse_job
from sandtable.sandbox.job import Job, JobResult
from sandtable.sandbox.local.executor import LocalExecutor
from sandtable.sql.compile import compile_plan
from sandtable_runner import engine
from sandtable_runner.parse import parse, prepare
from tests.plan.shop import SHOP
from tests.plan.strategies import plans
from tests.sandbox.stores import make_store

CATALOG = load_catalog(registry_folder(), column_type)
ENGINE = engine.connect()
prepare(ENGINE)
MAX_BYTES = 64 << 10
PATIENCE_S = 1.0
# What a busy machine may add. A gate without a clock of its own would take minutes.
BUSY_S = 15.0


def judged_here(text: str, dataset: Dataset) -> Verdict:
    refused = pregate(text, 1 << 20)
    return refused or judge(
        text, parse(ENGINE, text, parse_job(text, dataset).options["float_columns"]), dataset, RULES
    )


@given(plans(SHOP))
def test_every_plan_compiles_to_sql_that_the_gate_accepts(plan: dict[str, Any]) -> None:
    sql = compile_plan(parse_plan(plan), SHOP).sql
    verdict = judged_here(sql, SHOP)
    assert isinstance(verdict, Approved), (sql, verdict)


@pytest.mark.parametrize("dataset", CATALOG.values(), ids=lambda dataset: dataset.id)
def test_every_metric_compiles_to_sql_that_the_gate_accepts(dataset: Dataset) -> None:
    for metric in dataset.metrics:
        plan = {"dataset_id": dataset.id, "table": metric.table, "select": [{"metric": metric.name}]}
        verdict = judged_here(compile_plan(parse_plan(plan), dataset).sql, dataset)
        assert isinstance(verdict, Approved), (metric.name, verdict)


@pytest_asyncio.fixture
async def gate(tmp_path: Path) -> AsyncIterator[Gate]:
    executor = LocalExecutor(make_store(tmp_path).root)
    await executor.start()
    yield Gate(executor, RULES, max_bytes=MAX_BYTES)
    await executor.aclose()


HOSTILE = {
    "1 MB of brackets": "SELECT " + "(" * 500_000 + "1" + ")" * 500_000,
    "1 MB of one literal": "SELECT '" + "x" * 1_000_000 + "'",
    "deep brackets within the size limit": "SELECT " + "(" * 30_000 + "1" + ")" * 30_000,
    "deep CASE": "SELECT " + "CASE WHEN 1=1 THEN " * 3_000 + "1" + " END" * 3_000,
    "deep NOT": "SELECT " + "NOT " * 15_000 + "true",
    "a chain of unions": " UNION ALL ".join(["SELECT 1"] * 4_000),
    "a chain of additions": "SELECT " + "+".join(["1"] * 30_000),
    "many joins": "SELECT 1 FROM orders " + "JOIN orders USING (id) " * 2_500,
    "deep subqueries": "SELECT * FROM (" * 3_000 + "SELECT 1" + ")" * 3_000,
    "many grouping sets": "SELECT 1 FROM orders GROUP BY CUBE (" + ",".join(f"c{i}" for i in range(40)) + ")",
    "NUL bytes": "SELECT 1\0",
    "only brackets open": "(" * 60_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
async def test_hostile_text_is_refused_or_judged_in_time(gate: Gate, text: str) -> None:
    dataset = CATALOG.get("ecommerce")
    await gate("SELECT 1", dataset)
    started = time.perf_counter()
    verdict = await gate(text, dataset)
    assert time.perf_counter() - started < PATIENCE_S + BUSY_S
    if isinstance(verdict, Approved):
        assert len(text) < MAX_BYTES
    else:
        assert verdict.message and verdict.suggestion
    assert isinstance(await gate("SELECT count(*) FROM orders", dataset), Approved)


async def test_the_real_gate_says_what_is_wrong_and_where(gate: Gate) -> None:
    text = "SELECT * FROM orders WHERE note = (SELECT content FROM read_text('/etc/passwd'))"
    verdict = await gate(text, CATALOG.get("ecommerce"))
    assert isinstance(verdict, Refused) and verdict.code is ErrorCode.SQL_POLICY_VIOLATION
    assert verdict.position is not None and text[verdict.position :].startswith("read_text")


def test_sums_are_compensated_on_large_data_only() -> None:
    small = CATALOG.get("sensors")
    table = small.tables[0].model_copy(update={"rows": 10_000_000})
    large = small.model_copy(update={"tables": (table, *small.tables[1:])})
    assert not is_large(small) and is_large(large)
    column = next(c.name for c in small.tables[0].columns if c.sql_type == "DOUBLE")
    text = f"SELECT sum({column}) FROM {small.tables[0].name}"
    assert "fsum" not in approved(text, small).sql
    assert "fsum" in approved(text, large).sql
    elsewhere = f"SELECT sum({column}) FROM (SELECT 1 AS {column})"
    assert "fsum" not in approved(elsewhere, large).sql


def approved(text: str, dataset: Dataset) -> Approved:
    verdict = judged_here(text, dataset)
    assert isinstance(verdict, Approved), verdict
    return verdict


class _Counting:
    """An executor that parses here and counts how often it is asked."""

    name = "counting"

    def __init__(self) -> None:
        self.jobs: list[Job] = []

    async def submit(self, job: Job) -> None:
        self.jobs.append(job)

    async def result(self, job_id: str) -> JobResult:
        text = self.jobs[-1].text
        return JobResult(job_id=job_id, status="succeeded", output=parse(ENGINE, text, None))

    async def status(self, job_id: str) -> JobStatus:
        return "done"

    async def cancel(self, job_id: str) -> None: ...

    async def aclose(self) -> None: ...


async def test_an_approval_is_remembered_for_the_same_text_and_data_only() -> None:
    executor = _Counting()
    gate = Gate(executor, RULES, max_bytes=MAX_BYTES, remembered=2)
    other = SHOP.model_copy(update={"version": "sha256:" + "b" * 64})
    first = await gate("SELECT count(*) FROM orders", SHOP)
    assert isinstance(first, Approved)
    assert await gate("SELECT count(*) FROM orders", SHOP) is first
    assert len(executor.jobs) == 1
    await gate("SELECT count(*) FROM orders", other)
    await gate("SELECT count(*) FROM orders ", SHOP)
    assert len(executor.jobs) == 3
    await gate("SELECT count(*) FROM orders", SHOP)
    assert len(executor.jobs) == 4, "the oldest of three was forgotten"


async def test_a_refusal_is_looked_at_again() -> None:
    executor = _Counting()
    gate = Gate(executor, RULES, max_bytes=MAX_BYTES)
    for _ in range(2):
        assert isinstance(await gate("SELECT * FROM nowhere", SHOP), Refused)
    assert len(executor.jobs) == 2


class _Lying(_Counting):
    """A parser that was taken over: at one place of its answer stands something else."""

    def __init__(self, output: dict[str, Any]) -> None:
        super().__init__()
        self._output = output

    async def result(self, job_id: str) -> JobResult:
        return JobResult(job_id=job_id, status="succeeded", output=self._output)


_GROUPED = "SELECT status, count(*) AS n FROM orders WHERE status IS NOT NULL GROUP BY 1 ORDER BY 2 LIMIT 5"


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*path, key)
        yield from _places(item, (*path, key))


@pytest.mark.parametrize("lie", [None, 5, "x", [], {}, [None], {"a": 1}, True], ids=str)
async def test_a_lying_parser_approves_nothing_else_and_breaks_nothing(lie: Any) -> None:
    """Either the text is judged as another one, or there is one clear error."""
    honest = parse(ENGINE, _GROUPED, None)
    assert isinstance(judge(_GROUPED, honest, SHOP, RULES), Approved)
    for path in _places(honest):
        output = copy.deepcopy(honest)
        place: Any = output
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = lie
        try:
            verdict = await Gate(_Lying(output), RULES, max_bytes=MAX_BYTES)(_GROUPED, SHOP)
        except RunnerBroken:
            continue
        assert isinstance(verdict, Approved | Refused)


@pytest.mark.parametrize(
    "changes",
    [
        {"ones": None}, {"ones": []}, {"ones": [[1, 1, 1]]}, {"ones": [[1, 1, 1, -1]]}, {"ones": [[1, 1, "1", 1]]},
        {"ones": [None, None]}, {"pairs": []}, {"pairs": [[1]]}, {"pairs": [[True, 0]]}, {"pairs": [[1, 0.0]]},
        {"pairs": [[None, 0]]}, {"links": []},
    ],
    ids=str,
)  # fmt: skip
async def test_a_lying_comparison_is_one_clear_error(changes: dict[str, Any]) -> None:
    one, many = ColumnPlace("customers", "id"), ColumnPlace("orders", "customer_id")
    request = CompareRequest({}, (one,), ((many, one),), "incoming/x", "staging/x")
    output = {"ones": [[2, 2, 2, 1]], "pairs": [[3, 0]]}
    found = await SandboxedConvert(_Lying(output), threads=1).compare(request)
    assert found == Comparison((Counts(2, 2, 2, 1),), ((3, 0),))
    with pytest.raises(RunnerBroken, match="agreed form"):
        await SandboxedConvert(_Lying({**output, **changes}), threads=1).compare(request)
