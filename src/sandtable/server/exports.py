"""Downloads of a run's result."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response

from sandtable.assemble import Parts
from sandtable.catalog.stored.store import DataStore
from sandtable.runs.export import MEDIA_TYPES, Exported, Format, export_run
from sandtable.runs.fair_queue import FairQueue
from sandtable.server import logs
from sandtable.server.callers import User
from sandtable.server.errors import ErrorBody
from sandtable.server.hanging_up import while_there

TRUNCATED = "X-Sandtable-Truncated"

router = APIRouter(tags=["runs"])

RunId = Annotated[str, Path(max_length=128, examples=["run_019a83f0c1d2000000a1b2c3d4e5f607"])]


def _answers(kind: Format) -> dict[int | str, dict[str, Any]]:
    schema = {"type": "string", "format": "binary"} if kind == "parquet" else {"type": "string"}
    content = {"schema": schema if kind != "json" else {"type": "object"}}
    return {
        200: {
            "description": "The rows that the run keeps, as a file.",
            "content": {MEDIA_TYPES[kind].partition(";")[0]: content},
            "headers": {
                "Content-Disposition": {
                    "description": "The name of the file.",
                    "schema": {"type": "string", "pattern": "^attachment; filename="},
                },
                TRUNCATED: {
                    "description": "`true` when the query had more rows than the run keeps.",
                    "schema": {"type": "string", "enum": ["true", "false"]},
                },
            },
        },
        404: {"model": ErrorBody, "description": "No such run, or it has no result."},
    }


async def _download(request: Request, run_id: str, user: str, kind: Format) -> Response:
    logs.bind(run_id=run_id)
    made = await while_there(request, _exported(request, run_id, user, kind))
    headers = {
        "Content-Disposition": f'attachment; filename="{made.name}"',
        TRUNCATED: "true" if made.truncated else "false",
    }
    return Response(made.content, media_type=made.media_type, headers=headers)


async def _exported(request: Request, run_id: str, user: str, kind: Format) -> Exported:
    """Releases its place in the queue before the file is sent: a slow client does not block other exports."""
    parts: Parts = request.app.state.parts
    checks: FairQueue = request.app.state.checks
    store = DataStore(parts.settings.home / "data")
    run = await parts.runs.get(run_id)
    async with checks.place(user):
        return await export_run(run, kind, parts.tiers.looks, store)


@router.get(
    "/runs/{run_id}/result.csv",
    operation_id="download_csv",
    summary="A run's result as CSV",
    response_class=Response,
    responses=_answers("csv"),
)
async def download_csv(request: Request, run_id: RunId, user: User) -> Response:
    """Safe to open in a spreadsheet: text that would be a formula there begins with an apostrophe."""
    return await _download(request, run_id, user, "csv")


@router.get(
    "/runs/{run_id}/result.json",
    operation_id="download_json",
    summary="A run's result as JSON",
    response_class=Response,
    responses=_answers("json"),
)
async def download_json(request: Request, run_id: RunId, user: User) -> Response:
    """`columns` with name and type, `rows` as arrays in that order."""
    return await _download(request, run_id, user, "json")


@router.get(
    "/runs/{run_id}/result.parquet",
    operation_id="download_parquet",
    summary="A run's result as Parquet",
    response_class=Response,
    responses=_answers("parquet"),
)
async def download_parquet(request: Request, run_id: RunId, user: User) -> Response:
    """Written in a sandbox, with the types that the columns have."""
    return await _download(request, run_id, user, "parquet")
