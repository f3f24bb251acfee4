"""Answers as files: of one run, and of a whole conversation.

Invariant: a file holds what the one who asks for it may see, and nothing is run for it.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response

from sandtable.answer_files.forms import ENDINGS, MEDIA_TYPES, AnswerFile, Form, file_of
from sandtable.answer_files.shown import Shown
from sandtable.answer_files.thread import answers_in
from sandtable.assemble import Parts
from sandtable.assemble.pages import page_of_answers, run_and_answer, shown_in_thread
from sandtable.conversations.model import Thread
from sandtable.errors import NotFound
from sandtable.runs.fair_queue import FairQueue
from sandtable.server import logs
from sandtable.server.callers import User
from sandtable.server.errors import ErrorBody
from sandtable.server.hanging_up import while_there
from sandtable.server.lazy_conversation import Talking

router = APIRouter()

RunId = Annotated[str, Path(max_length=128, examples=["run_019a83f0c1d2000000a1b2c3d4e5f607"])]
ThreadId = Annotated[str, Path(max_length=128, examples=["6f0dcb3e-7d43-4f3f-9b0e-3f9f6f9f2a11"])]
_FORM = "page: one HTML file that proves itself. csv: the tables in a ZIP archive."
WantedForm = Annotated[Form, Path(description=_FORM, examples=["page"])]
_LONGEST_TITLE = 200
_UNTITLED = "Conversation"


def _answers(missing: str) -> dict[int | str, dict[str, Any]]:
    # A notebook is JSON, and is described as such; the others are bytes.
    described = {
        MEDIA_TYPES[form].partition(";")[0]: {"type": "object"}
        if form == "notebook"
        else {"type": "string", "format": "binary"}
        for form in ENDINGS
    }
    return {
        200: {
            "description": "The file.",
            "content": {kind: {"schema": schema} for kind, schema in sorted(described.items())},
            "headers": {
                "Content-Disposition": {
                    "description": "The name of the file.",
                    "schema": {"type": "string", "pattern": "^attachment; filename="},
                }
            },
        },
        404: {"model": ErrorBody, "description": missing},
    }


@router.get(
    "/runs/{run_id}/export/{form}",
    operation_id="export_run",
    tags=["capsules"],
    summary="A run's answer as a file",
    response_class=Response,
    responses=_answers("No such run, it has not ended, or it has no table for `csv`."),
)
async def export_run(request: Request, run_id: RunId, form: WantedForm, user: User) -> Response:
    """Its sentence is worded from its plan and rows."""
    logs.bind(run_id=run_id)
    parts: Parts = request.app.state.parts

    async def made() -> AnswerFile:
        async with _checks(request).place(user):
            run, answer = await run_and_answer(parts, run_id)
            title = _titled(answer.question) or run.id
            return await file_of(form, [Shown(answer, run)], title, partial(page_of_answers, parts))

    return _file(await while_there(request, made()))


@router.get(
    "/threads/{thread_id}/export/{form}",
    operation_id="export_thread",
    tags=["capsules"],
    summary="A conversation's answers as a file",
    response_class=Response,
    responses=_answers("No such conversation, it has no answers, or none of them has a table for `csv`."),
)
async def export_thread(
    request: Request, talk: Talking, thread_id: ThreadId, form: WantedForm, user: User
) -> Response:
    """Questions and answers as they stand in the conversation, with the capsules of all runs that they rest on."""
    thread = await talk.thread(thread_id)
    parts: Parts = request.app.state.parts

    async def made() -> AnswerFile:
        state = await talk.threads.state(thread_id)
        answers = answers_in(state.values)
        if not answers:
            raise NotFound(
                "the conversation has no answer yet", suggestion="Ask something in it, and export it then."
            )
        async with _checks(request).place(user):
            shown = await shown_in_thread(parts, answers)
            return await file_of(form, shown, title_of(thread), partial(page_of_answers, parts))

    return _file(await while_there(request, made()))


def title_of(thread: Thread) -> str:
    """What a person called it, else what its first answer computed, else its first question."""
    given = thread.metadata.get("title")
    return _titled(given if isinstance(given, str) else "") or _titled(
        thread.title or thread.opening or _UNTITLED
    )


def _titled(text: str) -> str:
    return " ".join(text.split())[:_LONGEST_TITLE]


def _checks(request: Request) -> FairQueue:
    return request.app.state.checks


def _file(made: AnswerFile) -> Response:
    name = made.name.encode("ascii", "replace").decode().replace("?", "-")
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(made.content, media_type=made.media_type, headers=headers)
