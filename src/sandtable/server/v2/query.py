"""`POST /v2/query`: accepts a question, and works on it with or without a listener."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

import structlog
from fastapi import APIRouter, Body, Request

from sandtable.agent.events import Log
from sandtable.agent.turn_events import with_plan
from sandtable.assemble import Parts
from sandtable.catalog.model import Dataset
from sandtable.catalog.names import nearest
from sandtable.conversations.conversation import same_dataset
from sandtable.conversations.running import EVENTS, TurnOrder
from sandtable.conversations.text import opening_of, plan_of, question_of
from sandtable.conversations.told_before import exchanges_before
from sandtable.errors import InvalidInput, NotFound
from sandtable.quoting import quote
from sandtable.server import logs
from sandtable.server.callers import User
from sandtable.server.errors import ErrorBody
from sandtable.server.lazy_conversation import Talking
from sandtable.server.v2.bodies import QueryAnswer, QueryBody
from sandtable.server.v2.following import MARK

_EXAMPLES: dict[str, Any] = {
    "question": {
        "summary": "A question, in a new session",
        "value": {"dataset_name": "ecommerce", "query": "Which category has the highest return rate?"},
    },
    "follow_up": {
        "summary": "A question that refers to what was said before",
        "value": {
            "session_id": "6f0d1c7e-3a51-4f0e-9a53-0c7a2f1f7d2b",
            "dataset_name": "ecommerce",
            "query": "now only for Germany",
        },
    },
}
_ANSWERS: dict[int | str, dict[str, Any]] = {
    404: {"model": ErrorBody, "description": "No such dataset or session."},
    409: {"model": ErrorBody, "description": "Another server is answering in this session."},
    507: {"model": ErrorBody, "description": "The user has as much stored as one user may have."},
}
_UNUSED = Log(text="conversation_history was not used: this session remembers what was said in it.")

router = APIRouter(tags=["query"])
log = structlog.get_logger("sandtable.server")


@router.post(
    "/v2/query",
    operation_id="query",
    summary="Ask, and listen over a WebSocket",
    response_model=QueryAnswer,
    responses=_ANSWERS,
)
async def query(
    request: Request,
    talk: Talking,
    user: User,
    body: Annotated[QueryBody, Body(openapi_examples=_EXAMPLES)],
) -> QueryAnswer:
    """Without `session_id` a session begins; with it, the query may refer to what was said before. The messages that
    lead to the answer are streamed at `websocket_url`; they can be listened to later, and again."""
    question, plan = question_of(body.query, "query"), plan_of(body.plan)
    dataset = dataset_named(request.app.state.parts, body.dataset_name)
    logs.bind(dataset_id=dataset.id)
    if body.session_id is None:
        thread = await talk.new_thread(user, dataset.id)
    else:
        thread = await talk.thread(body.session_id)
        same_dataset(thread, dataset.id, "Leave `session_id` out to begin a session about another dataset.")
    logs.bind(thread_id=thread.id)
    given = body.conversation_history or []
    asked_before = thread.opening is not None
    order = TurnOrder(
        thread,
        dataset.id,
        user,
        messages=[{"content": question, "additional_kwargs": with_plan(plan)}],
        details=EVENTS,
        metadata=MARK,
        opening=opening_of(question),
        history=()
        if asked_before
        else exchanges_before(((one.asks, one.content) for one in given), question),
        streamed=False,
    )
    running = await talk.turns.begin(order)
    if asked_before and given:
        log.info("conversation_history_not_used", messages=len(given))
        running.output.add(_UNUSED)
    request.app.state.listeners.wake(thread.id)
    address = request.url_for("v2_stream", session_id=thread.id)
    return QueryAnswer(session_id=thread.id, websocket_url=str(address))


def dataset_named(parts: Parts, name: str) -> Dataset:
    """By id, or by the name of one of its files. Raises NotFound with the nearest name."""
    datasets = parts.datasets.datasets()
    found = [d for d in datasets if d.id == name]
    found = found or [d for d in datasets if d.id.lower() == name.lower()]
    found = found or [d for d in datasets if name.lower() in _files(d)]
    # An added file's dataset is named after the file.
    found = [d for d in found if d.id.lower() == name.rpartition(".")[0].lower()] or found
    if len(found) == 1:
        return found[0]
    if found:
        ids = " or ".join(quote(dataset.id) for dataset in found)
        raise InvalidInput(
            f"more than one dataset has a file {quote(name)}",
            suggestion=f"Say which: {ids}.",
            field="dataset_name",
        )
    ids = [dataset.id for dataset in datasets]
    alike = nearest(name, [*ids, *(file for dataset in datasets for file in _files(dataset))])
    hint = f"; did you mean {quote(alike)}?" if alike else ""
    raise NotFound(
        f"no dataset {quote(name)}{hint}",
        suggestion=f"The datasets are: {', '.join(ids)}.",
        dataset=name,
        nearest=alike,
    )


def _files(dataset: Dataset) -> Iterable[str]:
    return [table.file.lower() for table in dataset.tables]
