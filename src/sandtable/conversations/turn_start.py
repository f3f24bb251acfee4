"""`StateReached` in a journal: written as what the turn changed, read back as the whole state.

A turn reaches several states, and each holds the whole thread. In a journal a state names the checkpoint that the turn
began with and holds what differs from it, so its size depends on the turn, not on the length of the thread.
Invariant: `whole` gives back the values that `short` was given.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sandtable.agent.earlier_answers import present_values
from sandtable.agent.turn_events import StateReached, ThreadState
from sandtable.conversations.json_text import encode

_LISTS = ("messages", "ui")


@dataclass(frozen=True, slots=True)
class ShortState:
    """The data of a `state` entry."""

    since: str | None
    """The checkpoint that the turn began with; None when `values` is whole."""
    values: dict[str, Any]
    requests: list[dict[str, Any]]


class TurnStart:
    """The state that a turn began with."""

    def __init__(self, state: ThreadState | None = None) -> None:
        self.checkpoint_id = state.checkpoint_id if state else None
        self._items = {name: list((state.values if state else {}).get(name) or ()) for name in _LISTS}
        self._places = {
            name: {_id(item): place for place, item in enumerate(items)}
            for name, items in self._items.items()
        }
        self._texts: dict[str, list[str]] = {}

    def short(self, reached: StateReached) -> str:
        values = reached.values
        if self.checkpoint_id is not None:
            values = {
                name: self._marked(name, value) if name in _LISTS else value for name, value in values.items()
            }
        return encode(ShortState(self.checkpoint_id, dict(values), list(map(_plain, reached.requests))))

    def whole(self, short: ShortState) -> str:
        """The values as JSON."""
        if short.since is None:
            return encode(short.values)
        parts = [
            f"{encode(name)}:{self._list(name, value) if name in _LISTS else encode(value)}"
            for name, value in short.values.items()
        ]
        return f"{{{','.join(parts)}}}"

    def _marked(self, name: str, items: list[Any]) -> list[Any]:
        """`[from, to]` stands for that part of the list at the start; every item itself is an object."""
        made: list[Any] = []
        for item in items:
            place = self._places[name].get(_id(item))
            theirs = None if place is None else self._items[name][place]
            if place is None or (theirs is not item and theirs != item):
                made.append(item)
            elif made and isinstance(made[-1], list) and made[-1][1] == place:
                made[-1][1] = place + 1
            else:
                made.append([place, place + 1])
        return made

    def _list(self, name: str, marked: list[Any]) -> str:
        if name not in self._texts:
            self._texts[name] = [encode(item) for item in self._items[name]]
        texts = self._texts[name]
        parts = [texts[one[0] : one[1]] if isinstance(one, list) else [encode(one)] for one in marked]
        return f"[{','.join(text for part in parts for text in part)}]"


def short_state(data: str) -> ShortState:
    """In the present form, also where an earlier version wrote it."""
    short = ShortState(**json.loads(data))
    return replace(short, values=dict(present_values(short.values)))


def _plain(request: Any) -> dict[str, Any]:
    return {"id": request.id, "value": request.value}


def _id(item: Any) -> Any:
    return item.get("id") if isinstance(item, Mapping) else getattr(item, "id", None)
