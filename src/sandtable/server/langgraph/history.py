"""The states of a thread, newest first, as branching clients need them.

Invariant: a client that asks for few states still gets every one it needs to fork at an older message (up
to MOST); those it did not ask for are light, but for the ends of branches, which it may show.
"""

from __future__ import annotations

from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import StateSnapshot

from sandtable.errors import NotFound
from sandtable.quoting import quote
from sandtable.server.langgraph.wire import light, shown, state_json

MOST = 400

Graph = CompiledStateGraph[Any, Any, Any, Any]


def place(thread_id: str, checkpoint_id: str | None = None) -> RunnableConfig:
    named = {"checkpoint_id": checkpoint_id} if checkpoint_id else {}
    return {"configurable": {"thread_id": thread_id, "checkpoint_ns": "", **named}}


async def state_of(graph: Graph, thread_id: str, checkpoint_id: str | None = None) -> StateSnapshot:
    """Raises NotFound for a checkpoint that is not there."""
    state = await graph.aget_state(place(thread_id, checkpoint_id))
    if checkpoint_id and not state.created_at:
        raise NotFound(
            f"no checkpoint {quote(checkpoint_id)} in this thread",
            suggestion="Take one from the thread's history.",
            checkpoint_id=checkpoint_id,
        )
    return state


def whole_state(state: StateSnapshot, *, busy: bool) -> dict[str, Any]:
    """A state on its own. `next` is named only where a person is asked: else nothing waits for anybody."""
    return state_json(state, shown(state.values), pending=bool(state.interrupts) and not busy)


async def history_of(
    graph: Graph,
    thread_id: str,
    *,
    limit: int,
    busy: bool = False,
    before: str | None = None,
    at: str | None = None,
) -> list[dict[str, Any]]:
    states: list[dict[str, Any]] = []
    parents: set[str] = set()
    most = limit if before or at else max(limit, MOST)
    bound = place(thread_id, before) if before else None
    async for state in graph.aget_state_history(place(thread_id, at), before=bound, limit=most):
        end = _id(state.config) not in parents
        parents.add(_id(state.parent_config))
        values = shown(state.values) if len(states) < limit or end else light(state.values)
        # What the newest state waits for is being worked on while the thread is busy.
        asked = bool(state.interrupts) and not (busy and not states)
        states.append(state_json(state, values, pending=asked or not end))
    return states


def _id(config: RunnableConfig | None) -> str:
    return str(((config or {}).get("configurable") or {}).get("checkpoint_id"))
