"""What a turn yields besides `events`, and a thread's state: LangGraph's notions in our own types.

Loading this file does not load LangGraph, so adapters can name these types before that library is there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sandtable.agent.events import Event, Message
from sandtable.agent.proposer import Exchange

Detail = Literal["events", "decisions", "states", "steps", "texts"]
"""What a turn yields: `Event`s and `UiChanged`, `DecisionsAwaited`, `StateReached`, `StepDone`, `TextPiece`."""


@dataclass(frozen=True, slots=True)
class TurnInput:
    """What a turn begins with. With neither messages nor a decision it goes on from its checkpoint."""

    messages: list[dict[str, Any]] | None = None
    decision: Any = None
    """A person's answer to the thread's `DecisionRequest`."""
    history: tuple[Exchange, ...] = ()
    """Exchanges of another system, before the first message of the thread."""


def with_plan(plan: dict[str, Any] | None) -> dict[str, Any]:
    """`additional_kwargs` of a message that carries a plan, as `state.plan_in` reads them."""
    return {} if plan is None else {"sandtable": {"plan": plan}}


@dataclass(frozen=True, slots=True)
class DecisionRequest:
    """A question to a person: may this text run?"""

    id: str
    value: dict[str, Any]
    """As `approval.request_of` writes it."""

    @property
    def message(self) -> Message:
        """The request as the last message of a turn."""
        return Message(text=f"May I run this?\n\n{self._action['description']}", ending="waiting")

    @property
    def sql(self) -> str | None:
        """The exact SQL; None for Python."""
        return self._action["args"].get("sql")

    @property
    def _action(self) -> dict[str, Any]:
        return self.value["action_requests"][0]


@dataclass(frozen=True, slots=True)
class DecisionsAwaited:
    """The turn ends here, and goes on in another turn with a decision."""

    requests: tuple[DecisionRequest, ...]


@dataclass(frozen=True, slots=True)
class UiChanged:
    """A change to the UI components of the thread: LangGraph's `ui` and `remove-ui` messages."""

    change: dict[str, Any]


@dataclass(frozen=True, slots=True)
class StateReached:
    """The thread's whole state after a step. A later one makes the earlier ones unnecessary."""

    values: Mapping[str, Any]
    requests: tuple[DecisionRequest, ...] = ()


@dataclass(frozen=True, slots=True)
class StepDone:
    """What each node of a step changed in the state."""

    changes: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A piece of a chat message, with the metadata of the node that writes it."""

    message: Any
    metadata: Mapping[str, Any]


StreamEvent = Event | UiChanged | DecisionsAwaited | StateReached | StepDone | TextPiece


@dataclass(frozen=True, slots=True)
class PendingStep:
    """A step that a state waits for."""

    id: str
    name: str
    path: tuple[Any, ...]
    failed: bool
    requests: tuple[DecisionRequest, ...]


@dataclass(frozen=True, slots=True)
class ThreadState:
    """A thread at one of its checkpoints. `values` holds chat messages, UI components and the dataset's id only."""

    thread_id: str
    checkpoint_id: str | None = None
    """None for a thread without a state."""
    parent_id: str | None = None
    values: Mapping[str, Any] = field(default_factory=dict)
    next: tuple[str, ...] = ()
    pending: tuple[PendingStep, ...] = ()
    requests: tuple[DecisionRequest, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    created_at: str | None = None
    title: str | None = None
    """What the thread's first answer computed; empty when no plan says it."""

    @property
    def turn_id(self) -> str | None:
        """The turn that wrote it."""
        return self.metadata.get("run_id")
