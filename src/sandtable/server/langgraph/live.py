"""A turn under way: what it is to do, who listens to it, and how it is stopped."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from pydantic import TypeAdapter

from sandtable.agent.proposer import Exchange
from sandtable.server.threads.journal import Journal
from sandtable.server.threads.line import Place, Strategy
from sandtable.server.threads.model import Thread, Turn

COMES_BACK_S = 5.0
"""How long a listener who wants the turn to end with the connection may take to come back."""


@dataclass(frozen=True, slots=True)
class Order:
    """What one turn is to do. With neither messages nor an answer it goes on from its checkpoint."""

    thread: Thread
    dataset_id: str
    user: str
    messages: list[dict[str, Any]] | None = None
    answer: Any = None
    """A person's decision on what the thread waits for."""
    checkpoint_id: str | None = None
    modes: tuple[str, ...] = ("values",)
    strategy: Strategy = "enqueue"
    metadata: dict[str, Any] = field(default_factory=dict)
    opening: str | None = None
    history: tuple[Exchange, ...] = ()
    """What was said elsewhere before the first message of the thread."""
    streamed: bool = True
    """Whether somebody is going to listen; a turn that all its listeners left gives way to the next."""


_ORDER = TypeAdapter(Order)


def written(order: Order) -> str:
    return _ORDER.dump_json(order).decode()


def read(text: str) -> Order:
    """Of a turn that is taken up: whoever listened comes back, or does not."""
    return replace(_ORDER.validate_json(text), streamed=False)


class Live:
    """A turn under way in this process."""

    def __init__(self, turn: Turn, order: Order, journal: Journal, attempt: int = 1) -> None:
        self.attempt = attempt
        self.turn = turn
        self.order = order
        self.journal = journal
        self.listeners = int(order.streamed)
        self.place: Place | None = None
        self.work: asyncio.Task[None] | None = None
        self.ended = asyncio.Event()
        self.reason: Literal["cancelled", "stopped"] | None = None
        """Why it is not to go on."""

    @property
    def abandoned(self) -> bool:
        return self.order.streamed and self.listeners == 0

    def cancel(self, reason: Literal["cancelled", "stopped"] = "cancelled") -> None:
        self.reason = reason
        if self.work is not None:
            self.work.cancel()

    def leave(self, *, cancel: bool) -> None:
        """A listener is gone. Connections drop: whoever means to come back does so within seconds."""
        self.listeners -= 1
        if cancel and not self.ended.is_set():
            asyncio.get_running_loop().call_later(COMES_BACK_S, self._give_up)

    def _give_up(self) -> None:
        if self.listeners == 0 and not self.ended.is_set():
            self.cancel()
