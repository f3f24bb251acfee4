"""The built-in planner as a proposer: no model, no network, the same answer every time."""

from __future__ import annotations

import asyncio
import json
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from sandtable.agent.accounting import Accounted, accounted, is_foreign
from sandtable.agent.named import mentions, with_named
from sandtable.agent.planning.planners import Planners, Unplanned
from sandtable.agent.planning.wire import Data, Question
from sandtable.agent.prompting.hints import Hints, hints_of
from sandtable.agent.proposer import AskBack, Asked, Exchange, PlanProposal, Proposed, Usage, Worded
from sandtable.agent.read_as.building import aligned, read_as
from sandtable.agent.read_as.model import Aligned, ReadAs
from sandtable.catalog.model import Dataset
from sandtable.catalog.profile import Profile
from sandtable.observing import UNOBSERVED, Stopwatch, Tracer, report_planning
from sandtable.planner.candidates.network.reader import Reader
from sandtable.planner.outcome import EarlierTurn, Outcome, Understood, Unsure
from sandtable.planner.planner import plan_question
from sandtable.planner.schema.index import SchemaIndex
from sandtable.runs.model import Run

NAME = "builtin"
MOST_INDEXES = 32
MOST_UNDERSTOOD = 1_000
QUICK_S = 0.02
_ENGLISH_ONLY = "The built-in planner reads English only: please ask in English, or have a chat model set up."
READ_AT_ONCE = 2
"""Questions that the learned reader processes concurrently."""


class BuiltinProposer:
    def __init__(
        self,
        reader: Callable[[], Reader | None] | None = None,
        planners: Planners | None = None,
        tracer: Tracer = UNOBSERVED.tracer,
    ) -> None:
        """`reader` returns the learned reader; it is called where loading does not block the event loop.

        `planners` are processes that plan with the same reader, in place of this one.
        """
        self._reader = reader
        self._planners = planners
        self._tracer = tracer
        self._indexes: OrderedDict[str, SchemaIndex] = OrderedDict()
        self._long: dict[str, int] = {}
        """By dataset version: how many questions in a row took long to plan."""
        self._one_at_a_time = asyncio.Lock()
        self._few_at_a_time = asyncio.Semaphore(READ_AT_ONCE)
        self._understood: OrderedDict[tuple[str, str, str], bool] = OrderedDict()

    @property
    def name(self) -> str:
        return NAME

    async def propose(self, asked: Asked) -> Proposed:
        if asked.attempts:
            # The planner is deterministic: a second attempt would give the same result.
            return Proposed(AskBack(asked.attempts[-1].problem.message), Usage())
        outcome = await self._plan(asked)
        if isinstance(outcome, Understood):
            return Proposed(_proposal(asked.question, outcome), Usage())
        if is_foreign(asked.question):
            return Proposed(AskBack(_ENGLISH_ONLY, outcome.suggestions), Usage())
        choices = tuple(_proposal(asked.question, each) for each in outcome.choices)
        return Proposed(AskBack(outcome.reason, outcome.suggestions, choices), Usage())

    async def _plan(self, asked: Asked) -> Outcome:
        with self._tracer.span("plan"):
            return await self._plan_there_or_here(asked, _data_of(asked), timed=bool(self._tracer.link))

    async def _plan_there_or_here(self, asked: Asked, data: Data, *, timed: bool) -> Outcome:
        if self._planners is None:
            return await self._plan_here(asked, data, self._reader)
        question = Question(data.key, asked.question, _plain_before(asked), timed)
        outcome = await self._planners.plan(question, data)
        if not isinstance(outcome, Unplanned):
            return outcome
        # What crashed two processes (a fault in a native library, too little memory) must not crash this one.
        reader = self._reader if outcome is Unplanned.NO_PROCESS else None
        return await self._plan_here(asked, data, reader)

    async def _plan_here(
        self, asked: Asked, data: Data, reader: Callable[[], Reader | None] | None
    ) -> Outcome:
        """On the event loop while planning is quick: for a few milliseconds, a thread costs more than it saves.

        With the reader, always in a thread: it spends most of its time outside Python.
        """
        index = await self._index(data)
        version = asked.dataset.edition
        if reader is not None:
            async with self._turn_of(self._few_at_a_time):
                outcome, _ = await asyncio.to_thread(self._timed, asked, index, reader)
            return outcome
        if self._is_slow(version):
            async with self._turn_of(self._one_at_a_time):
                outcome, spent_s = await asyncio.to_thread(self._timed, asked, index)
        else:
            outcome, spent_s = self._timed(asked, index)
        self._long[version] = self._long.get(version, 0) + 1 if spent_s > QUICK_S else 0
        return outcome

    @asynccontextmanager
    async def _turn_of(self, places: asyncio.Lock | asyncio.Semaphore) -> AsyncGenerator[None, None]:
        with self._tracer.span("plan.wait"):
            await places.acquire()
        try:
            yield
        finally:
            places.release()

    def _timed(
        self, asked: Asked, index: SchemaIndex, reader: Callable[[], Reader | None] | None = None
    ) -> tuple[Outcome, float]:
        if not self._tracer.link:
            return _timed(asked, index, reader)
        began = time.time()
        with Stopwatch() as watch:
            found = _timed(asked, index, reader)
        report_planning(self._tracer, watch.spent, began, time.time())
        return found

    def _is_slow(self, version: str) -> bool:
        """Slow twice in a row: the first question also includes one-time preparation."""
        return self._long.get(version, 0) > 1

    async def word(self, asked: Asked, run: Run, plain: str) -> Worded | None:
        return None

    def understands(self, question: str, dataset: Dataset, before: EarlierTurn) -> bool:
        """Whether it would answer; only for a dataset that it has planned for before."""
        index = self._indexes.get(dataset.edition)
        if index is None or self._is_slow(dataset.edition):
            return False
        key = (dataset.edition, question, _shape(before.plan))
        if key not in self._understood:
            outcome = plan_question(question, index, before)
            self._understood[key] = isinstance(outcome, Understood)
            while len(self._understood) > MOST_UNDERSTOOD:
                self._understood.popitem(last=False)
        return self._understood[key]

    async def prepare(self, dataset: Dataset, profile: Profile) -> None:
        data = Data(dataset.edition, dataset, profile)
        await self._index(data)
        if self._planners is not None:
            await self._planners.prepare(data)

    async def account(self, asked: Asked, plan: dict[str, Any]) -> Accounted:
        """What another proposer's plan misses of the question, and what it adds."""
        before, index = before_of(asked.history), await self._index(_data_of(asked))
        with self._tracer.span("plan.conscience"):
            return accounted(asked.question, plan, index, before.plan if before else None)

    async def hint(self, asked: Asked) -> Hints:
        """The planner's reading of a question that another proposer answers."""
        index = await self._index(_data_of(asked))
        if is_foreign(asked.question):
            return hints_of(asked.question, Unsure(""), index)
        before = before_of(asked.history)
        outcome = await self._plan(asked)
        return hints_of(asked.question, outcome, index, before.plan if before else None)

    async def read_as(self, asked: Asked, plan: dict[str, Any], alignment: Aligned | None) -> ReadAs | None:
        """The parts of a plan that is about to run, whatever proposed it."""
        index = await self._index(Data(asked.dataset.edition, asked.dataset, asked.profile))
        before, last = before_of(asked.history), last_answer(asked.history)
        doubted = frozenset(last.likely) if last else frozenset[tuple[str, str]]()
        return read_as(plan, index, alignment, before.plan if before else None, doubted)

    async def _index(self, data: Data) -> SchemaIndex:
        key = data.key
        if key not in self._indexes:
            async with self._one_at_a_time:
                if key not in self._indexes:
                    with self._tracer.span("plan.index"):
                        self._indexes[key] = await asyncio.to_thread(
                            SchemaIndex.build, data.dataset, data.profile
                        )
        self._indexes.move_to_end(key)
        known = self._indexes[key]
        while len(self._indexes) > MOST_INDEXES:
            self._indexes.popitem(last=False)
        return known


