"""Submits runs and waits for them. Cancelling the wait cancels the runs.

Invariant: no run outlives its turn, at whatever point the turn is cancelled.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import structlog

from sandtable.agent.means import Desk, Means
from sandtable.capsule.query import PlanQuery, SqlQuery
from sandtable.catalog.model import Dataset
from sandtable.errors import SandtableError
from sandtable.runs.lookup import Execute
from sandtable.runs.model import Run, RunRequest

log = structlog.get_logger(__name__)

PATIENCE_S = 0.1
"""A run that takes longer than this is reported as running; a shorter one has ended by then."""


async def execute(runs: Desk, requests: Sequence[RunRequest], tell: Callable[[Run], None]) -> list[Run]:
    """The ended runs, in order; `tell` gets each state of the first. Raises what `submit` and `wait` raise."""
    accepted: list[Run] = []
    try:
        for request in requests:
            await _hand_in(runs, request, accepted)
            if len(accepted) == 1:
                tell(accepted[0])
        main = await runs.wait(accepted[0].id, PATIENCE_S)
        if not main.ended:
            tell(main)
            main = await runs.wait(main.id)
        tell(main)
        return [main, *[await runs.wait(run.id) for run in accepted[1:]]]
    except (asyncio.CancelledError, SandtableError):
        await asyncio.shield(_cancel(runs, accepted))
        raise


def looking_up(means: Means, dataset: Dataset, user: str, question: str = "") -> Execute:
    """Executes queries that Sandtable makes itself, to look something up for a turn."""

    async def looked_up(query: PlanQuery | SqlQuery) -> Run:
        request = RunRequest(dataset_id=dataset.id, query=query, question=question, user=user)
        [ended] = await execute(means.runs, [request], lambda _: None)
        return ended

    return looked_up


async def _hand_in(runs: Desk, request: RunRequest, accepted: list[Run]) -> None:
    """Completes a submission even if cancelled, so that its run can be cancelled."""
    submission = asyncio.ensure_future(runs.submit(request))
    try:
        accepted.append(await asyncio.shield(submission))
    except asyncio.CancelledError:
        accepted.append(await submission)
        raise


async def _cancel(runs: Desk, accepted: Sequence[Run]) -> None:
    for run in accepted:
        try:
            await runs.cancel(run.id)
        except SandtableError as error:
            log.warning("run_not_cancelled", run_id=run.id, reason=error.message)
