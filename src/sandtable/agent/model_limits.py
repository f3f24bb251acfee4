"""What every question to a chat model is held to: its time, its end, and what it cost."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable
from typing import TypeVar

from sandtable.agent.model_reply import Said
from sandtable.agent.model_trouble import ModelTrouble, cut_off, filtered
from sandtable.agent.prompt_files import prompt_file
from sandtable.agent.proposer import Usage
from sandtable.errors import Problem

_T = TypeVar("_T")


async def within(model: str, seconds: float, work: Awaitable[_T]) -> _T:
    try:
        async with asyncio.timeout(seconds):
            return await work
    except TimeoutError:
        raise ModelTrouble(
            "timeout",
            f"{model} did not answer within {seconds:g} s",
            suggestion="Ask again, or allow more time with SANDTABLE_MODEL_TIMEOUT_S.",
            model=model,
        ) from None


def raise_if_stopped(model: str, said: Said) -> None:
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
    """What a proposal has cost so far, over all its calls."""

    def __init__(self, prompts: tuple[str, ...]) -> None:
        self._prompts = tuple(prompt_file(name).digest for name in prompts)
        self._began = time.perf_counter()
        self._tokens_in = self._tokens_out = 0
        self.calls = 0

    def add(self, said: Said) -> None:
        self.calls += 1
        self._tokens_in += said.tokens_in
        self._tokens_out += said.tokens_out

    def usage(self) -> Usage:
        spent_ms = (time.perf_counter() - self._began) * 1000
        return Usage(self._prompts, self._tokens_in, self._tokens_out, round(spent_ms, 1))
