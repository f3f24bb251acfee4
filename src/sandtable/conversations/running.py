"""A turn under way in this process: its order, its events, its listeners, and how it is cancelled."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from pydantic import TypeAdapter

from sandtable.agent.proposer import Exchange
from sandtable.agent.turn_events import Detail
from sandtable.conversations.feed import Feed
from sandtable.conversations.journal import Journal
from sandtable.conversations.line import Place, Strategy
from sandtable.conversations.model import Thread, TurnRecord

RECONNECT_S = 5.0
"""How long a listener may take to reconnect when its turn is to be cancelled on disconnect."""
EVENTS: frozenset[Detail] = frozenset(("events", "decisions"))
ALL_DETAILS: frozenset[Detail] = frozenset(("events", "decisions", "states", "steps", "texts"))


@dataclass(frozen=True, slots=True)
class TurnOrder:
    """The work of one turn. With neither messages nor an answer it continues from its checkpoint.

    Servers of other versions read it: new fields need a default, and a field keeps its name.
    """

    thread: Thread
    dataset_id: str
    user: str
    messages: list[dict[str, Any]] | None = None
    answer: Any = None
    """A person's decision on what the thread waits for."""
    checkpoint_id: str | None = None
    details: frozenset[Detail] = ALL_DETAILS
    """What the journal holds."""
    strategy: Strategy = "enqueue"
    metadata: dict[str, Any] = field(default_factory=dict)
    opening: str | None = None
    history: tuple[Exchange, ...] = ()
    """Exchanges of another system, before the first message of the thread."""
    traceparent: str = ""
    """The span of the request that asked, where questions are traced."""
    datasets: frozenset[str] | None = None
    """The datasets that the user may see, beside which none is named or looked at; None: all."""
    streamed: bool = True
    """Whether a client listens from the beginning. When all listeners left, the next turn of the thread cancels it."""


_ORDER = TypeAdapter(TurnOrder)


def order_json(order: TurnOrder) -> str:
    return _ORDER.dump_json(order).decode()


def orphans_order(text: str) -> TurnOrder:
    """The order of a turn that is taken up: no client listens yet. Raises ValidationError."""
    return replace(_ORDER.validate_json(text), streamed=False)


class RunningTurn:
    def __init__(self, turn: TurnRecord, order: TurnOrder, output: Journal | Feed, attempt: int = 1) -> None:
        self.turn = turn
        self.order = order
        self.output = output
        self.attempt = attempt
        self.accepted = time.perf_counter()
        self.listeners = int(order.streamed)
        self.place: Place | None = None
        self.work: asyncio.Task[None] | None = None
        self.awaits_decision = False
        self.answering = False
        """Whether it has an event about the answer."""
        self.ended = asyncio.Event()
        self.reason: Literal["cancelled", "stopped"] | None = None
        """Why it was cancelled."""

    @property
    def abandoned(self) -> bool:
        return self.order.streamed and self.listeners == 0

    def cancel(self, reason: Literal["cancelled", "stopped"] = "cancelled") -> None:
        self.reason = reason
        if self.work is not None:
            self.work.cancel()

    def leave(self, *, cancel: bool) -> None:
        """A listener is gone. With `cancel`, the turn is cancelled unless a listener comes within RECONNECT_S."""
        self.listeners -= 1
        if cancel and not self.ended.is_set():
            asyncio.get_running_loop().call_later(RECONNECT_S, self._cancel_if_abandoned)

    def _cancel_if_abandoned(self) -> None:
        if self.listeners == 0 and not self.ended.is_set():
            self.cancel()
