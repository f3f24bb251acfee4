"""The gate for Python at work: size first, then the parser in a sandbox, then the judge."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from sandtable.errors import ErrorCode, RunnerBroken
from sandtable.policy.verdict import Approved, Refused, Verdict
from sandtable.sandbox import gate as sql_gate
from sandtable.sandbox import python_gate
from sandtable.sandbox.fake import FakeExecutor, Script
from sandtable.sandbox.job import Job, JobError, Limits
from sandtable.sandbox.local.executor import LocalExecutor
from sandtable.sandbox.python_gate import PythonGate
from sandtable_runner.parse_python import parse
from tests.capsule.samples import SHOP
from tests.sandbox.stores import make_store

MAX_BYTES = 10_000
LONG = "1  # " + "x" * sql_gate.SHORT


def reading(*texts: str) -> FakeExecutor:
    """A parser that answers about these texts."""
    executor = FakeExecutor()
    for text in texts:
        executor.on(text, Script(columns=(), rows=(), output=parse(text)))
    return executor


async def test_code_is_parsed_in_a_sandbox_without_data() -> None:
    executor = reading("orders.head()")
    verdict = await PythonGate(executor, max_bytes=MAX_BYTES)("orders.head()", SHOP, {})
    assert isinstance(verdict, Approved)
    assert (verdict.sql, verdict.tables) == ("orders.head()", ("orders",))
    [job] = executor.jobs
    assert (job.mode, job.data, job.dataset_version) == ("parse", (), "")
    assert job.options == {"language": "python", "keep": False}


async def test_approvals_are_remembered_by_text_data_and_names() -> None:
    executor = reading("award_data", "import os")
    gate = PythonGate(executor, max_bytes=MAX_BYTES, one_person=True)
    names = {"award_data": "orders"}
    for _ in range(2):
        assert isinstance(await gate("award_data", SHOP, names), Approved)
        assert isinstance(await gate("import os", SHOP, names), Refused)
    assert len(executor.jobs) == 3, "what was refused is looked at again"
    await gate("award_data", SHOP, {})
    assert len(executor.jobs) == 4, "without the name it is another question"


@pytest.mark.parametrize(
    "text", ["x" * (MAX_BYTES + 1), "ü" * (MAX_BYTES // 2 + 1)], ids=["letters", "bytes"]
)
async def test_long_code_is_refused_before_anything_reads_it(text: str) -> None:
    executor = FakeExecutor()
    verdict = await PythonGate(executor, max_bytes=MAX_BYTES)(text, SHOP, {})
    assert isinstance(verdict, Refused)
    size = len(text.encode())
    assert verdict.code == ErrorCode.VALIDATION_ERROR
    assert verdict.message == f"The code has {size:,} bytes; at most 10,000 are looked at."
    assert executor.jobs == []


@pytest.mark.parametrize(
    ("code", "says"),
    [
        pytest.param(ErrorCode.RUNNER_TIMEOUT, "too long or too much memory", id="slow"),
        pytest.param(ErrorCode.RUNNER_RESOURCE_EXCEEDED, "too long or too much memory", id="large"),
        pytest.param(ErrorCode.RUNNER_INTERNAL_ERROR, "could not be read: boom", id="crash"),
    ],
)
async def test_what_a_text_does_to_its_parser_is_a_refusal(code: ErrorCode, says: str) -> None:
    executor = FakeExecutor(Script(error=JobError(code=code, type="Crash", message="boom")))
    verdict = await PythonGate(executor, max_bytes=MAX_BYTES)("1", SHOP, {})
    assert isinstance(verdict, Refused)
    assert verdict.code == ErrorCode.PYTHON_POLICY_VIOLATION
    assert says in verdict.message


@pytest.mark.parametrize(
    ("text", "cpu_ms", "second_ms", "kind", "tries"),
    [
        pytest.param(LONG, 2.0, 5000, Approved, [20, 5000], id="a busy machine"),
        pytest.param(LONG, 2.0, 30, Refused, [20, 30], id="a machine that stays busy"),
        pytest.param(LONG, 19.0, 5000, Refused, [20], id="a slow text"),
        pytest.param(LONG, None, 5000, Refused, [20], id="unknown"),
        pytest.param("1", 19.0, 5000, Approved, [20, 5000], id="a short text on a machine lent to others"),
    ],
)
async def test_a_text_that_had_no_time_is_tried_again(
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    cpu_ms: float | None,
    second_ms: int,
    kind: type[Verdict],
    tries: list[int],
) -> None:
    hurried = python_gate._LIMITS.model_copy(update={"wall_ms": 20})
    monkeypatch.setattr(python_gate, "_LIMITS", hurried)
    monkeypatch.setattr(sql_gate, "SECOND_MS", second_ms)
    script = Script(columns=(), rows=(), output=parse(text), delay_s=0.1, cpu_ms=cpu_ms)
    executor = FakeExecutor(script)
    assert isinstance(await PythonGate(executor, max_bytes=MAX_BYTES)(text, SHOP, {}), kind)
    assert [job.limits.wall_ms for job in executor.jobs] == tries


async def test_a_sandbox_that_ran_out_of_time_tells_how_much_of_it_was_its_own(
    executor: LocalExecutor,
) -> None:
    limits = Limits(wall_ms=300)
    endless = Job(
        id="j", mode="sql", text="SELECT count(*) FROM range(1000000) a, range(1000000) b", limits=limits
    )
    await executor.submit(endless)
    result = await executor.result("j")
    assert result.error is not None and result.error.type == "Timeout"
    assert result.metrics["cpu_ms"] > 0


async def test_a_lost_sandbox_is_no_refusal() -> None:
    error = JobError(code=ErrorCode.RUNNER_INTERNAL_ERROR, type="SandboxLost", message="gone")
    with pytest.raises(RunnerBroken, match="lost its sandbox"):
        await PythonGate(FakeExecutor(Script(error=error)), max_bytes=MAX_BYTES)("1", SHOP, {})


@pytest_asyncio.fixture
async def executor(tmp_path: Path) -> AsyncIterator[LocalExecutor]:
    made = LocalExecutor(make_store(tmp_path).root, standby=1, presealed=0)
    yield made
    await made.aclose()


@pytest.mark.needs("userns")
async def test_hostile_text_in_a_real_sandbox(executor: LocalExecutor) -> None:
    gate = PythonGate(executor, max_bytes=100_000)
    assert isinstance(await gate("orders['amount'].sum()", SHOP, {}), Approved)
    for text in ("(" * 50_000, "-" * 99_000 + "1", "x = [" + "1," * 45_000 + "]", "\0", "x\n" * 40_000):
        verdict = await gate(text, SHOP, {})
        assert isinstance(verdict, Refused), text[:20]
        assert verdict.message and verdict.suggestion
    assert isinstance(await gate("orders['amount'].mean()", SHOP, {}), Approved), "and it goes on"


async def test_names_that_a_cell_leaves_behind() -> None:
    first = "from datetime import datetime\nimport pandas as pd"
    executor = reading(first, "datetime(2025, 1, 1)", "x =")
    gate = PythonGate(executor, max_bytes=MAX_BYTES)
    assert isinstance(await gate("datetime(2025, 1, 1)", SHOP, {}), Refused)
    assert isinstance(await gate(first, SHOP, {}), Approved)
    known = await gate.bound(first)
    assert known == {"datetime"}
    assert len(executor.jobs) == 2, "it was read already"
    assert isinstance(await gate("datetime(2025, 1, 1)", SHOP, known), Approved)
    assert await gate.bound("x =") == set()
    assert [await gate.bound(text) for text in (first, "x =")] == [known, set()]
    assert len(executor.jobs) == 4, "all that is remembered"
