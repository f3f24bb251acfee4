"""Liveness and readiness: `/healthz` and `/readyz`.

Invariant: `/readyz` answers within seconds whatever the disk or the database does, and however many requests come:
each check runs one attempt at a time, off the event loop, and a success is cached for a second. The sandbox's
self-test runs once, at the start or at the first request. No answer holds a path of this machine.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from fastapi import APIRouter, Request, Response

from sandtable.assemble import Parts
from sandtable.errors import SandtableError
from sandtable.sandbox.extra import missing_packages
from sandtable.sandbox.selftest import DoctorReport
from sandtable.server.errors import RETRY_SECONDS, ErrorBody
from sandtable.server.lazy_conversation import LazyConversation
from sandtable.server.shutdown import Shutdown
from sandtable.server.views import Check, Readiness

DEADLINE_S = 2.0
"""For one attempt. One that takes longer continues, and the next request waits for it again."""
FRESH_S = 1.0
"""How long a success is cached; after a failure the next request checks again."""

_STOPPING = Readiness(ready=False, checks=(Check(name="server", ok=False, detail="it is stopping"),))

router = APIRouter(tags=["health"])


class SharedAttempt:
    """One run of a check, shared by all requests that come while it lasts."""

    def __init__(self, name: str, look: Callable[[], Awaitable[Check]]) -> None:
        self._name = name
        self._look = look
        self._task: asyncio.Task[Check] | None = None
        self._ended = 0.0

    async def check(self) -> Check:
        task = self._task
        if task is None or (task.done() and not self._is_fresh(task)):
            task = self._task = asyncio.create_task(self._attempt(), name=f"ready {self._name}")
        done, _ = await asyncio.wait((task,), timeout=DEADLINE_S)
        if not done:
            return Check(name=self._name, ok=False, detail=f"no answer within {DEADLINE_S:g} s")
        return task.result()

    def _is_fresh(self, ended: asyncio.Task[Check]) -> bool:
        good = not ended.cancelled() and ended.exception() is None and ended.result().ok
        return good and time.monotonic() - self._ended < FRESH_S

    async def _attempt(self) -> Check:
        try:
            return await self._look()
        finally:
            self._ended = time.monotonic()


class Health:
    def __init__(
        self, parts: Parts, conversation: LazyConversation, tested: DoctorReport | None = None
    ) -> None:
        self._parts = parts
        self._opened = conversation
        self._tested = tested
        self._testing = asyncio.Lock()
        self._attempts = tuple(
            SharedAttempt(name, look)
            for name, look in (
                ("store", self._store),
                ("data", self._data),
                ("queue", self._queue),
                ("conversation", self._conversation),
            )
        )

    async def readiness(self) -> Readiness:
        first = (await self._sandbox(), self._python())
        checks = (*first, *await asyncio.gather(*(attempt.check() for attempt in self._attempts)))
        return Readiness(ready=all(check.ok for check in checks), checks=checks)

    async def _sandbox(self) -> Check:
        async with self._testing:
            if self._tested is None:
                try:
                    self._tested = await self._parts.doctor()
                except SandtableError as error:
                    return Check(name="sandbox", ok=False, detail=error.message)
        problem = self._tested.problem
        return Check(name="sandbox", ok=problem is None, detail=problem.message if problem else "")

    def _python(self) -> Check:
        if self._parts.settings.python != "on":
            return Check(name="python", ok=True, detail="off; SANDTABLE_PYTHON=on switches it on")
        missing = missing_packages()
        detail = f"on, but not installed: {', '.join(missing)}" if missing else "on"
        return Check(name="python", ok=not missing, detail=detail)

    async def _store(self) -> Check:
        try:
            await self._parts.runs.probe()
        except SandtableError as error:
            return Check(name="store", ok=False, detail=self._without_paths(error.message))
        return Check(name="store", ok=True)

    async def _data(self) -> Check:
        home = self._parts.settings.home
        for folder, name in ((home, "home folder"), (home / "data", "data folder")):
            try:
                await asyncio.to_thread(_write_something, folder)
            except OSError as error:
                return Check(name="data", ok=False, detail=f"the {name} is not writable: {error.strerror}")
        return Check(name="data", ok=True)

    async def _queue(self) -> Check:
        try:
            waiting = (await self._parts.runs.counts()).get("pending", 0)
        except SandtableError as error:
            return Check(name="queue", ok=False, detail=self._without_paths(error.message))
        limit = self._parts.settings.queue_limit
        detail = f"{waiting} of at most {limit} runs are waiting"
        return Check(name="queue", ok=waiting < limit, detail=detail)

    async def _conversation(self) -> Check:
        """Retries a conversation that did not open, so that this server becomes ready when the cause is gone."""
        trouble = self._opened.trouble
        if trouble is not None:
            self._opened.begin()
            return Check(name="conversation", ok=False, detail=self._without_paths(trouble))
        try:
            await self._opened.probe()
        except SandtableError as error:
            return Check(name="conversation", ok=False, detail=self._without_paths(error.message))
        return Check(name="conversation", ok=True)

    def _without_paths(self, message: str) -> str:
        """Every address may call this endpoint: paths are shown relative to the home folder."""
        home = self._parts.settings.home
        return message.replace(f"{home}/", "").replace(str(home), "the home folder")


def _write_something(folder: Path) -> None:
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(b"ready?" * 1000)
        file.flush()


@router.get("/healthz", operation_id="healthz", summary="Is the process alive?")
async def healthz() -> dict[str, str]:
    return {"status": "ok"}


@router.get(
    "/readyz",
    operation_id="readyz",
    summary="May it be sent work?",
    responses={503: {"model": Readiness | ErrorBody, "description": "Not now; `checks` says why."}},
)
async def readyz(request: Request, response: Response) -> Readiness:
    """The sandbox passed its self-test, the stores can be read and written, and the queue takes runs."""
    health: Health = request.app.state.health
    shutdown: Shutdown = request.app.state.shutdown
    found = _STOPPING if shutdown.begun.is_set() else await health.readiness()
    if not found.ready:
        response.status_code = 503
        response.headers["Retry-After"] = RETRY_SECONDS
    return found
