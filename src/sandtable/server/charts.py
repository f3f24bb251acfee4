"""A run's rows as another kind of chart: drawn on the server, so that all interfaces draw by the same rules."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from sandtable.assemble import Parts
from sandtable.chart.figure import FigureKind, kind_of
from sandtable.chart.wishes import why_not
from sandtable.errors import InvalidInput
from sandtable.runs.as_asked import dataset_as_asked
from sandtable.runs.draw import draw_each_kind
from sandtable.runs.export import require_result
from sandtable.runs.fair_queue import FairQueue
from sandtable.server import logs
from sandtable.server.callers import User
from sandtable.server.errors import ErrorBody
from sandtable.server.hanging_up import while_there

router = APIRouter(tags=["runs"])


class ChartView(BaseModel):
    model_config = ConfigDict(frozen=True)

    run_id: str
    kind: FigureKind | None = Field(description="What `figure` is.")
    figure: dict[str, Any] | None = Field(
        description="A Plotly figure: of the kind that was asked for, else the one that the run was answered with."
    )
    kinds: tuple[FigureKind, ...] = Field(description="Every kind that can show the rows of the run.")


@router.get(
    "/runs/{run_id}/chart",
    operation_id="get_chart",
    summary="A run's rows as a chart of any kind that can show them",
    responses={404: {"model": ErrorBody, "description": "No such run, or it has no result."}},
)
async def get_chart(
    request: Request,
    run_id: Annotated[str, Path(max_length=128, examples=["run_019a83f0c1d2000000a1b2c3d4e5f607"])],
    user: User,
    kind: Annotated[FigureKind | None, Query(description="Left out: the chart that the run has.")] = None,
) -> ChartView:
    """Drawn from the rows that the run keeps, its question and its plan. What the capsule holds stays as it is."""
    logs.bind(run_id=run_id)
    return await while_there(request, _chart(request, run_id, user, kind))


async def _chart(request: Request, run_id: str, user: str, kind: FigureKind | None) -> ChartView:
    parts: Parts = request.app.state.parts
    checks: FairQueue = request.app.state.checks
    run = await parts.runs.get(run_id)
    require_result(run)
    dataset = await dataset_as_asked(parts.datasets, run)
    async with checks.place(user):
        drawn = await asyncio.to_thread(draw_each_kind, run, dataset)
    if kind is None:
        # A figure that code showed was made by the code, not by these rules.
        own = None if run.artifacts else run.chart
        return ChartView(run_id=run.id, kind=kind_of(own), figure=own, kinds=tuple(drawn))
    if kind not in drawn:
        raise InvalidInput(
            why_not(kind),
            suggestion=f"Choose one of: {', '.join(drawn)}." if drawn else "Read them in the table.",
            kinds=list(drawn),
        )
    return ChartView(run_id=run.id, kind=kind, figure=drawn[kind], kinds=tuple(drawn))
