"""Is the process alive, and may it be sent work: `/healthz` and `/readyz`.

The sandbox's self-test runs once, at the start or at the first question; the rest is looked at anew.
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from fastapi import APIRouter, Request, Response

from sandtable.assemble import Parts
from sandtable.errors import SandtableError
from sandtable.sandbox.extra import missing_packages
from sandtable.sandbox.selftest import DoctorReport
from sandtable.server.conversations import Conversations
from sandtable.server.errors import RETRY_SECONDS, ErrorBody
from sandtable.server.views import Check, Readiness

router = APIRouter(tags=["health"])


class Health:
    def __init__(
        self, parts: Parts, conversations: Conversations, tested: DoctorReport | None = None
    ) -> None:
        self._parts = parts
        self._conversations = conversations
        self._tested = tested
        self._testing = asyncio.Lock()

    async def readiness(self) -> Readiness:
        checks = (
            await self._sandbox(),
            self._python(),
            await self._home(),
            await self._queue(),
            self._conversation(),
        )
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

    async def _home(self) -> Check:
        try:
            await asyncio.to_thread(_write_something, self._parts.settings.home)
        except OSError as error:
            return Check(name="store", ok=False, detail=f"the home folder is not writable: {error.strerror}")
        return Check(name="store", ok=True)

    async def _queue(self) -> Check:
        try:
            waiting = (await self._parts.runs.counts()).get("pending", 0)
        except SandtableError as error:
            return Check(name="queue", ok=False, detail=error.message)
        limit = self._parts.settings.queue_limit
        detail = f"{waiting} of at most {limit} runs are waiting"
        return Check(name="queue", ok=waiting < limit, detail=detail)

    def _conversation(self) -> Check:
        """One that did not open is tried again, so that this server becomes ready when the cause is gone."""
        trouble = self._conversations.trouble
        if trouble is not None:
            self._conversations.begin()
        return Check(name="conversation", ok=trouble is None, detail=trouble or "")


def _write_something(home: Path) -> None:
    with tempfile.TemporaryFile(dir=home) as file:
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
    """The sandbox passed its self-test, the stores can be written, and the queue takes runs."""
    health: Health = request.app.state.health
    found = await health.readiness()
    if not found.ready:
        response.status_code = 503
        response.headers["Retry-After"] = RETRY_SECONDS
    return found
