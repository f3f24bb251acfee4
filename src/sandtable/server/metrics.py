"""Prometheus metrics at `/metrics`: the number of runs of each status, and the length of the queue.

Counted in the store, so that servers that share it report the same numbers; no content of a run is included.
"""

from __future__ import annotations

from typing import get_args

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse

from sandtable import __version__
from sandtable.assemble import Parts
from sandtable.store.run_store import Status

router = APIRouter(tags=["health"])

_FORMAT = "text/plain; version=0.0.4; charset=utf-8"


@router.get("/metrics", include_in_schema=False)
async def metrics(request: Request) -> PlainTextResponse:
    parts: Parts = request.app.state.parts
    counts = await parts.runs.counts()
    lines = [
        *_family("sandtable_build_info", "The version that is running.", [({"version": __version__}, 1)]),
        *_family(
            "sandtable_runs",
            "Runs in the store, by status.",
            [({"status": status}, counts.get(status, 0)) for status in get_args(Status)],
        ),
        *_family("sandtable_queue_limit", "Runs that may wait.", [({}, parts.settings.queue_limit)]),
    ]
    return PlainTextResponse("\n".join(lines) + "\n", media_type=_FORMAT)


def _family(name: str, about: str, samples: list[tuple[dict[str, str], int]]) -> list[str]:
    told = [f"# HELP {name} {about}", f"# TYPE {name} gauge"]
    for labels, value in samples:
        shown = ",".join(f'{label}="{text}"' for label, text in labels.items())
        told.append(f"{name}{{{shown}}} {value}" if shown else f"{name} {value}")
    return told
