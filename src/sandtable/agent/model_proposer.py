"""The chat model as a proposer: sends the prompt, parses the reply, and retries unreadable replies.

Where tools may be called, the first reply may be the call of one; the caller makes it and asks again with what it gave.
Loaded by `agent.models` when a model is configured. Invariant: one proposal or wording ends within the
time limit, retries, repeated questions and the model's part of looks included.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import cache
from typing import Any

import structlog

from sandtable.agent.analysis.model_coder import ModelCoder
from sandtable.agent.endpoint import Endpoint, Privacy
from sandtable.agent.model_call import ModelCall, Pause
from sandtable.agent.model_limits import CircuitBreaker, Meter, no_usable_reply, raise_if_stopped
from sandtable.agent.model_prompt import PROPOSE, SYSTEM, WORD, propose_prompt, word_prompt
from sandtable.agent.model_reply import REPLY, ModelReply, read_reply, reply_schema, strict_reply_schema
from sandtable.agent.model_trouble import ModelTrouble
from sandtable.agent.negotiate import Negotiated
from sandtable.agent.normalising import Known, definitions, normalised
from sandtable.agent.privacy import privacy_of
from sandtable.agent.prompt_files import prompt_file
from sandtable.agent.proposer import Asked, Attempt, Final, PlanProposal, Proposed, ToolCall, Worded
from sandtable.agent.tools import DESCRIPTIONS
from sandtable.agent.tools import definitions as definitions_of
from sandtable.errors import Problem
from sandtable.runs.model import Run

MOST_REPAIRS = 2
_WORDING_S = 20.0
_SHORTEST_S = 1.0
_LONGEST_WORDING = 1_200
_MOST_LATE_WORDINGS = 2
"""After so many, every answer would wait for a wording that does not come: the local sentence is said at once."""
_log = structlog.get_logger(__name__)


@cache
def _form(strict: bool) -> dict[str, Any]:
    return strict_reply_schema() if strict else reply_schema()


class ModelProposer:
    def __init__(
        self, endpoint: Endpoint, known: Negotiated, timeout_s: float, pause: Pause = asyncio.sleep
    ) -> None:
        """Raises ImportError when the provider's package is not installed."""
        self._endpoint, self._known, self._timeout_s = endpoint, known, timeout_s
        self._call = ModelCall(endpoint, known, timeout_s, pause)
        self._breaker = CircuitBreaker(endpoint.name)
        self._late_wordings = 0
        """Consecutive wordings that timed out."""

    def __repr__(self) -> str:
        return f"<ModelProposer {self.name}>"

    @property
    def name(self) -> str:
        return self._endpoint.name

    @property
    def privacy(self) -> Privacy:
        return self._endpoint.privacy

    def coder(self) -> ModelCoder:
        """The same model as a coder. Both share what was negotiated with the endpoint."""
        return ModelCoder(self._endpoint, self._call, self._breaker, self._timeout_s)

    async def propose(self, asked: Asked) -> Proposed:
        left = max(min(_SHORTEST_S, self._timeout_s), self._timeout_s - asked.spent_s)
        # Little time may be left after looks, which says nothing about the next question.
        return await self._breaker.within(left, lambda: self._propose(asked), trips=not asked.spent_s)

    async def word(self, asked: Asked, run: Run, plain: str) -> Worded | None:
        privacy = privacy_of(run.request.query, asked.dataset, self._endpoint.privacy)
        if privacy == "schema" or not run.rows or self._late_wordings >= _MOST_LATE_WORDINGS:
            return None
        limit = min(self._timeout_s, _WORDING_S)
        try:
            worded = await self._breaker.within(limit, lambda: self._word(asked, run, plain), trips=False)
            self._late_wordings = 0
            return worded
        except ModelTrouble as trouble:
            self._late_wordings = self._late_wordings + 1 if trouble.kind == "timeout" else 0
            # The answer is there already, in the local sentence.
            _log.warning("wording left as it is", model=self.name, kind=trouble.kind)
            return None

    async def _propose(self, asked: Asked) -> Proposed:
        meter = Meter((SYSTEM, PROPOSE))
        may_look = asked.spent_s < self._timeout_s / 2 and self._known.takes_tools(self._endpoint)
        asked = asked if may_look else replace(asked, tools=())
        for _ in range(max(1, MOST_REPAIRS + 1 - len(asked.attempts))):
            said = await self._said(asked, meter)
            if asked.tools and said.tool not in ("", REPLY):
                raise_if_stopped(self.name, said)
                return Proposed(ToolCall(said.tool, said.arguments), meter.usage())
            # What cannot be read is asked for again in the strictest form that the endpoint takes.
            asked = replace(asked, tools=())
            read = in_plan_language(read_reply(said, asked.dataset.id), asked)
            if not isinstance(read, Problem):
                return Proposed(read, meter.usage())
            raise_if_stopped(self.name, said)
            asked = replace(asked, attempts=(*asked.attempts, Attempt(None, None, read)))
        raise no_usable_reply(self.name, asked.attempts[-1].problem)

    async def _said(self, asked: Asked, meter: Meter) -> ModelReply:
        """Asked with tools where there are any; without them where the endpoint refuses those, which is remembered."""
        system, privacy = prompt_file(SYSTEM).text, self._endpoint.privacy
        said = None
        if asked.tools:
            tools = [_form(strict=False), *definitions_of(asked.tools)]
            said = await self._call.offering(system, propose_prompt(asked, privacy), tools)
        if said is not None:
            meter.sent(DESCRIPTIONS)
        else:
            prompt = propose_prompt(replace(asked, tools=()), privacy)
            said = await self._call.structured(system, prompt, _form(self._endpoint.is_compatible))
            if asked.tools:
                self._known.worked_without_tools(self._endpoint)
        meter.add(said)
        return said

    async def _word(self, asked: Asked, run: Run, plain: str) -> Worded | None:
        meter = Meter((SYSTEM, WORD))
        said = await self._call.plain(prompt_file(SYSTEM).text, word_prompt(asked, run, plain))
        meter.add(said)
        raise_if_stopped(self.name, said)
        text = said.text.strip()
        sentence = 0 < len(text) <= _LONGEST_WORDING and text[0] not in "{[`|#"
        return Worded(text, meter.usage()) if sentence else None


def in_plan_language(read: Final | Problem, asked: Asked) -> Final | Problem:
    """A plan in its own form, before the validator judges it."""
    if not isinstance(read, PlanProposal):
        return read
    names = {str(each.get("name")).lower() for each in (*asked.defined, *definitions(read.plan))}
    known = Known(asked.dataset, asked.profile, frozenset(names))
    return replace(read, plan=normalised(read.plan, known))
