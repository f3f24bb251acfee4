"""What a node does besides changing the state: send events, change what is shown beside a message, ask a person.

What runs the node provides it: LangGraph for threads that are kept (`graph_outlet`), `one_turn` for one question.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol


class Outlet(Protocol):
    def send(self, event: dict[str, Any]) -> None:
        """One of `agent.events`, as JSON."""
        ...

    async def stream_text(self, message_id: str, content: str) -> None:
        """For clients that read messages and not our events."""
        ...

    def show(self, component: str, props: dict[str, Any], *, id: str, message_id: str, merge: bool) -> None:
        """A UI component beside the message."""
        ...

    def ask(self, request: dict[str, Any]) -> Any:
        """A person's answer. While there is none, the node ends here; with the answer, it runs again from its start."""
        ...


_PRESENT: ContextVar[Outlet] = ContextVar("sandtable.outlet")


def outlet() -> Outlet:
    return _PRESENT.get()


@contextmanager
def provided(made: Outlet) -> Iterator[None]:
    token = _PRESENT.set(made)
    try:
        yield
    finally:
        _PRESENT.reset(token)
