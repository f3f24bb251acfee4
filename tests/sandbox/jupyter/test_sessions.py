"""A kernel keeps a conversation's state as every other session does: the same tests, on the other host."""

from __future__ import annotations

import asyncio
import stat

import pytest

from sandtable.errors import ErrorCode, InvalidInput
from sandtable.sandbox.job import Job
from sandtable.sandbox.local import session as session_module
from tests.sandbox.jupyter.conftest import Bench
from tests.sandbox.local.processes import gone, pid_of
from tests.sandbox.python import test_sessions as every_session

pytestmark = pytest.mark.asyncio(loop_scope="session")

_SHARED = """
test_a_caller_that_gives_up_leaves_the_session_whole
test_a_cell_that_does_not_listen_ends_the_session
test_a_lone_surrogate_is_a_mistake
test_a_memory_error_is_survived
test_a_waiting_cell_that_is_given_up_does_not_disturb_the_one_that_runs
test_an_exit_is_only_a_mistake
test_an_interrupt_keeps_the_state
test_cells_of_one_session_take_turns
test_closing_while_a_cell_runs
test_columns_are_read_as_they_are_needed
test_names_and_limits_of_a_cell
test_over_its_time_a_cell_is_interrupted_and_the_state_kept
test_seeds
test_sessions_do_not_see_each_other
test_state_is_kept
""".split()
globals().update({name: getattr(every_session, name) for name in _SHARED})

_TAKEN_OVER = """
from IPython import get_ipython
async def answer(self, *_, **__):
    return {"status": "ok", **(%s)}
type(get_ipython().kernel).do_execute = answer
"""
_HOSTILE = {
    "nothing": ("{}", "NoAnswer"),
    "not text": ("{'sandtable': {'status': 'succeeded'}}", "NoAnswer"),
    "not JSON": ("{'sandtable': '{'}", "NoAnswer"),
    "not a number": ("{'sandtable': '{\"exec_time_ms\": NaN}'}", "NoAnswer"),
    "not an object": ("{'sandtable': '[]'}", "NoAnswer"),
    "another form": ("{'sandtable': '{}'}", "BadAnswer"),
    "too long": ("{'sandtable': ' ' * (7 << 20)}", "NoAnswer"),
    "too long to be read": ("{'sandtable': ' ' * (40 << 20)}", "NoAnswer"),
}
_DEATHS = {
    "crash": ("import ctypes\nctypes.string_at(0)", ErrorCode.RUNNER_INTERNAL_ERROR, "Crash"),
    "exit": ("import os\nos._exit(0)", ErrorCode.VALIDATION_ERROR, "SystemExit"),
    "memory of Polars": (
        "pl.select(pl.int_range(0, 10**10)).sum()", ErrorCode.RUNNER_RESOURCE_EXCEEDED, "MemoryLimit",
    ),
}  # fmt: skip


async def test_an_answer_is_as_from_any_session(bench: Bench) -> None:
    session = await bench.open()
    result = await session.cell("print('hi')\nshow(px.bar(df.head(2), x='id', y='amount'))\ndf.head(2)")
    await session.aclose()
    assert result.stdout == "hi\n[[plot-1]]\n"
    assert [artifact["id"] for artifact in result.output["artifacts"]] == ["plot-1", "table-1"]
    assert result.rows == ((0, "north", 0.0), (1, "south", 1.5))
    assert result.exec_time_ms > 0


@pytest.mark.parametrize(("content", "kind"), _HOSTILE.values(), ids=list(_HOSTILE))
async def test_a_kernel_that_was_taken_over_is_not_believed(
    bench: Bench, content: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_module, "GRACE_S", 0.2)
    session = await bench.open(check=False)
    assert (await session.cell(_TAKEN_OVER % content)).status == "succeeded"
    result = await session.cell("1", timeout_ms=1500)
    assert result.error is not None
    assert result.error.type == kind, result.error
    assert not session.alive
    await session.aclose()


@pytest.mark.parametrize(("code", "expected", "kind"), _DEATHS.values(), ids=list(_DEATHS))
async def test_a_death_is_explained(bench: Bench, code: str, expected: ErrorCode, kind: str) -> None:
    other = await bench.open(check=False, memory_mb=512)
    session = await bench.open(check=False, memory_mb=512)
    await other.cell("x = 1")
    result = await session.cell(code)
    assert result.error is not None
    assert (result.error.code, result.error.type) == (expected, kind), result.error
    assert not session.alive
    assert (await other.cell("x")).stdout == "1\n", "another session was harmed"
    await asyncio.gather(session.aclose(), other.aclose())


async def test_nothing_is_left_of_a_session(bench: Bench) -> None:
    session = await bench.open()
    folder, pid = session._kernel.folder, pid_of(session._sandbox)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    await session.cell("x = 1")
    await session.aclose()
    assert not folder.exists()
    assert not await gone({pid})


async def test_only_a_session_opens_a_session(bench: Bench) -> None:
    with pytest.raises(InvalidInput, match="session"):
        await bench.host.open_session(Job(id="1", mode="python"))
