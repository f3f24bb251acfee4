"""The chat model as a coder: sends the prompt, parses the reply, and retries unreadable replies.

Loaded with `agent.model_proposer`. Invariant: each question ends within the model's time limit, retries and
repeated questions included.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import structlog

from sandtable.agent.analysis import prompt
from sandtable.agent.analysis.coder import Advice, Reply, Task, Written
from sandtable.agent.analysis.reply import ADVICE, CODE, STEPS, read_advice, read_code, read_steps
from sandtable.agent.endpoint import Endpoint, Privacy
from sandtable.agent.model_call import ModelCall
from sandtable.agent.model_limits import CircuitBreaker, Meter, no_usable_reply, raise_if_stopped
from sandtable.agent.model_prompt import SYSTEM
from sandtable.agent.model_reply import ModelReply
from sandtable.agent.model_trouble import ModelTrouble
from sandtable.agent.privacy import privacy_about
from sandtable.agent.prompt_files import prompt_file
from sandtable.errors import Problem

_LONGEST_ANSWER = 6_000
_log = structlog.get_logger(__name__)
_T = TypeVar("_T")
_Fill = Callable[[Task, Privacy, Problem | None], str]


class ModelCoder:
    def __init__(
        self, endpoint: Endpoint, call: ModelCall, breaker: CircuitBreaker, timeout_s: float
    ) -> None:
        self._endpoint, self._call, self._breaker, self._timeout_s = endpoint, call, breaker, timeout_s

    async def plan_steps(self, task: Task) -> Reply[tuple[str, ...]]:
        return await self._asked(prompt.PLAN_STEPS, prompt.plan_prompt, task, STEPS, read_steps)

    async def write_code(self, task: Task) -> Reply[Written]:
        return await self._asked(prompt.WRITE_CODE, prompt.code_prompt, task, CODE, read_code)

    async def diagnose(self, task: Task) -> Reply[Advice]:
        return await self._asked(prompt.DIAGNOSE, prompt.diagnose_prompt, task, ADVICE, read_advice)

    async def draw(self, task: Task) -> Reply[Written]:
        return await self._asked(prompt.DRAW, prompt.draw_prompt, task, CODE, read_code)

    async def conclude(self, task: Task, plain: str) -> Reply[str] | None:
        if self._privacy(task) == "schema":
            return None
        try:
            return await self._breaker.within(self._timeout_s, lambda: self._conclude(task, plain))
        except ModelTrouble as trouble:
            # The result already has a local sentence.
            _log.warning("answer left as it is", model=self._endpoint.name, kind=trouble.kind)
            return None

    async def _conclude(self, task: Task, plain: str) -> Reply[str] | None:
        meter = Meter((SYSTEM, prompt.CONCLUDE))
        said = await self._call.plain(prompt_file(SYSTEM).text, prompt.conclude_prompt(task, plain))
        meter.add(said)
        raise_if_stopped(self._endpoint.name, said)
        text = said.text.strip()
        prose = 0 < len(text) <= _LONGEST_ANSWER and text[0] not in "{`|"
        return Reply(text, meter.usage(), meter.calls) if prose else None

    def _privacy(self, task: Task) -> Privacy:
        """Code may read any column, so its output may hold any value."""
        return privacy_about(task.asked.dataset, self._endpoint.privacy)

    async def _asked(
        self,
        name: str,
        fill: _Fill,
        task: Task,
        schema: dict[str, Any],
        read: Callable[[ModelReply], _T | Problem],
    ) -> Reply[_T]:
        return await self._breaker.within(
            self._timeout_s, lambda: self._repeated(name, fill, task, schema, read)
        )

    async def _repeated(
        self,
        name: str,
        fill: _Fill,
        task: Task,
        schema: dict[str, Any],
        read: Callable[[ModelReply], _T | Problem],
    ) -> Reply[_T]:
        meter = Meter((SYSTEM, name))
        refused: Problem | None = None
        while refused is None or meter.calls < task.calls:
            filled = fill(task, self._privacy(task), refused)
            said = await self._call.structured(prompt_file(SYSTEM).text, filled, schema)
            meter.add(said)
            found = read(said)
            if not isinstance(found, Problem):
                return Reply(found, meter.usage(), meter.calls)
            raise_if_stopped(self._endpoint.name, said)
            refused = found
        raise no_usable_reply(self._endpoint.name, refused)
