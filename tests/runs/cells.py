"""Scripted cells, and what is known of those before them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sandtable.errors import ErrorCode
from sandtable.runs.desk import Runs
from sandtable.runs.model import Run, RunRequest
from sandtable.sandbox.fake import Script
from sandtable.sandbox.job import JobError
from tests.runs.test_code import capsule_of
from tests.runs.world import World, code

QUIET = Script(columns=(), rows=(), stdout="7\n", output={"artifacts": []})
FAILS = Script(error=JobError(code=ErrorCode.VALIDATION_ERROR, type="ValueError", message="no"))
KILLS = Script(
    error=JobError(code=ErrorCode.RUNNER_RESOURCE_EXCEEDED, type="MemoryError", message="too much"),
    kills=True,
)


def script_cells(world: World) -> None:
    for text in ("a", "b", "c", "d", "datetime.now()"):
        world.executor.on(text, QUIET)
    world.executor.on("fails", FAILS)
    world.executor.on("kills", KILLS)
    world.executor.on("slow", replace(QUIET, delay_s=60))


def cell(text: str, session: str = "s", **more: Any) -> RunRequest:
    return code(text, session=session, **more)


async def before(runs: Runs, run: Run) -> list[tuple[str, bool]] | None:
    found = (await capsule_of(runs, run)).before
    return None if found is None else [(earlier.python, earlier.interrupted) for earlier in found]


def ran_in(world: World) -> list[list[str]]:
    return [session.cells for session in world.executor.sessions]
