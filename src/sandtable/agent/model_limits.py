"""Limits of every call to a chat model: time limit, circuit breaker, and usage."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from sandtable.agent.model_reply import ModelReply
from sandtable.agent.model_trouble import Kind, ModelTrouble, cut_off, filtered
from sandtable.agent.prompt_files import prompt_file
from sandtable.agent.proposer import Usage
from sandtable.errors import Problem

COOL_S = 30.0
"""How long a model is not called again after a slow failure."""
LONG_S = 1.0
"""A failure that is faster than this does not open the circuit."""
_LASTING: frozenset[Kind] = frozenset({"timeout", "unreachable", "provider_error", "rate_limit"})

_T = TypeVar("_T")


class CircuitBreaker:
    """Enforces the time limit of each question, and fails fast after a slow failure.

    After such a failure the model is not called for COOL_S: every question gets the same error at once. Then one
    question probes the model; until it has ended, the others still get the error.
    """

    def __init__(self, model: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._model, self._clock = model, clock
        self._trouble: ModelTrouble | None = None
        self._until = 0.0
        self._probing = False

    async def within(self, seconds: float, work: Callable[[], Awaitable[_T]], *, trips: bool = True) -> _T:
        """Raises ModelTrouble. `trips`: whether a failure of this question may open the circuit for all others."""
        probes = self._trouble is not None
        if self._trouble is not None and (self._probing or self._clock() < self._until):
            raise self._remembered(self._trouble)
        self._probing, began = self._probing or probes, self._clock()
        try:
            async with asyncio.timeout(seconds):
                found = await work()
        except (TimeoutError, ModelTrouble) as raised:
            trouble = raised if isinstance(raised, ModelTrouble) else self._too_late(seconds)
            if trips:
                lasts = trouble.kind in _LASTING and self._clock() - began >= LONG_S
                self._trouble, self._until = trouble if lasts else None, self._clock() + COOL_S
            raise trouble from None
        finally:
            self._probing = self._probing and not probes
        self._trouble = None
        return found

    def _too_late(self, seconds: float) -> ModelTrouble:
        return ModelTrouble(
            "timeout",
            f"{self._model} did not answer within {seconds:g} s",
            suggestion="Ask again, or allow more time with SANDTABLE_MODEL_TIMEOUT_S.",
            model=self._model,
        )

    def _remembered(self, trouble: ModelTrouble) -> ModelTrouble:
        wait = max(1, round(self._until - self._clock()))
        return ModelTrouble(
            trouble.kind,
            f"{trouble.message}, a moment ago",
            suggestion=f"It is asked again in {wait} s. {trouble.suggestion}",
            model=self._model,
            **{name: value for name, value in trouble.details.items() if name not in ("kind", "model")},
        )


def raise_if_stopped(model: str, said: ModelReply) -> None:
    if said.filtered or said.cut_off:
        kind, message, suggestion = (filtered if said.filtered else cut_off)(model)
        raise ModelTrouble(kind, message, suggestion=suggestion, model=model)


def no_usable_reply(model: str, problem: Problem) -> ModelTrouble:
    return ModelTrouble(
        "unreadable",
        f"{model} gave no usable reply: {problem.message}",
        suggestion="Ask again or in other words; a larger model may help.",
        model=model,
    )


class Meter:
    """The usage of a proposal so far, over all its calls."""

    def __init__(self, prompts: tuple[str, ...]) -> None:
        self._prompts: tuple[tuple[str, str], ...] = ()
        for name in prompts:
            self.sent(name)
        self._began = time.perf_counter()
        self._tokens_in = self._tokens_out = 0
        self.calls = 0

    def sent(self, prompt: str) -> None:
        digest = prompt_file(prompt).digest
        self._prompts += () if digest in self._prompts else (digest,)

    def add(self, said: ModelReply) -> None:
        self.calls += 1
        self._tokens_in += said.tokens_in
        self._tokens_out += said.tokens_out

    def usage(self) -> Usage:
        spent_ms = (time.perf_counter() - self._began) * 1000
        return Usage(self._prompts, self._tokens_in, self._tokens_out, round(spent_ms, 1))
