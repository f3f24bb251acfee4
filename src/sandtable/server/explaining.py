"""Why a run found nothing: asked for by itself, so that no other run waits for it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request
from pydantic import BaseModel, ConfigDict, Field

from sandtable.assemble import Parts
from sandtable.policy.verdict import Fix
from sandtable.runs.empty import explained
from sandtable.runs.explanation import Explanation
from sandtable.runs.fair_queue import FairQueue
from sandtable.runs.lookup import executing
from sandtable.server import logs
from sandtable.server.callers import User
from sandtable.server.errors import ErrorBody
from sandtable.server.hanging_up import while_there

router = APIRouter(tags=["runs"])


class ExplanationView(BaseModel):
    model_config = ConfigDict(frozen=True)

    run_id: str
    text: str = Field(
        description="Sentences; empty where nothing can be said, as for a run that found something, or has no result."
    )
    run_ids: tuple[str, ...] = Field(description="The runs that counted what the text says.")
    fixes: tuple[Fix, ...] = Field(
        description="Plans, or SQL, with other values that the gate approves, the likeliest first."
    )


@router.post(
    "/runs/{run_id}/explain",
    operation_id="explain_run",
    summary="Why a plan or SQL found nothing",
    responses={404: {"model": ErrorBody, "description": "No such run."}},
)
async def explain_run(
    request: Request,
    run_id: Annotated[str, Path(max_length=128, examples=["run_019a83f0c1d2000000a1b2c3d4e5f607"])],
    user: User,
) -> ExplanationView:
    """The first condition that leaves no rows, counted by a further run, and corrections of values that no row has.

    SQL that reads a CTE or a subquery without rows takes a run for each of them.
    """
    logs.bind(run_id=run_id)
    why = await while_there(request, _explained(request, run_id, user))
    return ExplanationView(run_id=run_id, text=why.text, run_ids=why.run_ids, fixes=why.fixes)


async def _explained(request: Request, run_id: str, user: str) -> Explanation:
    parts: Parts = request.app.state.parts
    checks: FairQueue = request.app.state.checks
    run = await parts.runs.get(run_id)
    if run.rows is None:
        return Explanation()
    dataset = await parts.datasets.ready(run.request.dataset_id)
    profile = await parts.datasets.profile(dataset)
    async with checks.place(user):
        execute = executing(parts.runs, dataset.id, user)
        return await explained(run, dataset, profile, execute, parts.check, parts.read_sql)
