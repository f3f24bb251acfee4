"""The entries of a turn's journal as the chunks of a LangGraph stream.

Invariant: an entry is at most one chunk, and its number is the chunk's id, so a client resumes at any chunk.
"""

from __future__ import annotations

from collections.abc import Iterable

from sandtable.agent.turn_events import DecisionsAwaited, Detail
from sandtable.conversations.conversation import Conversation
from sandtable.conversations.json_text import encode
from sandtable.conversations.model import JournalEntry, TurnRecord
from sandtable.conversations.turn_events import TurnBegun, TurnFailed, present_data, read, requests_of
from sandtable.conversations.turn_start import TurnStart, short_state
from sandtable.errors import NotFound
from sandtable.server.langgraph.wire import interrupt_chunk

_DETAILS: dict[str, tuple[Detail, ...]] = {
    "values": ("states",),
    "updates": ("steps", "decisions"),
    "messages": ("texts",),
    "custom": ("events",),
}
_NAMES = {
    "begun": "metadata",
    "event": "custom",
    "ui": "custom",
    "text": "messages",
    "step": "updates",
    "decision": "updates",
    "state": "values",
    "failed": "error",
}
_ALWAYS = ("metadata", "error")


def details_of(modes: Iterable[str]) -> frozenset[Detail]:
    """What a journal has to hold for these stream modes."""
    return frozenset(detail for mode in modes for detail in _DETAILS[_event_name(mode)])


def names_of(modes: Iterable[str]) -> frozenset[str]:
    """The events that a client of these stream modes gets."""
    return frozenset(map(_event_name, modes)).union(_ALWAYS)


def name_of(entry: JournalEntry) -> str | None:
    """None for an entry of another version of the server."""
    return _NAMES.get(entry.kind)


async def data_of(talk: Conversation, turn: TurnRecord, entry: JournalEntry) -> str | None:
    """None for a state whose thread is gone."""
    if entry.kind == "state":
        return await _values(talk, turn.thread_id, entry.data)
    match read(entry) if entry.kind in ("begun", "decision", "failed") else None:
        case TurnBegun(attempt=attempt):
            return encode({"run_id": turn.id, "thread_id": turn.thread_id, "attempt": attempt})
        case TurnFailed() as failed:
            return encode(failed.stored)
        case DecisionsAwaited(requests=requests):
            return encode({"__interrupt__": list(map(interrupt_chunk, requests))})
        case _:
            return present_data(entry)


async def _values(talk: Conversation, thread_id: str, data: str) -> str | None:
    short = short_state(data)
    try:
        start = TurnStart() if short.since is None else await talk.turns.start_of(thread_id, short.since)
    except NotFound:
        return None
    values = start.whole(short)
    if not short.requests:
        return values
    asked = encode(list(map(interrupt_chunk, requests_of(short.requests))))
    separator = "," if len(values) > 2 else ""
    return f'{values[:-1]}{separator}"__interrupt__":{asked}}}'


def _event_name(mode: str) -> str:
    return mode.removesuffix("-tuple")
