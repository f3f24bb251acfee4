"""The `values` events of a turn: written down as what the turn changed, and put together again for a listener.

A `values` event holds the whole state, and a turn has several. In a journal it is the state that the turn began with,
by its checkpoint, and what differs from it: its size depends on the turn, not on the length of the thread. Invariant:
a listener gets the whole state.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from langgraph.types import StateSnapshot

from sandtable.server.json_text import encode
from sandtable.server.langgraph.wire import shown

SINCE = "__since__"
_LISTS = ("messages", "ui")


class Start:
    """The state that a turn began with."""

    def __init__(self, state: StateSnapshot) -> None:
        self.checkpoint_id: str | None = ((state.config or {}).get("configurable") or {}).get("checkpoint_id")
        self._items = {name: list((state.values or {}).get(name) or ()) for name in _LISTS}
        self._places = {
            name: {_id(item): place for place, item in enumerate(items)}
            for name, items in self._items.items()
        }
        self._texts: dict[str, list[str]] = {}

    def short(self, values: Any) -> str:
        """A state in the form that a journal keeps."""
        told = shown(values)
        if self.checkpoint_id is None or not isinstance(told, Mapping):
            return encode(told)
        made = {name: self._marked(name, value) if name in _LISTS else value for name, value in told.items()}
        return encode({SINCE: self.checkpoint_id, **made})

    def whole(self, short: Mapping[str, Any]) -> str:
        parts = [
            f"{encode(name)}:{self._list(name, value) if name in _LISTS else encode(value)}"
            for name, value in short.items()
            if name != SINCE
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


def start_of(data: str) -> tuple[str, dict[str, Any]] | None:
    """The checkpoint that a journal's `values` event begins with, and the event; nothing when it is whole."""
    if not data.startswith(f'{{"{SINCE}":'):
        return None
    short = json.loads(data)
    return short[SINCE], short


def _id(item: Any) -> Any:
    return item.get("id") if isinstance(item, Mapping) else getattr(item, "id", None)
