"""One loop for all callers: those that wait, those that await, threads, forked children, and the end."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from sandtable.errors import SandboxUnavailable
from sandtable.library import bridge
from sandtable.library.bridge import Bridge, at_close, awaiting, blocking


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bridge]:
    made = Bridge()
    monkeypatch.setattr(bridge, "BRIDGE", made)
    yield made
    made.close()


async def _double(number: int, *, more: int = 0) -> int:
    """Twice as much."""
    await asyncio.sleep(0)
    return 2 * number + more


async def _where() -> tuple[str, asyncio.AbstractEventLoop]:
    return threading.current_thread().name, asyncio.get_running_loop()


@pytest.mark.usefixtures("own")
class TestCalls:
    def test_waiting(self) -> None:
        assert blocking(_double)(3, more=1) == 7
        assert blocking(_double).__doc__ == "Twice as much."

    async def test_awaiting(self) -> None:
        assert await awaiting(_double)(3, more=1) == 7
        assert awaiting(_double).__doc__ == "Twice as much."

    async def test_waiting_inside_a_running_loop(self) -> None:
        assert blocking(_double)(3) == 6

    def test_everybody_shares_one_loop(self) -> None:
        name, loop = blocking(_where)()
        assert name == "sandtable"

        async def elsewhere() -> Any:
            return await awaiting(_where)()

        assert asyncio.run(elsewhere())[1] is loop
        assert asyncio.run(elsewhere())[1] is loop
        found: list[Any] = []
        thread = threading.Thread(target=lambda: found.append(blocking(_where)()[1]))
        thread.start()
        thread.join()
        assert found == [loop]

    async def test_errors_pass(self) -> None:
        async def fail() -> None:
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            blocking(fail)()
        with pytest.raises(ZeroDivisionError):
            await awaiting(fail)()

    async def test_a_cancelled_task_cancels_the_work(self) -> None:
        begun, ended = threading.Event(), threading.Event()

        async def work() -> None:
            begun.set()
            try:
                await asyncio.sleep(60)
            finally:
                ended.set()

        task = asyncio.create_task(awaiting(work)())  # type: ignore[arg-type]  # it is a coroutine
        await asyncio.to_thread(begun.wait, 5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(ended.wait, 5)


def test_closing_cancels_calls_closes_what_is_open_and_begins_anew(own: Bridge) -> None:
    told: list[str] = []
    begun = threading.Event()

    async def first() -> None:
        told.append("first")

    async def broken() -> None:
        raise ZeroDivisionError

    async def opening() -> asyncio.AbstractEventLoop:
        at_close(first)
        at_close(broken)
        return asyncio.get_running_loop()

    async def endless() -> None:
        begun.set()
        await asyncio.sleep(60)

    loop = blocking(opening)()
    caught: list[BaseException] = []

    def wait() -> None:
        try:
            blocking(endless)()
        except SandboxUnavailable as error:
            caught.append(error)

    waiting = threading.Thread(target=wait)
    waiting.start()
    assert begun.wait(5)
    own.close()
    waiting.join(5)
    assert "was closed meanwhile" in str(caught[0])
    assert told == ["first"]
    assert loop.is_closed()
    assert blocking(_where)()[1] is not loop
    own.close()
    own.close()


def test_nothing_begins_after_the_end(own: Bridge) -> None:
    assert blocking(_double)(1) == 2
    own.end()
    with pytest.raises(SandboxUnavailable, match="is ending"):
        blocking(_double)(1)


_PROGRAM = """
import os, sys
import sandtable
from sandtable.library.bridge import blocking, at_close

async def told():
    print("closed by", os.getpid(), flush=True)

async def opening():
    at_close(told)
    return 1

blocking(opening)()
{rest}
"""


def _program(rest: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    # Newer Pythons warn of every fork of a process with threads.
    quiet = ["-W", "error", "-W", "ignore::DeprecationWarning"]
    command = [sys.executable, *quiet, "-c", _PROGRAM.format(rest=rest)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize(
    ("rest", "code"),
    [("", 0), ("sys.exit(3)", 3), ("1/0", 1), ("sandtable.close()", 0)],
    ids=["end", "exit", "error", "closed before"],
)
def test_a_program_ends_and_closes_once(rest: str, code: int) -> None:
    done = _program(rest)
    assert done.returncode == code
    assert done.stdout.count("closed by") == 1
    assert "Exception ignored" not in done.stderr


def test_ctrl_c_cancels_the_work() -> None:
    done = _program(
        """
import asyncio, signal

signal.signal(signal.SIGINT, signal.default_int_handler)
ended = []

async def endless():
    os.kill(os.getpid(), signal.SIGINT)
    try:
        await asyncio.sleep(60)
    finally:
        ended.append(True)

async def breath():
    await asyncio.sleep(0.01)

try:
    blocking(endless)()
except KeyboardInterrupt:
    while not ended:
        blocking(breath)()
    print("interrupted")
"""
    )
    assert "interrupted" in done.stdout, done.stderr


def test_a_forked_child_has_a_loop_of_its_own() -> None:
    done = _program(
        """
import multiprocessing

def child():
    blocking(opening)()

process = multiprocessing.get_context("fork").Process(target=child)
process.start()
process.join(20)
assert process.exitcode == 0, process.exitcode
"""
    )
    assert done.returncode == 0, done.stderr
    closed = done.stdout.split("closed by")[1:]
    assert len({each.strip() for each in closed}) == 2
