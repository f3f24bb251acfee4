"""The scripted session keeps the seam's rules, so that what is tested with it holds for a real one."""

from __future__ import annotations

import asyncio

import pytest

from sandtable.errors import ErrorCode
from sandtable.sandbox.fake import FakeExecutor, FakeSession, Script
from sandtable.sandbox.job import Job, JobError, JobResult
from sandtable.sandbox.session import Session, SessionHost


async def _open(executor: SessionHost) -> Session:
    return await executor.open_session(Job(id="s", mode="session"))


def _code(result: JobResult) -> tuple[str, str] | None:
    return None if result.error is None else (result.error.code, result.error.type)


@pytest.fixture
def executor() -> FakeExecutor:
    made = FakeExecutor(Script(stdout="hello\n"))
    crash = JobError(code=ErrorCode.RUNNER_INTERNAL_ERROR, type="Crash", message="crashed")
    made.on("slow", Script(delay_s=3600))
    made.on("deaf", Script(deaf=True))
    made.on("crash", Script(error=crash, kills=True))
    return made


async def test_a_cell_follows_its_script(executor: FakeExecutor) -> None:
    session = await _open(executor)
    result = await session.cell("x", seed=3, names={"a": "b"})
    assert (result.job_id, result.status, result.stdout, result.rows) == (
        "s.1",
        "succeeded",
        "hello\n",
        ((42,),),
    )
    assert executor.sessions[0].cells == ["x"]


async def test_over_its_time_it_is_interrupted_and_lives(executor: FakeExecutor) -> None:
    session = await _open(executor)
    assert _code(await session.cell("slow", timeout_ms=10)) == (ErrorCode.RUNNER_TIMEOUT, "Interrupted")
    assert session.alive


async def test_an_interrupt(executor: FakeExecutor) -> None:
    session = await _open(executor)
    running = asyncio.create_task(session.cell("slow"))
    await asyncio.sleep(0.01)
    session.interrupt()
    assert _code(await running) == (ErrorCode.RUNNER_TIMEOUT, "Interrupted")
    assert session.alive


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("deaf", (ErrorCode.RUNNER_TIMEOUT, "Timeout")),
        ("crash", (ErrorCode.RUNNER_INTERNAL_ERROR, "Crash")),
    ],
)
async def test_deaths(executor: FakeExecutor, code: str, expected: tuple[str, str]) -> None:
    session = await _open(executor)
    assert _code(await session.cell(code)) == expected
    assert not session.alive
    assert _code(await session.cell("x")) == (ErrorCode.RUNNER_INTERNAL_ERROR, "SessionLost")


async def test_closed(executor: FakeExecutor) -> None:
    session = await _open(executor)
    running = asyncio.create_task(session.cell("slow"))
    await asyncio.sleep(0.01)
    await session.aclose()
    assert (await running).status == "failed"
    assert isinstance(session, FakeSession)
    assert not session.alive
