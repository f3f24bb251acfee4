"""Sessions: state between cells, interrupts that keep it, deaths that are explained, walls between sessions."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest

from sandtable.errors import ErrorCode, InvalidInput
from sandtable.sandbox.job import Limits
from sandtable.sandbox.local import session as session_module
from sandtable.sandbox.local.session import LocalSession
from tests.sandbox.python.conftest import Bench

pytestmark = pytest.mark.asyncio(loop_scope="session")

_STUBBORN = """
while True:
    try:
        for _ in range(10**9):
            sum(range(100))
    except BaseException:
        pass
"""


@contextlib.asynccontextmanager
async def _session(bench: Bench, **given: Any) -> AsyncIterator[LocalSession]:
    session = await bench.open(**given)
    try:
        yield session
    finally:
        await session.aclose()


async def test_state_is_kept(bench: Bench) -> None:
    async with _session(bench) as session:
        assert (await session.cell("x = df['amount'].sum()\ndef f(n): return n * 2")).status == "succeeded"
        assert (await session.cell("f(x) == x + x")).stdout == "np.True_\n"
        assert (await session.cell("nope")).status == "failed"
        result = await session.cell("show(df.head(1))\ndf.head(2)")
        assert [artifact["id"] for artifact in result.output["artifacts"]] == ["table-1", "table-2"]
        assert (await session.cell("df.head(3)")).output["displayed"] == "table-3"
        assert session.alive


async def test_columns_are_read_as_they_are_needed(bench: Bench) -> None:
    async with _session(bench, data=bench.wide()) as session:
        assert (await session.cell("wide['c1'].sum()")).output["loaded"] == {"wide": ["c1"]}
        assert (await session.cell("wide['c2'].sum()")).output["loaded"] == {"wide": ["c1", "c2"]}
        assert (await session.cell("wide.shape")).stdout == "(100, 300)\n"


async def test_names_and_limits_of_a_cell(bench: Bench) -> None:
    async with _session(bench, names={"first": "orders"}) as session:
        assert (
            await session.cell("len(first), len(second)", names={"second": "orders"})
        ).stdout == "(2000, 2000)\n"
        result = await session.cell("df", limits=Limits(rows=3))
        assert (len(result.rows), result.truncated) == (3, True)
        cut = await session.cell("print('x' * 100)", limits=Limits(log_bytes=10))
        assert cut.stdout == "x" * 10 + "\n… [output truncated at 10 bytes]"
        with pytest.raises(InvalidInput):
            await session.cell("1", timeout_ms=0)


async def test_seeds(bench: Bench) -> None:
    async with _session(bench) as session:
        drawn = [(await session.cell("random.random()", seed=seed)).stdout for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]


@pytest.mark.parametrize(
    "code",
    ["while True: pass", "sql('select count(*) from range(100000000000) t(x) where hash(x) = 1')",
     "import time\ntime.sleep(60)"],
    ids=["loop", "engine", "sleep"],
)  # fmt: skip
async def test_over_its_time_a_cell_is_interrupted_and_the_state_kept(bench: Bench, code: str) -> None:
    async with _session(bench, check=False) as session:
        await session.cell("x = 41")
        result = await session.cell(f"y = 5\n{code}", timeout_ms=300)
        assert result.error is not None
        assert (result.error.code, result.error.type) == (ErrorCode.RUNNER_TIMEOUT, "Interrupted")
        assert "0.3 s" in result.error.message
        assert session.alive
        assert (await session.cell("x, y")).stdout == "(41, 5)\n"


async def test_an_interrupt_that_comes_before_the_cell_has_begun_is_not_lost(bench: Bench) -> None:
    async with _session(bench) as session:
        for _ in range(10):
            result = await session.cell("while True: pass", timeout_ms=1)
            assert result.error is not None and result.error.type == "Interrupted"
        assert session.alive


async def test_an_interrupt_keeps_the_state(bench: Bench) -> None:
    async with _session(bench) as session:
        session.interrupt()
        running = asyncio.create_task(session.cell("x = 1\nprint('begun')\nwhile True: pass"))
        await asyncio.sleep(0.3)
        session.interrupt()
        result = await running
        assert result.error is not None
        assert (result.error.code, result.error.type) == (ErrorCode.RUNNER_TIMEOUT, "Interrupted")
        assert result.stdout == "begun\n"
        assert "KeyboardInterrupt" in result.stderr
        assert (await session.cell("x")).stdout == "1\n"


async def test_a_cell_that_does_not_listen_ends_the_session(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_module, "GRACE_S", 0.3)
    async with _session(bench) as session:
        result = await session.cell(_STUBBORN, timeout_ms=200)
        assert result.error is not None
        assert (result.error.code, result.error.type) == (ErrorCode.RUNNER_TIMEOUT, "Timeout")
        assert "variables" in result.error.message
        assert not session.alive
        after = await session.cell("1")
        assert after.error is not None
        assert after.error.type == "SessionLost"


_DEATHS = {
    "crash": ("import ctypes\nctypes.string_at(0)", ErrorCode.RUNNER_INTERNAL_ERROR, "Crash"),
    "exit": ("import os\nos._exit(0)", ErrorCode.VALIDATION_ERROR, "SystemExit"),
    "memory of Polars": (
        "pl.select(pl.int_range(0, 10**10)).sum()", ErrorCode.RUNNER_RESOURCE_EXCEEDED, "MemoryLimit",
    ),
    "nonsense": ("import os\nos.write(3, b'\\0\\0\\0\\1x')", ErrorCode.RUNNER_INTERNAL_ERROR, "NoAnswer"),
    "a wrong answer": ("import os\nos.write(3, b'\\0\\0\\0\\2{}')", ErrorCode.RUNNER_INTERNAL_ERROR, "BadAnswer"),
}  # fmt: skip


@pytest.mark.parametrize(("code", "expected", "kind"), _DEATHS.values(), ids=list(_DEATHS))
async def test_a_death_is_explained(bench: Bench, code: str, expected: ErrorCode, kind: str) -> None:
    async with (
        _session(bench, check=False, memory_mb=512) as other,
        _session(bench, check=False, memory_mb=512) as session,
    ):
        await other.cell("x = 1")
        result = await session.cell(code)
        assert result.error is not None
        assert (result.error.code, result.error.type) == (expected, kind), result.error
        assert not session.alive
        assert (await other.cell("x")).stdout == "1\n", "another session was harmed"


async def test_a_memory_error_is_survived(bench: Bench) -> None:
    async with _session(bench, memory_mb=256) as session:
        await session.cell("x = 1")
        result = await session.cell("y = []\nwhile True: y.append('a' * 10**6 + str(len(y)))")
        assert result.error is not None
        assert result.error.code == ErrorCode.RUNNER_RESOURCE_EXCEEDED
        assert (await session.cell("del y\nx")).stdout == "1\n"


async def test_an_exit_is_only_a_mistake(bench: Bench) -> None:
    async with _session(bench, check=False) as session:
        result = await session.cell("import sys\nx = 1\nsys.exit()")
        assert result.error is not None
        assert (result.error.code, result.error.type) == (ErrorCode.VALIDATION_ERROR, "SystemExit")
        assert (await session.cell("x")).stdout == "1\n"


async def test_sessions_do_not_see_each_other(bench: Bench) -> None:
    async with _session(bench, check=False) as one, _session(bench, check=False) as other:
        await one.cell("x = 1\npd.seen = 1\ncon.execute('create table mine as select 1')\norders['z'] = 1")
        await one.cell("open('/scratch/mine', 'w').write('x')")
        result = await other.cell(
            "import os\n'x' in globals(), hasattr(pd, 'seen'), len(sql('show tables')), 'z' in orders, "
            "os.path.exists('/scratch/mine')"
        )
        assert result.stdout == "(False, False, 1, False, False)\n"


async def test_cells_of_one_session_take_turns(bench: Bench) -> None:
    async with _session(bench) as session:
        await session.cell("x = []")
        await asyncio.gather(*(session.cell(f"x.append({index})") for index in range(5)))
        assert (await session.cell("x")).stdout == "[0, 1, 2, 3, 4]\n"


async def test_a_caller_that_gives_up_leaves_the_session_whole(bench: Bench) -> None:
    async with _session(bench) as session:
        await session.cell("x = 1")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(session.cell("while True: pass"), 0.2)
        assert (await session.cell("x")).stdout == "1\n"


async def test_a_waiting_cell_that_is_given_up_does_not_disturb_the_one_that_runs(bench: Bench) -> None:
    async with _session(bench, check=False) as session:
        running = asyncio.create_task(session.cell("import time\ntime.sleep(0.5)\n'done'"))
        await asyncio.sleep(0.1)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(session.cell("x = 'must not run'"), 0.1)
        assert (await running).stdout == "'done'\n"
        assert (await session.cell("'x' in globals()")).stdout == "False\n"


async def test_closing_while_a_cell_runs(bench: Bench) -> None:
    session = await bench.open()
    running = asyncio.create_task(session.cell("while True: pass"))
    await asyncio.sleep(0.2)
    await session.aclose()
    await session.aclose()
    assert (await running).status == "failed"
    assert not session.alive


async def test_a_lone_surrogate_is_a_mistake(bench: Bench) -> None:
    async with _session(bench) as session:
        result = await session.cell("'\ud800'")
        assert result.error is not None
        assert result.error.type == "BadText"
        assert (await session.cell("1")).stdout == "1\n"


async def test_only_a_session_opens_a_session(bench: Bench) -> None:
    with pytest.raises(InvalidInput, match="session"):
        await bench.executor.open_session(bench.job("1"))
