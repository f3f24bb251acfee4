"""One event loop for the whole library, on a separate thread: everything is written once, as coroutines.

`blocking` turns a coroutine function into a blocking one, `awaiting` into one for any other event loop. So the
library works in scripts, in notebooks (whose loop is already running) and in async programs, and all of them share
what it keeps open.

Invariant: a call that is abandoned (Ctrl-C, a cancelled task) cancels its work here. What was opened on the loop is
closed on it before the loop stops, at process exit at the latest. A forked child starts a new loop.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import structlog

from sandtable.errors import SandboxUnavailable

log = structlog.get_logger(__name__)

P = ParamSpec("P")
T = TypeVar("T")
Closing = Callable[[], Coroutine[Any, Any, None]]

_END_S = 10.0
_HANDS = 4
"""Threads started in advance, for closing: Python 3.12.0 to 3.12.2 cannot start a thread during shutdown."""
_HERE = threading.local()


class LoopThread:
    """An event loop that runs until it is stopped, and the callbacks that close what was opened on it."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.calls: set[asyncio.Task[Any]] = set()
        self.closings: list[Closing] = []
        self.thread = threading.Thread(target=self._turn, name="sandtable", daemon=True)
        self.thread.start()

    def stop(self) -> None:
        """Waits for a bounded time: a sandbox that is still alive dies when our end of its socket closes."""
        try:
            asyncio.run_coroutine_threadsafe(self._close(), self.loop).result(_END_S)
        except TimeoutError:
            log.error("not_closed_in_time", seconds=_END_S)
        finally:
            self.loop.call_soon_threadsafe(self.loop.stop)
            self.thread.join(_END_S)

    def _turn(self) -> None:
        loop, _HERE.closings = self.loop, self.closings
        asyncio.set_event_loop(loop)
        pool = ThreadPoolExecutor(thread_name_prefix="sandtable")
        loop.set_default_executor(pool)
        together = threading.Barrier(_HANDS)
        for _ in range(_HANDS):
            pool.submit(together.wait)
        try:
            loop.run_forever()
        finally:
            loop.run_until_complete(loop.shutdown_asyncgens())
            # Not `loop.shutdown_default_executor`, which would start a thread for it.
            pool.shutdown()
            loop.close()

    def begin(self, closing: Closing) -> None:
        """Call on the loop: starts it as a task that no caller awaits."""
        task = self.loop.create_task(closing())
        self.calls.add(task)
        task.add_done_callback(self.calls.discard)

    async def call(self, work: Coroutine[Any, Any, T]) -> T:
        task = asyncio.current_task()
        assert task is not None
        self.calls.add(task)
        try:
            return await work
        finally:
            self.calls.discard(task)

    async def _close(self) -> None:
        await _cancelled(self.calls)
        await self._close_opened()
        await _cancelled(asyncio.all_tasks() - {asyncio.current_task()})
        # What the cancelled tasks were just opening.
        await self._close_opened()

    async def _close_opened(self) -> None:
        while self.closings:
            try:
                await self.closings.pop()()
            except Exception:
                log.exception("not_closed")


async def _cancelled(tasks: Iterable[asyncio.Task[Any] | None]) -> None:
    ending = [task for task in tasks if task is not None]
    for task in ending:
        task.cancel()
    await asyncio.gather(*ending, return_exceptions=True)


class Bridge:
    def __init__(self) -> None:
        self._starting = threading.Lock()
        self._current: LoopThread | None = None
        self._forgotten: list[LoopThread | None] = []
        self._ended = False

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        try:
            current = self._running()
        except BaseException:
            work.close()
            raise
        return asyncio.run_coroutine_threadsafe(current.call(work), current.loop)

    def later(self, closing: Closing) -> None:
        """Schedules it if the loop is still running. Takes no lock: garbage collection may call this under any lock."""
        current = self._current
        # The loop may have closed a moment ago, and everything on it with it.
        with contextlib.suppress(RuntimeError):
            if current is not None:
                current.loop.call_soon_threadsafe(current.begin, closing)

    def close(self) -> None:
        """Cancel what is running, close what was opened, stop the loop. The next call starts a new loop."""
        with self._starting:
            current, self._current = self._current, None
            if current is not None:
                current.stop()

    def end(self) -> None:
        self._ended = True
        self.close()

    def forget(self) -> None:
        """In a forked child: the loop and its open files belong to the parent and stay untouched."""
        self._forgotten.append(self._current)
        self._starting = threading.Lock()
        self._current = None

    def _running(self) -> LoopThread:
        with self._starting:
            if self._ended:
                raise SandboxUnavailable("the program is ending: nothing can be run any more")
            if self._current is None:
                self._current = LoopThread()
            return self._current


BRIDGE = Bridge()
os.register_at_fork(after_in_child=BRIDGE.forget)
# Earlier than `atexit`: by then no thread pool accepts work, and closing needs one. Callbacks run in reverse order of
# registration, so the thread pools' module must be loaded first. If this function is missing, the kernel cleans up
# what is open.
getattr(threading, "_register_atexit", atexit.register)(BRIDGE.end)


def at_close(closing: Closing) -> None:
    """Call on the loop: registers a callback for before the loop stops; the last one registered runs first."""
    _HERE.closings.append(closing)


class _Ticket:
    """Work that its caller may abandon at any moment, even before it knows that the loop accepted the work."""

    def __init__(self) -> None:
        self._dropped = False
        self._begun: tuple[asyncio.AbstractEventLoop, asyncio.Task[Any] | None] | None = None

    async def taken(self, work: Coroutine[Any, Any, T]) -> T:
        # Write, then read; `drop` does it in the other order, so at least one of the two sees the other.
        self._begun = asyncio.get_running_loop(), asyncio.current_task()
        if self._dropped:
            raise asyncio.CancelledError
        return await work

    def drop(self, work: Coroutine[Any, Any, Any]) -> None:
        self._dropped = True
        if self._begun is None:
            # It will never begin.
            work.close()
            return
        loop, task = self._begun
        # A closed loop has ended all its tasks.
        with contextlib.suppress(RuntimeError):
            if task is not None:
                loop.call_soon_threadsafe(task.cancel)


def wait_for(work: Coroutine[Any, Any, T]) -> T:
    ticket = _Ticket()
    try:
        return BRIDGE.submit(ticket.taken(work)).result()
    except CancelledError:
        raise _closed() from None
    except BaseException:
        # Ctrl-C, or an error of the work itself, which then has ended.
        ticket.drop(work)
        raise


async def await_for(work: Coroutine[Any, Any, T]) -> T:
    future = BRIDGE.submit(work)
    try:
        return await asyncio.wrap_future(future)
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None and not task.cancelling():
            raise _closed() from None
        raise


def _closed() -> SandboxUnavailable:
    return SandboxUnavailable("the library was closed meanwhile", suggestion="Call it again.")


def blocking(function: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """The same function as a blocking call."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        return wait_for(function(*args, **kwargs))

    return call


def awaiting(function: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, Awaitable[T]]:
    """The same function as a coroutine function for any other event loop."""

    @wraps(function)
    async def call(*args: P.args, **kwargs: P.kwargs) -> T:
        return await await_for(function(*args, **kwargs))

    return call
