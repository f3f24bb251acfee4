"""The states of a thread, newest first, as branching clients need them.

Invariant: a client that asks for few states still gets every state that it needs to fork at an older message (up to
MOST). States beyond its limit hold no message content, except the ends of branches, which it may show.
"""

from __future__ import annotations

from contextlib import aclosing
from typing import Any

from sandtable.agent.turn_events import ThreadState
from sandtable.conversations.conversation import Conversation
from sandtable.server.langgraph.wire import light, state_json

MOST = 400


def whole_state(state: ThreadState, *, busy: bool) -> dict[str, Any]:
    """A single state. `next` is set only where a person has to decide: nothing else waits for a client."""
    return state_json(state, state.values, pending=bool(state.requests) and not busy)


async def history_of(
    talk: Conversation,
    thread_id: str,
    *,
    limit: int,
    busy: bool = False,
    before: str | None = None,
    at: str | None = None,
) -> list[dict[str, Any]]:
    states: list[dict[str, Any]] = []
    parents: set[str | None] = set()
    most = limit if before or at else max(limit, MOST)
    async with aclosing(talk.threads.history(thread_id, at=at, before=before, limit=most)) as found:
        async for state in found:
            end = state.checkpoint_id not in parents
            parents.add(state.parent_id)
            values = state.values if len(states) < limit or end else light(state.values)
            # While the thread is busy, a turn works on what the newest state waits for.
            asked = bool(state.requests) and not (busy and not states)
            states.append(state_json(state, values, pending=asked or not end))
    return states
