"""A person at a prompt: the main thread reads lines, the conversation runs beside it.

Invariant: Ctrl-C at the prompt discards the line, during an answer it cancels the answer, before the first
prompt it ends the command; Ctrl-D and SIGTERM exit cleanly. Line editing and signals need the main thread; the
event loop needs neither.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import signal
import threading
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType, ModuleType

import click

from sandtable.cli.group import TERMINATED
from sandtable.private import private_file

_readline: ModuleType | None
try:
    import readline as _readline
except ImportError:
    _readline = None

_HISTORY_LINES = 1000


class _Terminated(Exception):
    """SIGTERM was received."""


class Prompter:
    """Connects the two threads. `ask` and `stoppable` run on the loop's thread, everything else on the main one."""

    def __init__(self) -> None:
        self._wanted: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._given: asyncio.Queue[str | None] = asyncio.Queue()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._whole: asyncio.Task[object] | None = None
        self._answering: asyncio.Task[object] | None = None
        self._trouble: BaseException | None = None
        self._begun = False

    async def ask(self, prefix: str) -> str | None:
        """The next line; None when the person leaves."""
        self._begun = True
        self._wanted.put(prefix)
        return await self._given.get()

    async def stoppable(self, answer: Awaitable[None]) -> bool:
        """Whether the answer was completed; Ctrl-C cancels it, and the conversation continues."""
        self._answering = asyncio.ensure_future(answer)  # pyright: ignore[reportAttributeAccessIssue] - coroutines become tasks
        try:
            await self._answering
        except asyncio.CancelledError:
            if self._whole is not None and self._whole.cancelling():
                raise
            return False
        finally:
            self._answering = None
        return True

    def talk(self, conversation: Callable[[Prompter], Awaitable[None]]) -> None:
        """Runs until the person leaves or the conversation ends. Raises what the conversation raises."""
        thread = threading.Thread(target=self._run, args=(conversation,), name="conversation")
        with _signals():
            thread.start()
            try:
                while (prefix := self._next()) is not None:
                    self._give(_read_line(prefix))
            except _Terminated:
                self._stop(everything=True)
                raise click.exceptions.Exit(TERMINATED) from None
            finally:
                thread.join()
        if isinstance(self._trouble, asyncio.CancelledError):
            raise click.Abort from None
        if self._trouble is not None:
            raise self._trouble

    def _run(self, conversation: Callable[[Prompter], Awaitable[None]]) -> None:
        async def whole() -> None:
            self._loop, self._whole = asyncio.get_running_loop(), asyncio.current_task()
            await conversation(self)

        try:
            asyncio.run(whole())
        except BaseException as error:  # noqa: BLE001 - handed to the main thread, which raises it
            self._trouble = error
        finally:
            self._wanted.put(None)

    def _next(self) -> str | None:
        while True:
            try:
                return self._wanted.get()
            except KeyboardInterrupt:
                self._stop()

    def _give(self, line: str | None) -> None:
        self._call(lambda: self._given.put_nowait(line))

    def _stop(self, *, everything: bool = False) -> None:
        def cancel() -> None:
            task = self._whole if everything or not self._begun else self._answering
            if task is not None:
                task.cancel()

        self._call(cancel)

    def _call(self, act: Callable[[], None]) -> None:
        # The loop may have closed at this moment; then nothing is left to cancel.
        with contextlib.suppress(RuntimeError):
            if self._loop is not None:
                self._loop.call_soon_threadsafe(act)


def _read_line(prefix: str) -> str | None:
    while True:
        try:
            return input(prefix)
        except EOFError:
            click.echo()
            return None
        except KeyboardInterrupt:
            click.echo()


@contextmanager
def _signals() -> Generator[None, None, None]:
    def terminate(number: int, frame: FrameType | None) -> None:
        raise _Terminated

    before = signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def history(path: Path) -> Generator[None, None, None]:
    """Earlier questions with the arrow keys, if readline is available."""
    if _readline is None:
        yield
        return
    _readline.set_history_length(_HISTORY_LINES)
    with contextlib.suppress(OSError):
        _readline.read_history_file(path)
    try:
        yield
    finally:
        # If the home folder is not writable, only the history is lost.
        with contextlib.suppress(OSError):
            private_file(path)
            _readline.write_history_file(path)
