"""Steps of a conversation and calls of a chat model, reported to an observer. Of what is said, nothing is reported."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from typing import TypeVar

from sandtable.agent.analysis.coder import Advice, Coder, Reply, Task, Written
from sandtable.agent.model_trouble import ModelTrouble
from sandtable.agent.nodes.place import Config
from sandtable.agent.proposer import Asked, Proposed, Proposer, Usage, Worded
from sandtable.agent.state import State, turn_of
from sandtable.capsule.trust import BUILTIN, READER
from sandtable.observing import Observer
from sandtable.runs.model import Run

_LAST = frozenset({"answer", "converse", "conclude"})
"""Steps that end the answer to a question."""

T = TypeVar("T")
Node = Callable[[State, Config], Awaitable[State]]


def observed_step(observer: Observer, name: str, node: Node, *, waits: type[Exception]) -> Node:
    """The node under a name of its own: `answer`, which words the result, is the step `wording`. `waits` is what a node
    raises that waits for a person."""
    shown = "wording" if name == "answer" else name

    async def step(state: State, config: Config) -> State:
        waiting: Exception | None = None
        update = State()
        began = time.perf_counter()
        with observer.tracer.span(shown) as span:
            try:
                update = await node(state, config)
            except waits as asks:  # which is no failure
                waiting = asks
                span.set(waits=True)
            if name in _LAST and waiting is None:
                _tell_end(observer, state, update, span.set)
        observer.meter.timed("step", time.perf_counter() - began, step=shown)
        if waiting is not None:
            raise waiting
        return update

    return step


def _tell_end(observer: Observer, state: State, update: State, tell: Callable[..., None]) -> None:
    origin = turn_of(state).get("origin")
    proposer = "none" if not origin else "builtin" if origin in (BUILTIN, READER) else "model"
    exchanges = update.get("exchanges")
    ending = exchanges[-1]["ending"] if exchanges else "unknown"
    observer.meter.counted("answer", ending=ending, proposer=proposer)
    tell(ending=ending, proposer=proposer)


class ObservedProposer:
    """A chat model as a proposer, with every task reported."""

    def __init__(self, proposer: Proposer, observer: Observer) -> None:
        self._proposer = proposer
        self._observer = observer

    @property
    def name(self) -> str:
        return self._proposer.name

    async def propose(self, asked: Asked) -> Proposed:
        with _task(self._observer, "propose", self.name) as tell:
            proposed = await self._proposer.propose(asked)
            tell(proposed.usage)
        return proposed

    async def word(self, asked: Asked, run: Run, plain: str) -> Worded | None:
        with _task(self._observer, "word", self.name) as tell:
            worded = await self._proposer.word(asked, run, plain)
            tell(None if worded is None else worded.usage)
        return worded


class ObservedCoder:
    def __init__(self, coder: Coder, name: str, observer: Observer) -> None:
        self._coder = coder
        self._name = name
        self._observer = observer

    async def plan_steps(self, task: Task) -> Reply[tuple[str, ...]]:
        return await self._told("plan_steps", self._coder.plan_steps(task))

    async def write_code(self, task: Task) -> Reply[Written]:
        return await self._told("write_code", self._coder.write_code(task))

    async def diagnose(self, task: Task) -> Reply[Advice]:
        return await self._told("diagnose", self._coder.diagnose(task))

    async def draw(self, task: Task) -> Reply[Written]:
        return await self._told("draw", self._coder.draw(task))

    async def conclude(self, task: Task, plain: str) -> Reply[str] | None:
        with _task(self._observer, "conclude", self._name) as tell:
            reply = await self._coder.conclude(task, plain)
            tell(None if reply is None else reply.usage)
        return reply

    async def _told(self, task: str, asking: Awaitable[Reply[T]]) -> Reply[T]:
        with _task(self._observer, task, self._name) as tell:
            reply = await asking
            tell(reply.usage)
        return reply


@contextmanager
def _task(observer: Observer, task: str, model: str) -> Generator[Callable[[Usage | None], None], None, None]:
    outcome, began = "failed", time.perf_counter()
    with observer.tracer.span(f"model.{task}", model=model) as span:

        def tell(usage: Usage | None) -> None:
            nonlocal outcome
            outcome = "left out" if usage is None else "replied"
            if usage is not None:
                observer.meter.counted("tokens", usage.tokens_in, direction="in")
                observer.meter.counted("tokens", usage.tokens_out, direction="out")
                span.set(tokens_in=usage.tokens_in, tokens_out=usage.tokens_out)

        try:
            yield tell
        except ModelTrouble as trouble:
            outcome = trouble.kind
            raise
        finally:
            span.set(outcome=outcome)
            observer.meter.timed("model", time.perf_counter() - began, task=task, outcome=outcome)


def observed_proposer(proposer: Proposer, observer: Observer) -> Proposer:
    return proposer if proposer.name == BUILTIN else ObservedProposer(proposer, observer)


def observed_coder(coder: Coder | None, name: str, observer: Observer) -> Coder | None:
    return None if coder is None else ObservedCoder(coder, name, observer)
