"""The chat model as a proposer: asks, reads, and asks again while a reply cannot be read.

Loaded by `agent.models` when a model is configured. Invariant: one proposal or wording ends within the
time limit, retries and repeated questions included.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable
from dataclasses import replace
from typing import TypeVar

import structlog

from sandtable.agent.endpoint import Endpoint
from sandtable.agent.model_call import ModelCall, Pause
from sandtable.agent.model_prompt import PROPOSE, SYSTEM, WORD, propose_prompt, word_prompt
from sandtable.agent.model_reply import Said, read_reply, reply_schema
from sandtable.agent.model_trouble import ModelTrouble, cut_off, filtered
from sandtable.agent.negotiate import Negotiated
from sandtable.agent.prompt_files import prompt_file
from sandtable.agent.proposer import Asked, Attempt, Proposed, Usage, Worded
from sandtable.errors import Problem
from sandtable.runs.model import Run

MOST_REPAIRS = 2
_WORDING_S = 20.0
_LONGEST_WORDING = 1_200
_log = structlog.get_logger(__name__)
_T = TypeVar("_T")


class ModelProposer:
    def __init__(
        self, endpoint: Endpoint, known: Negotiated, timeout_s: float, pause: Pause = asyncio.sleep
    ) -> None:
        """Raises ImportError when the provider's package is not installed."""
        self._endpoint, self._timeout_s = endpoint, timeout_s
        self._call = ModelCall(endpoint, known, reply_schema(), timeout_s, pause)

    def __repr__(self) -> str:
        return f"<ModelProposer {self.name}>"

    @property
    def name(self) -> str:
        return self._endpoint.name

    async def propose(self, asked: Asked) -> Proposed:
        return await self._within(self._timeout_s, self._propose(asked))

    async def word(self, asked: Asked, run: Run, plain: str) -> Worded | None:
        if self._endpoint.privacy == "schema" or not run.rows:
            return None
        limit = min(self._timeout_s, _WORDING_S)
        try:
            return await self._within(limit, self._word(asked, run, plain))
        except ModelTrouble as trouble:
            # The answer is there already, in the local sentence.
            _log.warning("wording left as it is", model=self.name, kind=trouble.kind)
            return None

    async def _propose(self, asked: Asked) -> Proposed:
        meter = _Meter((SYSTEM, PROPOSE))
        for _ in range(max(1, MOST_REPAIRS + 1 - len(asked.attempts))):
            prompt = propose_prompt(asked, self._endpoint.privacy)
            said = await self._call.structured(prompt_file(SYSTEM).text, prompt)
            meter.add(said)
            read = read_reply(said, asked.dataset.id)
            if not isinstance(read, Problem):
                return Proposed(read, meter.usage())
            self._raise_if_stopped(said)
            asked = replace(asked, attempts=(*asked.attempts, Attempt(None, None, read)))
        raise self._unreadable(asked.attempts[-1].problem)

    async def _word(self, asked: Asked, run: Run, plain: str) -> Worded | None:
        meter = _Meter((SYSTEM, WORD))
        said = await self._call.plain(prompt_file(SYSTEM).text, word_prompt(asked, run, plain))
        meter.add(said)
        self._raise_if_stopped(said)
        text = said.text.strip()
        sentence = 0 < len(text) <= _LONGEST_WORDING and text[0] not in "{[`|#"
        return Worded(text, meter.usage()) if sentence else None

    async def _within(self, seconds: float, work: Awaitable[_T]) -> _T:
        try:
            async with asyncio.timeout(seconds):
                return await work
        except TimeoutError:
            raise ModelTrouble(
                "timeout",
                f"{self.name} did not answer within {seconds:g} s",
                suggestion="Ask again, or allow more time with SANDTABLE_MODEL_TIMEOUT_S.",
                model=self.name,
            ) from None

    def _raise_if_stopped(self, said: Said) -> None:
        if said.filtered or said.cut_off:
            kind, message, suggestion = (filtered if said.filtered else cut_off)(self.name)
            raise ModelTrouble(kind, message, suggestion=suggestion, model=self.name)

    def _unreadable(self, problem: Problem) -> ModelTrouble:
        return ModelTrouble(
            "unreadable",
            f"{self.name} gave no usable reply: {problem.message}",
            suggestion="Ask again or in other words; a larger model may help.",
            model=self.name,
        )


class _Meter:
    """What a proposal has cost so far, over all its calls."""

    def __init__(self, prompts: tuple[str, ...]) -> None:
        self._prompts = tuple(prompt_file(name).digest for name in prompts)
        self._began = time.perf_counter()
        self._tokens_in = self._tokens_out = 0

    def add(self, said: Said) -> None:
        self._tokens_in += said.tokens_in
        self._tokens_out += said.tokens_out

    def usage(self) -> Usage:
        spent_ms = (time.perf_counter() - self._began) * 1000
        return Usage(self._prompts, self._tokens_in, self._tokens_out, round(spent_ms, 1))