def _data_of(asked: Asked) -> Data:
    """With the tables named in the conversation, where the question is about one of them."""
    version = asked.dataset.edition
    if not speaks_of_named(asked):
        return Data(version, asked.dataset, asked.profile)
    dataset, profile = with_named(asked.dataset, asked.profile, asked.defined)
    return Data(version + json.dumps(asked.defined), dataset, profile)


def _plain_before(asked: Asked) -> EarlierTurn | None:
    before = before_of(asked.history)
    if before is not None and speaks_of_named(asked):
        # The named tables are already in the data; defining them again would conflict.
        plan = {field: value for field, value in before.plan.items() if field != "define"}
        return EarlierTurn(before.question, plan)
    return before


def _shape(plan: Mapping[str, object]) -> str:
    """A plan without its numbers and values: the possible next questions do not depend on them."""
    kept = ("table", "select", "group_by", "derive", "define", "top_per_group")
    return json.dumps([plan.get(field) for field in kept])


def _timed(
    asked: Asked, index: SchemaIndex, reader: Callable[[], Reader | None] | None = None
) -> tuple[Outcome, float]:
    """The outcome and the CPU time it took: wall time would count a busy machine as a hard question."""
    before = _plain_before(asked)
    began = time.thread_time()
    read = reader() if reader is not None else None
    outcome = (
        plan_question(asked.question, index, before, reader=read)
        if read is not None
        else plan_question(asked.question, index, before)
    )
    return outcome, time.thread_time() - began


def speaks_of_named(asked: Asked) -> bool:
    """Whether the question, or the one that it may follow up, is about a table named in the conversation."""
    before = before_of(asked.history)
    table = str(before.plan.get("table", "")).lower() if before else ""
    return any(d["name"].lower() == table or mentions(asked.question, d["name"]) for d in asked.defined)


def before_of(history: tuple[Exchange, ...]) -> EarlierTurn | None:
    """What a follow-up builds on: the newest question that was answered by a plan.

    After a question back it is unclear which of the two is meant: that turn has no plan.
    """
    for exchange in reversed(history):
        if exchange.ending == "asked":
            return EarlierTurn(question=exchange.question, plan={})
        if exchange.plan is not None and exchange.ending == "answered":
            return EarlierTurn(question=exchange.question, plan=exchange.plan)
    return None


def last_answer(history: tuple[Exchange, ...]) -> Exchange | None:
    """The newest exchange that was answered by a plan, if nothing was asked back since."""
    before = before_of(history)
    return next((e for e in reversed(history) if before is not None and e.plan is before.plan), None)


def _proposal(question: str, understood: Understood) -> PlanProposal:
    words = aligned(question, understood.account) if understood.account is not None else None
    return PlanProposal(understood.plan, understood.used, understood.confidence, words)
