"""One event loop for the whole library, on a thread of its own: everything is written once, as coroutines.

`blocking` makes of a coroutine function one that waits, `awaiting` one that is awaited on any other loop. So the
library works in scripts, in notebooks (whose loop is running already) and in async programs alike, and what
it keeps open is shared by all of them.

Invariant: a call that is given up (Ctrl-C, a cancelled task) cancels its work here. What was opened on the loop
is closed on it before it ends, at the latest when the process does. A forked child begins with a loop of its own.
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
"""Threads that are there from the start, for closing: Python 3.12.0 to 3.12.2 give a program that ends no new one."""
_HERE = threading.local()


class LoopThread:
    """A loop that turns until it is stopped, and what must be closed before."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.calls: set[asyncio.Task[Any]] = set()
        self.closings: list[Closing] = []
        self.thread = threading.Thread(target=self._turn, name="sandtable", daemon=True)
        self.thread.start()

    def stop(self) -> None:
        """Never waits for ever: a sandbox that is left alive dies with our end of its socket."""
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
            # Not by the loop, which would begin a thread for it.
            pool.shutdown()
            loop.close()

    def begin(self, closing: Closing) -> None:
        """On the loop: do it without anybody waiting."""
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
        # What was just being opened.
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
        """Some time soon, if the loop still turns. Takes no lock: whoever collects garbage may hold any."""
        current = self._current
        # It may have closed a moment ago, and everything of its with it.
        with contextlib.suppress(RuntimeError):
            if current is not None:
                current.loop.call_soon_threadsafe(current.begin, closing)

    def close(self) -> None:
        """Cancel what is running, close what was opened, stop the loop. The next call begins anew."""
        with self._starting:
            current, self._current = self._current, None
            if current is not None:
                current.stop()

    def end(self) -> None:
        self._ended = True
        self.close()

    def forget(self) -> None:
        """In a forked child: what is there belongs to the parent, down to its open files, and stays untouched."""
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
# Earlier than `atexit`: by then no pool of threads takes work any more, and closing needs one. The last to register
# is the first to be called, so the pools' own module must be loaded before. Where this way is missing, what
# is open is left to the kernel.
getattr(threading, "_register_atexit", atexit.register)(BRIDGE.end)


def at_close(closing: Closing) -> None:
    """To be called on the loop: what to do before it ends, the last one first."""
    _HERE.closings.append(closing)


class _Ticket:
    """For work that its caller may give up at any moment, also before it hears that the work was taken."""

    def __init__(self) -> None:
        self._dropped = False
        self._begun: tuple[asyncio.AbstractEventLoop, asyncio.Task[Any] | None] | None = None

    async def taken(self, work: Coroutine[Any, Any, T]) -> T:
        # First this, then the look; `drop` does it the other way round: one of the two sees the other.
        self._begun = asyncio.get_running_loop(), asyncio.current_task()
        if self._dropped:
            raise asyncio.CancelledError
        return await work

    def drop(self, work: Coroutine[Any, Any, Any]) -> None:
        self._dropped = True
        if self._begun is None:
            # It never will.
            work.close()
            return
        loop, task = self._begun
        # A loop that has closed took everything of its with it.
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
    """The same function for callers that wait."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        return wait_for(function(*args, **kwargs))

    return call


def awaiting(function: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, Awaitable[T]]:
    """The same function for callers with a loop of their own."""

    @wraps(function)
    async def call(*args: P.args, **kwargs: P.kwargs) -> T:
        return await await_for(function(*args, **kwargs))

    return call
