"""Threads, turns and states in the shapes of the LangGraph protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from starlette.responses import Response

from sandtable.agent.turn_events import DecisionRequest, PendingStep, ThreadState
from sandtable.catalog.model import Dataset
from sandtable.conversations.json_text import encode
from sandtable.conversations.model import Thread, TurnRecord

PREFIX = "/langgraph"
_TOLD = frozenset(("source", "step", "parents", "run_id"))
GREETING = "greeting"
"""Marks a thread that began with our greeting, in its metadata."""
UNASKED = "New conversation"


def answer(value: Any, headers: Mapping[str, str] | None = None) -> Response:
    return Response(encode(value), media_type="application/json", headers=dict(headers or {}))


def assistant_id_of(dataset_id: str) -> str:
    """A UUID: clients distinguish assistants from graphs by the form of the id."""
    return str(uuid5(NAMESPACE_URL, f"sandtable:dataset:{dataset_id}"))


def assistant_json(dataset: Dataset, since: str) -> dict[str, Any]:
    return {
        "assistant_id": assistant_id_of(dataset.id),
        "graph_id": dataset.id,
        "name": dataset.title or dataset.id,
        "description": dataset.description,
        "config": {},
        "context": {},
        "metadata": {"created_by": "system", "dataset_id": dataset.id, "prompts": list(dataset.prompts)},
        "version": 1,
        "created_at": since,
        "updated_at": since,
    }


def thread_json(thread: Thread, values: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Without the state, `values` holds the first message: as much as a list shows.

    `title` in the metadata is what a person called the thread, else what its first answer computed.
    """
    opening = thread.opening or (UNASKED if GREETING in thread.metadata else None)
    if values is None and opening is not None:
        values = {"messages": [{"type": "human", "content": opening}]}
    return {
        "thread_id": thread.id,
        "created_at": thread.created_at,
        "updated_at": thread.updated_at,
        "state_updated_at": thread.updated_at,
        "metadata": {"title": thread.title, **thread.metadata} if thread.title else thread.metadata,
        "status": thread.status,
        "config": {},
        "values": values,
        "interrupts": {},
        "error": thread.error,
        "owner": thread.user,
    }


def run_json(turn: TurnRecord) -> dict[str, Any]:
    return {
        "run_id": turn.id,
        "thread_id": turn.thread_id,
        "assistant_id": assistant_id_of(turn.dataset_id),
        "created_at": turn.created_at,
        "updated_at": turn.updated_at,
        "status": turn.status,
        "metadata": {**turn.metadata, "graph_id": turn.dataset_id},
        "multitask_strategy": turn.strategy,
        "error": turn.error,
    }


def run_headers(turn: TurnRecord) -> dict[str, str]:
    """Relative to where the protocol is mounted: clients put their own base address in front."""
    place = f"/threads/{turn.thread_id}/runs/{turn.id}"
    return {"Content-Location": place, "Location": f"{place}/stream"}


def state_json(state: ThreadState, values: Any, *, pending: bool) -> dict[str, Any]:
    """`pending`: whether `next` may be set. Chat interfaces treat it as a question to the person."""
    return {
        "values": values,
        "next": list(state.next) if pending else [],
        "tasks": [_task(step) for step in state.pending] if pending else [],
        "metadata": {name: value for name, value in state.metadata.items() if name in _TOLD},
        "created_at": state.created_at,
        "checkpoint": checkpoint_json(state.thread_id, state.checkpoint_id),
        "parent_checkpoint": checkpoint_json(state.thread_id, state.parent_id),
        "interrupts": [_interrupt(one) for one in state.requests] if pending else [],
    }


def checkpoint_json(thread_id: str, checkpoint_id: str | None) -> dict[str, Any] | None:
    if checkpoint_id is None:
        return None
    return {"thread_id": thread_id, "checkpoint_ns": "", "checkpoint_id": checkpoint_id}


def interrupt_chunk(request: DecisionRequest) -> dict[str, Any]:
    """As LangGraph's `Interrupt` is encoded in a stream, and in the state that a run ends with."""
    return {"value": request.value, "id": request.id, "response_schema": None}


def _interrupt(request: DecisionRequest) -> dict[str, Any]:
    return {"id": request.id, "value": request.value}


def _task(step: PendingStep) -> dict[str, Any]:
    return {
        "id": step.id,
        "name": step.name,
        "path": list(step.path),
        "error": "the step failed" if step.failed else None,
        "interrupts": [_interrupt(one) for one in step.requests],
        "checkpoint": None,
        "state": None,
        "result": None,
    }


def light(values: Mapping[str, Any]) -> dict[str, Any]:
    """Messages without their content: enough to find the place of a message in the history."""
    messages: Sequence[Any] = values.get("messages") or ()
    return {"messages": [{"id": m.id, "type": m.type, "content": ""} for m in messages]}
