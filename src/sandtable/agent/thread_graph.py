"""The graph's threads in our own types: read a state, list states, write one, forget a thread, decode a stream.

Invariant: of a state, only what a conversation shows leaves this file; the graph's own notes stay in it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from typing import Any
from uuid import uuid4

from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START
from langgraph.types import Command, Interrupt, StateSnapshot, StreamMode

from sandtable.agent.earlier_answers import present_values
from sandtable.agent.events import EVENT
from sandtable.agent.graph import Graph
from sandtable.agent.state import State, with_exchange
from sandtable.agent.turn_events import (
    DecisionRequest,
    DecisionsAwaited,
    Detail,
    PendingStep,
    StateReached,
    StepDone,
    StreamEvent,
    TextPiece,
    ThreadState,
    TurnInput,
    UiChanged,
)
from sandtable.errors import NotFound
from sandtable.quoting import quote

SHOWN = frozenset(("messages", "ui", "dataset_id"))
_INTERRUPT = "__interrupt__"
_MODES: dict[Detail, StreamMode] = {
    "events": "custom",
    "decisions": "updates",
    "states": "values",
    "steps": "updates",
    "texts": "messages",
}

Given = State | Command[Any] | None


class ThreadGraph:
    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    async def state(self, thread_id: str, checkpoint_id: str | None = None) -> ThreadState:
        """The newest state, or the one of the checkpoint. Raises NotFound for a checkpoint that does not exist."""
        state = await self._graph.aget_state(place(thread_id, checkpoint_id))
        if checkpoint_id and not state.created_at:
            raise NotFound(
                f"no checkpoint {quote(checkpoint_id)} in this thread",
                suggestion="Take one from the thread's history.",
                checkpoint_id=checkpoint_id,
            )
        return _thread_state(thread_id, state)

    async def history(
        self, thread_id: str, *, at: str | None = None, before: str | None = None, limit: int | None = None
    ) -> AsyncGenerator[ThreadState, None]:
        """Newest first: all states, those that lead to the checkpoint `at`, or those before one."""
        bound = place(thread_id, before) if before else None
        async for state in self._graph.aget_state_history(place(thread_id, at), before=bound, limit=limit):
            yield _thread_state(thread_id, state)

    async def add_messages(
        self, thread_id: str, checkpoint_id: str | None, messages: list[dict[str, Any]]
    ) -> ThreadState:
        """Adds a person's messages without an answer. Raises NotFound."""
        await self.state(thread_id, checkpoint_id)
        return await self._write(thread_id, {"messages": messages}, START, checkpoint_id)

    async def add_answer(self, thread_id: str, values: dict[str, Any]) -> None:
        """Adds to the state as if a turn without a run had ended with it."""
        await self._write(thread_id, values, "converse")

    async def add_empty_state(self, thread_id: str) -> None:
        """Of a thread without a state: a state before the first message, so that a branch can replace that message."""
        if not (await self.state(thread_id)).created_at:
            await self._write(thread_id, None, END)

    async def forget(self, thread_id: str) -> None:
        """Deletes all states of the thread."""
        saver = self._graph.checkpointer
        assert saver is not None and not isinstance(saver, bool)
        await saver.adelete_thread(thread_id)

    async def _write(
        self, thread_id: str, values: dict[str, Any] | None, as_node: str, checkpoint_id: str | None = None
    ) -> ThreadState:
        config = await self._graph.aupdate_state(place(thread_id, checkpoint_id), values, as_node=as_node)
        return _thread_state(thread_id, await self._graph.aget_state(config))


def place(thread_id: str, checkpoint_id: str | None = None) -> RunnableConfig:
    named = {"checkpoint_id": checkpoint_id} if checkpoint_id else {}
    return {"configurable": {"thread_id": thread_id, "checkpoint_ns": "", **named}}


def modes_of(details: frozenset[Detail]) -> list[StreamMode]:
    """LangGraph's stream modes that the details are made from."""
    return sorted({_MODES[detail] for detail in details})


def given_of(turn: TurnInput, dataset_id: str) -> Given:
    if turn.decision is not None:
        return Command(resume=turn.decision)
    if turn.messages is None:
        return None
    messages = [
        HumanMessage(
            content=message["content"],
            id=message.get("id") or str(uuid4()),
            additional_kwargs=message.get("additional_kwargs") or {},
        )
        for message in turn.messages
    ]
    given = State(messages=list(messages), dataset_id=dataset_id)
    for exchange in turn.history:
        given["known_of"], given["exchanges"] = dataset_id, with_exchange(given, exchange)
    return given


def stream_event(mode: str, chunk: Any, details: frozenset[Detail]) -> StreamEvent | None:
    """A chunk of `graph.astream`; None for one that no detail asks for."""
    if mode == "custom":
        return UiChanged(chunk) if chunk.get("type") in ("ui", "remove-ui") else EVENT.validate_python(chunk)
    if mode == "values":
        return StateReached(_shown(chunk), _requests(chunk.get(_INTERRUPT) or ()))
    if mode == "messages":
        message, metadata = chunk
        return TextPiece(message, metadata)
    if _INTERRUPT in chunk:
        return DecisionsAwaited(_requests(chunk[_INTERRUPT])) if "decisions" in details else None
    if "steps" not in details:
        return None
    return StepDone({node: _shown(change) for node, change in chunk.items()})


def _shown(values: Any) -> Any:
    if isinstance(values, Mapping):
        return present_values({name: value for name, value in values.items() if name in SHOWN})
    return values


def _requests(interrupts: tuple[Interrupt, ...]) -> tuple[DecisionRequest, ...]:
    return tuple(DecisionRequest(one.id, one.value) for one in interrupts)


def _thread_state(thread_id: str, state: StateSnapshot) -> ThreadState:
    values: Mapping[str, Any] = state.values or {}
    return ThreadState(
        thread_id=thread_id,
        checkpoint_id=_checkpoint_of(state.config),
        parent_id=_checkpoint_of(state.parent_config),
        values=_shown(values),
        next=state.next,
        pending=tuple(
            PendingStep(task.id, task.name, task.path, task.error is not None, _requests(task.interrupts))
            for task in state.tasks
        ),
        requests=_requests(state.interrupts),
        metadata=state.metadata or {},
        created_at=state.created_at,
        title=values.get("title"),
    )


def _checkpoint_of(config: RunnableConfig | None) -> str | None:
    return ((config or {}).get("configurable") or {}).get("checkpoint_id")
