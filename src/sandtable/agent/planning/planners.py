"""The planner processes of a server: as many as it may have, given questions, and replaced when they end.

Invariant: a question is never lost with a process. It is given to a second one; where that ends, too, or none can be
started, the caller gets `Unplanned` and plans the question itself.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from enum import Enum
from typing import Any, TypeVar

import structlog

from sandtable.agent.planning.process import Ended, PlannerProcess
from sandtable.agent.planning.wire import Data, Failed, Question
from sandtable.observing import UNOBSERVED, Tracer, report_planning
from sandtable.planner.outcome import Outcome

_PAUSE_S = 30.0
"""How long no process is started after one that did not start."""
_TRIES = 2

T = TypeVar("T")

log = structlog.get_logger(__name__)


class Unplanned(Enum):
    NO_PROCESS = "no process could be started"
    ENDED = "the processes that were given the question have ended"


class Planners:
    """At most `most` processes. Each plans one question at a time; a question waits for one that is free."""

    def __init__(self, most: int, tracer: Tracer = UNOBSERVED.tracer) -> None:
        self._most = most
        self._tracer = tracer
        self._places = asyncio.Semaphore(most)
        self._all: list[PlannerProcess] = []
        self._free: list[PlannerProcess] = []
        """A stack: the process used last is used next."""
        self._none_before = 0.0
        self._under_way: set[asyncio.Task[Any]] = set()
        self._closed = False

    @property
    def pids(self) -> tuple[int, ...]:
        return tuple(process.pid for process in self._all)

    async def prepare(self, data: Data) -> None:
        """Starts the processes that are not running, and sends the data to the free ones."""
        for _ in range(self._most):
            await self._whole(self._teach(data))

    async def plan(self, question: Question, data: Data) -> Outcome | Unplanned:
        """Raises RuntimeError for what planning itself raised."""
        outcome = await self._whole(self._planned(question, data))
        if isinstance(outcome, Failed):
            raise RuntimeError(f"a planner process failed:\n{outcome.traceback}")
        return outcome

    async def aclose(self) -> None:
        self._closed = True
        # A question at one of them finds no other, and is handed back to its caller.
        await asyncio.gather(*(self._drop(process) for process in list(self._all)))
        await asyncio.gather(*self._under_way, return_exceptions=True)

    async def _whole(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs to completion even if the caller is cancelled: otherwise the next question would get its reply."""
        task = asyncio.create_task(work)
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        return await asyncio.shield(task)

    async def _teach(self, data: Data) -> None:
        async with self._places:
            process = await self._take(lambda each: data.key not in each.known)
            if process is None:
                return
            with suppress(Ended):
                async with self._at_work(process):
                    await process.learn(data)
                    for prompt in data.dataset.prompts[:1]:
                        # The first question to an index is slow, so it is asked here and not by a person.
                        await process.plan(Question(data.key, prompt, None), data)

    async def _planned(self, question: Question, data: Data) -> Outcome | Unplanned | Failed:
        with self._tracer.span("plan.wait"):
            await self._places.acquire()
        try:
            for _ in range(_TRIES):
                process = await self._take()
                if process is None:
                    return Unplanned.NO_PROCESS
                with suppress(Ended):
                    return await self._planned_by(process, question, data)
            return Unplanned.ENDED
        finally:
            self._places.release()

    async def _planned_by(self, process: PlannerProcess, question: Question, data: Data) -> Outcome | Failed:
        """Raises Ended."""
        began = time.time()
        async with self._at_work(process):
            reply = await process.plan(question, data)
        if isinstance(reply, Failed):
            return reply
        report_planning(self._tracer, reply.spent, began, time.time())
        return reply.outcome

    @asynccontextmanager
    async def _at_work(self, process: PlannerProcess) -> AsyncGenerator[None, None]:
        """Frees the process afterwards; after a failure it is ended, because replies could go to the wrong question."""
        try:
            yield
        except BaseException:
            await self._drop(process)
            raise
        self._free.append(process)

    async def _take(self, fits: Callable[[PlannerProcess], bool] = lambda _: True) -> PlannerProcess | None:
        """A free process that fits, else a new one, if there is room for it and one can be started."""
        while (dead := next((each for each in self._free if not each.alive), None)) is not None:
            self._free.remove(dead)
            await self._drop(dead)
        process = next((each for each in reversed(self._free) if fits(each)), None)
        if process is not None:
            self._free.remove(process)
            return process
        now = asyncio.get_running_loop().time()
        if self._closed or len(self._all) >= self._most or now < self._none_before:
            return None
        try:
            with self._tracer.span("plan.start"):
                process = PlannerProcess.launch(self._tracer)
                self._all.append(process)
                await process.ready()
        except (Ended, OSError) as error:
            if process is not None:
                await self._drop(process)
            if not self._closed:
                log.error("planner_process_not_started", reason=str(error))
                self._none_before = now + _PAUSE_S
            return None
        return process

    async def _drop(self, process: PlannerProcess) -> None:
        if process in self._all:
            self._all.remove(process)
            status = await process.aclose()
            if not self._closed:
                log.warning("planner_process_ended", status=status)
