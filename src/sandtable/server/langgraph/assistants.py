"""One assistant per dataset, and the endpoints that a client calls first."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from sandtable import __version__
from sandtable.assemble import Parts
from sandtable.catalog.model import Dataset
from sandtable.server.langgraph.bodies import AssistantSearch
from sandtable.server.langgraph.wire import PREFIX, answer, assistant_id_of, assistant_json
from sandtable.server.lazy_conversation import known_dataset

SINCE = "2026-01-01T00:00:00+00:00"
"""A fixed creation date: assistants are never created, but clients require a date."""
_NODES = ("__start__", "analyst", "__end__")

router = APIRouter(prefix=PREFIX, include_in_schema=False)


def dataset_of(parts: Parts, assistant_id: str) -> Dataset:
    """By the assistant's id or by the dataset's id. Raises NotFound with the nearest name."""
    for dataset in parts.datasets.datasets():
        if assistant_id in (dataset.id, assistant_id_of(dataset.id)):
            return dataset
    return parts.datasets.get(known_dataset(parts, assistant_id))


def _dataset(request: Request, assistant_id: str) -> Dataset:
    return dataset_of(request.app.state.parts, assistant_id)


@router.get("/ok")
async def ok() -> dict[str, bool]:
    return {"ok": True}


@router.get("/info")
async def info() -> dict[str, Any]:
    return {"version": __version__, "flags": {"assistants": True, "crons": False, "langsmith": False}}


@router.post("/assistants/search")
async def search_assistants(request: Request, wanted: AssistantSearch) -> Response:
    parts: Parts = request.app.state.parts
    found = [assistant_json(dataset, SINCE) for dataset in parts.datasets.datasets() if _is(dataset, wanted)]
    return answer(found[wanted.offset : wanted.offset + wanted.limit])


@router.post("/assistants/count")
async def count_assistants(request: Request, wanted: AssistantSearch) -> int:
    parts: Parts = request.app.state.parts
    return sum(_is(dataset, wanted) for dataset in parts.datasets.datasets())


def _is(dataset: Dataset, wanted: AssistantSearch) -> bool:
    assistant = assistant_json(dataset, SINCE)
    named = wanted.name is None or wanted.name.lower() in assistant["name"].lower()
    tagged = all(assistant["metadata"].get(name) == value for name, value in wanted.metadata.items())
    return named and tagged and wanted.graph_id in (None, dataset.id)


@router.get("/assistants/{assistant_id}")
async def get_assistant(request: Request, assistant_id: str) -> Response:
    return answer(assistant_json(_dataset(request, assistant_id), SINCE))


@router.get("/assistants/{assistant_id}/graph")
async def get_graph(request: Request, assistant_id: str) -> dict[str, Any]:
    """One box: how the analyst works inside is not part of the protocol."""
    _dataset(request, assistant_id)
    pairs = pairwise(_NODES)
    return {
        "nodes": [{"id": name, "type": "runnable", "data": {"name": name}} for name in _NODES],
        "edges": [{"source": source, "target": target} for source, target in pairs],
    }


@router.get("/assistants/{assistant_id}/schemas")
async def get_schemas(request: Request, assistant_id: str) -> dict[str, Any]:
    dataset = _dataset(request, assistant_id)
    message = {"type": "object", "required": ["type", "content"]}
    messages = {"type": "array", "items": message}
    state = {
        "type": "object",
        "properties": {
            "messages": messages,
            "ui": {"type": "array", "items": {"type": "object"}},
            "dataset_id": {"type": "string"},
        },
    }
    return {
        "graph_id": dataset.id,
        "input_schema": {"type": "object", "required": ["messages"], "properties": {"messages": messages}},
        "output_schema": state,
        "state_schema": state,
        "config_schema": {"type": "object", "properties": {}},
        "context_schema": {"type": "object", "properties": {}},
    }
