"""The application of `sandtable execd`."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from starlette.responses import Response

from sandtable import __version__
from sandtable.errors import ErrorCode, Problem
from sandtable.observing import UNOBSERVED, Tracer
from sandtable.sandbox.executor import Tier
from sandtable.sandbox.job import Mode
from sandtable.sandbox.remote.proof import Token
from sandtable.server import errors
from sandtable.server.errors import error_response
from sandtable.server.execd import routes
from sandtable.server.execd.admit import SERVED, DataFolder
from sandtable.server.execd.desk import LEASE_S, Desk, Full
from sandtable.server.execd.proven import Proven
from sandtable.server.logs import RequestLog
from sandtable.server.observed import NO_TELEMETRY

DESCRIPTION = (
    "Jobs for sealed sandboxes, for servers that hold the same token. Every request but GET /healthz carries a proof"
    " in its header `x-sandtable-proof`, and so does every answer; docs/execd.md says how both are made."
)


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncGenerator[None, None]:
    try:
        yield
    finally:
        await app.state.execd.desk.aclose()


def create_execd_app(
    executor: Tier,
    token: str,
    *,
    data: Path,
    modes: tuple[Mode, ...] = SERVED,
    most: int = 20,
    lease_s: float = LEASE_S,
    tracer: Tracer = UNOBSERVED.tracer,
) -> FastAPI:
    """`executor` is closed by its owner. `data` is the folder whose `versions` the executor reads; `most`,
    how many jobs may run or wait; `lease_s`, how long a job lives that no request waits for.

    Raises InvalidInput for a token that is too weak.
    """
    app = _with_routes()
    folder = DataFolder(data)
    app.state.execd = routes.ExecdParts(
        executor, Desk(executor, folder, most=most, lease_s=lease_s, tracer=tracer), folder, modes
    )
    errors.install(app, routes.router.routes)
    app.add_exception_handler(404, _nothing_there)
    app.add_exception_handler(Full, _full)
    # Middleware added last runs first.
    app.add_middleware(Proven, token=Token(token))
    app.add_middleware(RequestLog)
    return app


def execd_openapi() -> dict[str, Any]:
    """What GET /openapi.json answers."""
    return _with_routes().openapi()


def _with_routes() -> FastAPI:
    app = FastAPI(
        telemetry=NO_TELEMETRY,
        title="Sandtable execd",
        version=__version__,
        description=DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        lifespan=_lifespan,
    )
    app.include_router(routes.router)
    return app


async def _full(request: Request, error: Exception) -> Response:
    assert isinstance(error, Full)
    return error_response(error.problem, request.scope, headers={"Retry-After": "1"})


async def _nothing_there(request: Request, error: Exception) -> Response:
    problem = Problem(
        code=ErrorCode.NOT_FOUND,
        message=f"nothing is at {request.url.path}",
        suggestion="GET /openapi.json lists what this service answers.",
    )
    return error_response(problem, request.scope)
