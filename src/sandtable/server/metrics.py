"""Prometheus metrics at `/metrics`: `telemetry.measures` lists them.

Invariant: runs and their limit are counted in the store, so that servers that share it report the same numbers; no
content of a run is included.
"""

from __future__ import annotations

from typing import get_args

from fastapi import APIRouter, Request, Response

from sandtable import __version__
from sandtable.assemble import Parts
from sandtable.errors import NotFound
from sandtable.sandbox.local.executor import LocalExecutor
from sandtable.server.lazy_conversation import LazyConversation
from sandtable.store.run_store import Status
from sandtable.telemetry.metrics import CONTENT_TYPE, Metrics

router = APIRouter(tags=["health"])


@router.get("/metrics", include_in_schema=False)
async def metrics(request: Request) -> Response:
    parts: Parts = request.app.state.parts
    found = parts.telemetry.metrics
    if found is None:
        raise NotFound("nothing is counted here", suggestion="Start the server with `sandtable serve`.")
    await _look_up(found, parts, request.app.state.conversation)
    return Response(found.text(), media_type=CONTENT_TYPE)


async def _look_up(metrics: Metrics, parts: Parts, conversation: LazyConversation) -> None:
    counts = await parts.runs.counts()
    metrics.set("sandtable_build_info", 1, version=__version__)
    for status in get_args(Status):
        metrics.set("sandtable_runs", counts.get(status, 0), status=status)
    metrics.set("sandtable_queue_limit", parts.settings.queue_limit)
    metrics.set("sandtable_runs_executing", parts.runs.executing)
    metrics.set("sandtable_runs_concurrency", parts.settings.concurrency)
    opened = conversation.opened
    working, waiting = (0, 0) if opened is None else opened.line.counts
    metrics.set("sandtable_turns_under_way", working)
    metrics.set("sandtable_turns_waiting", waiting)
    metrics.set("sandtable_sessions_live", parts.sessions.live)
    metrics.set("sandtable_imports_under_way", parts.imports.under_way)
    for pool, tier in (("runs", parts.tiers.looks), ("indexing", parts.tiers.index)):
        if isinstance(tier, LocalExecutor):
            for (kind, shelf), number in tier.ready_now().items():
                metrics.set("sandtable_sandboxes_ready", number, pool=pool, kind=kind, shelf=shelf)
