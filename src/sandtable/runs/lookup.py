"""Texts of a plan or of SQL looked up in the data: by the profile where it lists all values of a column, else by runs.

Invariant: a text is called missing only if a profile that is complete, or a run, says so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import structlog

from sandtable.capsule.query import PlanQuery, SqlQuery
from sandtable.catalog.model import Dataset
from sandtable.catalog.profile import Profile
from sandtable.errors import SandtableError
from sandtable.plan.literals import Plan, TextLiteral, text_literals
from sandtable.plan.lookup import MissingValue, counts_of, missing_values, spellings_of, undecided
from sandtable.runs.model import Run, RunRequest

log = structlog.get_logger(__name__)

MOST_SPELLED = 3
"""Missing texts of one query whose spellings are looked up in the data."""

Execute = Callable[[PlanQuery | SqlQuery], Awaitable[Run]]
"""Runs a query through the gate and the sandbox, and waits for its end."""


class Desk(Protocol):
    """Where runs are submitted: `runs.desk.Runs`."""

    async def submit(self, request: RunRequest) -> Run: ...
    async def wait(self, run_id: str, timeout_s: float | None = None) -> Run: ...
    async def cancel(self, run_id: str) -> Run: ...


def executing(runs: Desk, dataset_id: str, user: str) -> Execute:
    """Executes queries for a caller that asks about a run. Cancelling the wait cancels the run."""

    async def execute(query: PlanQuery | SqlQuery) -> Run:
        accepted = await runs.submit(RunRequest(dataset_id=dataset_id, query=query, user=user))
        try:
            return await runs.wait(accepted.id)
        except asyncio.CancelledError:
            await runs.cancel(accepted.id)
            raise

    return execute


@dataclass(frozen=True, slots=True)
class LookedUp:
    missing: tuple[MissingValue, ...] = ()
    run_ids: tuple[str, ...] = ()
    """The runs that say so; none where the profile does."""


async def look_up(
    plan: Mapping[str, Any], dataset: Dataset, profile: Profile, execute: Execute | None
) -> LookedUp:
    """The texts of a plan, as below."""
    return await look_up_texts(text_literals(plan, dataset), dataset, profile, execute)


async def look_up_texts(
    literals: Sequence[TextLiteral], dataset: Dataset, profile: Profile, execute: Execute | None
) -> LookedUp:
    """Without `execute`, or if a run fails, texts that the profile cannot decide are taken as held."""
    open_ones = undecided(literals, profile) if literals and execute is not None else ()
    if execute is None or not open_ones:
        return LookedUp(missing_values(literals, profile, dataset))
    ran: list[Run] = []
    counted: dict[TextLiteral, bool] = {}
    for counts, ours in counts_of(open_ones, dataset.id):
        rows = await _rows(execute, counts, ran)
        if len(rows) == 1:
            counted |= {literal: bool(count) for literal, count in zip(ours, rows[0], strict=True)}
    spellings: dict[TextLiteral, list[str]] = {}
    for literal in [each for each, there in counted.items() if not there][:MOST_SPELLED]:
        rows = await _rows(execute, spellings_of(literal, dataset.id), ran)
        spellings[literal] = [row[0] for row in rows if isinstance(row[0], str)]
    missing = missing_values(literals, profile, dataset, counted, spellings)
    return LookedUp(missing, tuple(run.id for run in ran) if missing else ())


async def _rows(execute: Execute, plan: Plan, ran: list[Run]) -> Sequence[Sequence[Any]]:
    try:
        run = await execute(PlanQuery(plan))
    except SandtableError as error:
        # The query itself is run all the same, and fails for the same reason or answers.
        log.warning("values_not_looked_up", reason=error.message)
        return ()
    if run.status != "succeeded":
        return ()
    ran.append(run)
    return run.rows or ()
