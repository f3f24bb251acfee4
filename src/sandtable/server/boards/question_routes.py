"""Kept questions: a query with a name, and the run that it shows."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Path, Query, Request, Response

from sandtable.assemble import Parts
from sandtable.capsule.query import CodeQuery, fields_of
from sandtable.errors import InvalidInput
from sandtable.server import logs
from sandtable.server.access.boards import SeenBoards
from sandtable.server.boards import views
from sandtable.server.boards.running import run_again
from sandtable.server.errors import ErrorBody
from sandtable.server.views import RunView

router = APIRouter(tags=["boards"])

ANSWERS: dict[int | str, dict[str, Any]] = {404: {"model": ErrorBody, "description": "No such thing."}}
CHANGED: dict[int | str, dict[str, Any]] = {
    409: {"model": ErrorBody, "description": "It was changed meanwhile: `before` is not its edition."}
}
LONGEST_WAIT_S = 60.0
_KEPT = ("plan", "sql", "python", "names")
_EXAMPLE: dict[str, Any] = {
    "answer": {
        "summary": "An answer",
        "value": {"run_id": "run_019a83f0c1d2000000a1b2c3d4e5f607", "name": "Return rate by category"},
    }
}

QuestionId = Annotated[str, Path(max_length=64, examples=["q_6f0d1c7e3a514f0e9a530c7a2f1f7d2b"])]
Wait = Annotated[
    float, Query(ge=0, le=LONGEST_WAIT_S, description="Seconds to wait for the run's end before answering.")
]


def boards_of(request: Request) -> SeenBoards:
    return request.app.state.parts.boards


@router.get("/questions", operation_id="list_questions", summary="Kept questions")
async def list_questions(request: Request) -> list[views.QuestionView]:
    """Those of the asking user, the last changed first, then those that are shared."""
    return [views.QuestionView.of(each) for each in await boards_of(request).questions()]


@router.post(
    "/questions", operation_id="keep_question", summary="Keep what a run answered", status_code=201,
    responses=ANSWERS,
)  # fmt: skip
async def keep_question(
    request: Request, body: Annotated[views.KeepBody, Body(openapi_examples=_EXAMPLE)]
) -> views.QuestionView:
    """The question, the plan (or SQL or Python) and the run itself, under a name."""
    parts: Parts = request.app.state.parts
    run = await parts.runs.get(body.run_id)
    logs.bind(run_id=run.id)
    if run.status != "succeeded" or run.request.mode == "dry_run":
        raise InvalidInput(
            "only a run that gave an answer can be kept",
            suggestion="Keep a run whose status is `succeeded`, and that was no dry run.",
            field="run_id",
        )
    query = run.request.query
    if isinstance(query, CodeQuery) and query.session is not None:
        raise InvalidInput(
            "code of a conversation can depend on what ran before it, so it cannot be kept",
            suggestion="Ask for the same with a plan or SQL, and keep that.",
            field="run_id",
        )
    fields = {name: value for name, value in fields_of(query).items() if name in _KEPT}
    return views.QuestionView.of(await boards_of(request).keep(body.name.strip(), run, fields, body.chart))


@router.get(
    "/questions/{question_id}", operation_id="get_question", summary="One kept question", responses=ANSWERS
)
async def get_question(request: Request, question_id: QuestionId) -> views.QuestionView:
    return views.QuestionView.of(await boards_of(request).question(question_id))


@router.patch(
    "/questions/{question_id}",
    operation_id="change_question",
    summary="Rename a kept question, or choose its chart",
    responses=ANSWERS | CHANGED,
)
async def change_question(
    request: Request, question_id: QuestionId, body: views.QuestionChange
) -> views.QuestionView:
    boards = boards_of(request)
    before = await boards.question(question_id)
    name = before.name if body.name is None else body.name.strip()
    chart = body.chart if "chart" in body.model_fields_set else before.chart
    return views.QuestionView.of(
        await boards.change_question(question_id, body.before, name=name, chart=chart)
    )


@router.delete(
    "/questions/{question_id}",
    operation_id="delete_question",
    summary="Delete a kept question",
    status_code=204,
    response_class=Response,
    responses=ANSWERS,
)
async def delete_question(request: Request, question_id: QuestionId) -> None:
    """Its runs stay, as long as all runs do. Tiles with it stay on their boards and say that it is gone."""
    await boards_of(request).remove_question(question_id)


@router.post(
    "/questions/{question_id}/run",
    operation_id="run_question",
    summary="Run a kept question again",
    responses=ANSWERS,
)
async def run_question(
    request: Request, question_id: QuestionId, body: views.RunAgainBody, wait: Wait = 30.0
) -> RunView:
    """A run of the asking user. If that is the question's owner, the question shows it from then on, unless it
    failed."""
    boards = boards_of(request)
    question = await boards.question(question_id)
    run, _ = await run_again(request, question, (), cache=body.cache, wait_s=wait)
    if not run.ended or run.status == "succeeded":
        await boards.note_run(question, run)
    return RunView.of(run)
