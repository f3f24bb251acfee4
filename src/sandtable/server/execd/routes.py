"""The operations of `sandtable execd`. docs/execd.md describes them for readers."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import BaseModel
from starlette.types import Receive

from sandtable import __version__
from sandtable.errors import SandboxUnavailable
from sandtable.observing import link_from, trace_of
from sandtable.sandbox.executor import Tier
from sandtable.sandbox.extra import libraries
from sandtable.sandbox.job import Job, JobResult, Mode
from sandtable.sandbox.remote.protocol import (
    HEALTH,
    HELLO,
    JOBS,
    LONGEST_WAIT_S,
    PROTOCOL,
    TRACEPARENT,
    WARM,
    JobState,
    Offer,
    likeness_of,
    to_json,
)
from sandtable.server.errors import ErrorBody
from sandtable.server.execd.admit import DataFolder, admitted
from sandtable.server.execd.desk import Desk
from sandtable.server.logs import bind

router = APIRouter(tags=["jobs"])
_TROUBLE: dict[int | str, dict[str, Any]] = {
    401: {"model": ErrorBody, "description": "The request was not proven."},
    404: {"model": ErrorBody, "description": "This replica has no such job."},
    503: {"model": ErrorBody, "description": "No place, another kind of replica, or no sandbox."},
}
_LATER: dict[int | str, dict[str, Any]] = {202: {"model": JobState, "description": "Not ended yet."}}

JobId = Annotated[str, Path(max_length=200)]
Wait = Annotated[
    float, Query(ge=0, le=LONGEST_WAIT_S, description="Seconds to hold the request until the job ends.")
]
Hold = Annotated[bool, Query(description="The job ends when this connection breaks before it is answered.")]


@dataclass(frozen=True, slots=True)
class ExecdParts:
    """What the operations work with."""

    executor: Tier
    desk: Desk
    data: DataFolder
    modes: tuple[Mode, ...]

    async def offer(self, kind: Literal["sql", "py"] = "sql") -> Offer:
        """Raises SandboxUnavailable."""
        hello = await self.executor.start()
        chosen = hello if kind == "sql" else await self.executor.start(kind)
        return Offer(
            protocol=PROTOCOL,
            version=__version__,
            replica=self.desk.replica,
            engine=chosen.engine,
            layers=chosen.layers,
            reasons=chosen.reasons,
            libraries=libraries(),
            likeness=likeness_of(hello, libraries()),
            modes=self.modes,
            data=await asyncio.to_thread(self.data.versions),
        )

    async def require(self, likeness: str) -> None:
        """Raises SandboxUnavailable when this replica differs in its results or its isolation."""
        hello = await self.executor.start()
        if likeness_of(hello, libraries()) != likeness:
            raise SandboxUnavailable(
                f"this replica has {hello.engine} within {', '.join(hello.layers)}, and the job was meant for others",
                suggestion="Run the same image on like machines for all replicas; after an upgrade, restart the server",
                why="unlike", replica=self.desk.replica,
            )  # fmt: skip


def _parts(request: Request) -> ExecdParts:
    return request.app.state.execd


@router.post(
    JOBS,
    operation_id="submit_job",
    summary="Take a job, and wait for its end if asked to",
    response_model=JobState,
    responses={**_LATER, **_TROUBLE},
)
async def submit(
    request: Request,
    job: Job,
    wait_s: Wait = 0.0,
    hold: Hold = False,
    likeness: Annotated[
        str, Query(max_length=64, description="As `hello` gave it: refuse when unlike.")
    ] = "",
) -> Response:
    """Idempotent: submitting the same id again starts nothing, and returns the state of the first job."""
    bind(job_id=job.id[:200])
    parts = _parts(request)
    job = admitted(job, parts.modes)
    if likeness:
        await parts.require(likeness)
    link = link_from(request.headers.getlist(TRACEPARENT))
    bind(**trace_of(link))
    parts.desk.take(job, link)
    return await _state(request, job.id, wait_s, hold)


@router.get(
    JOBS + "/{job_id}",
    operation_id="get_job",
    summary="How a job stands",
    response_model=JobState,
    responses=_TROUBLE,
)
async def status(request: Request, job_id: JobId) -> Response:
    desk = _parts(request).desk
    return _answer(200, JobState(job_id=job_id, status=await desk.status(job_id), replica=desk.replica))


@router.get(
    JOBS + "/{job_id}/result",
    operation_id="get_result",
    summary="Wait for a job's end",
    response_model=JobState,
    responses={**_LATER, **_TROUBLE},
)
async def result(request: Request, job_id: JobId, wait_s: Wait = 0.0, hold: Hold = False) -> Response:
    bind(job_id=job_id)
    return await _state(request, job_id, wait_s, hold)


@router.delete(
    JOBS + "/{job_id}",
    operation_id="cancel_job",
    summary="Kill a job",
    response_model=JobState,
    responses=_TROUBLE,
)
async def cancel(request: Request, job_id: JobId) -> Response:
    """A job that has ended keeps its result; one that was dropped recently counts as cancelled."""
    desk = _parts(request).desk
    ended = await desk.cancel(job_id)
    return _answer(200, JobState(job_id=job_id, status="done", replica=desk.replica, result=ended))


@router.get(
    HELLO,
    operation_id="hello",
    summary="What this service is and has",
    response_model=Offer,
    responses=_TROUBLE,
)
async def hello(request: Request, kind: Literal["sql", "py"] = "sql") -> Response:
    return _answer(200, await _parts(request).offer(kind))


class Warmed(BaseModel):
    warmed: bool = True


@router.post(
    WARM,
    operation_id="warm",
    summary="Have sandboxes ready for jobs like this one",
    response_model=Warmed,
    responses=_TROUBLE,
)
async def warm(request: Request, job: Job) -> Response:
    parts = _parts(request)
    job = admitted(job, parts.modes)
    opened = await parts.data.missing(job) or await parts.data.opened(job)
    if isinstance(opened, JobResult):
        return _answer(200, Warmed(warmed=False))
    await parts.executor.warm(opened[0])
    return _answer(200, Warmed())


@router.get(HEALTH, operation_id="healthz", summary="Is the process alive?", tags=["health"])
async def healthz() -> dict[str, str]:
    """Needs no proof. The service listens only after its sandbox has passed the self-test."""
    return {"status": "ok"}


async def _state(request: Request, job_id: str, wait_s: float, hold: bool) -> Response:
    desk = _parts(request).desk
    gone = asyncio.create_task(_disconnected(request.receive)) if hold else None
    try:
        found = await desk.wait(job_id, wait_s, gone)
    finally:
        if gone is not None:
            gone.cancel()
            with suppress(asyncio.CancelledError):
                await gone
    if found is not None:
        return _answer(200, JobState(job_id=job_id, status="done", replica=desk.replica, result=found))
    if gone is not None and gone.done() and not gone.cancelled():
        return Response(status_code=204)
    return _answer(202, JobState(job_id=job_id, status=await desk.status(job_id), replica=desk.replica))


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _answer(status_code: int, told: BaseModel) -> Response:
    return Response(to_json(told), status_code=status_code, media_type="application/json")
