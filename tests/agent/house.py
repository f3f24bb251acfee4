"""A conversation with a scripted proposer and a scripted sandbox; queue, store, graph and threads are real."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from sandtable.agent.analysis.coder import Coder
from sandtable.agent.analyst import Analyst
from sandtable.agent.builtin import BuiltinProposer
from sandtable.agent.events import Event, Message
from sandtable.agent.looking import Looking
from sandtable.agent.means import Means
from sandtable.agent.model_trouble import ModelTrouble
from sandtable.agent.proposer import AskBack, Asked, PlanProposal, Proposal, Proposed, Usage, Worded
from sandtable.assemble.checkpoints import sqlite_checkpoints
from sandtable.assemble.compiling import compile_checked
from sandtable.capsule.query import CodeQuery, Query, SqlQuery
from sandtable.catalog.model import Column, ColumnType, Dataset, Metric, Table
from sandtable.catalog.profile import ColumnProfile, Profile, TableProfile, ValueCount
from sandtable.errors import ErrorCode
from sandtable.policy.verdict import Refused, Verdict
from sandtable.runs.desk import Runs
from sandtable.runs.model import Run
from sandtable.runs.sessions import Sessions
from sandtable.sandbox.fake import FakeExecutor
from tests.runs.reading import read_sql
from tests.runs.world import FakeDatasets, World, judge, judge_python

SHOP = Dataset(
    id="shop",
    title="Shop",
    description="Orders of a small shop.",
    tables=(
        Table(
            name="orders",
            file="orders.csv",
            sha256="cd" * 32,
            rows=3,
            time_column="day",
            columns=(
                Column(name="region", type=ColumnType.TEXT, sql_type="VARCHAR"),
                Column(name="amount", type=ColumnType.FLOAT, sql_type="DOUBLE"),
                Column(name="day", type=ColumnType.DATE, sql_type="DATE"),
            ),
        ),
    ),
    metrics=(Metric(name="revenue", table="orders", numerator={"agg": "sum", "column": "amount"}),),
    prompts=("Revenue by region", "How many orders are there?"),
    version="sha256:" + "ab" * 32,
)
PROFILE = Profile(
    version=SHOP.version,
    tables=(
        TableProfile(
            name="orders",
            rows=3,
            columns=(
                ColumnProfile(
                    name="region",
                    nulls=0,
                    distinct=2,
                    values=(ValueCount(value="North", count=2), ValueCount(value="South", count=1)),
                    complete=True,
                ),
                ColumnProfile(name="amount", nulls=0, distinct=3),
                ColumnProfile(name="day", nulls=0, distinct=3),
            ),
        ),
    ),
)
COUNT = {"table": "orders", "select": [{"agg": "count", "as": "n"}]}
BAD = {"table": "orders", "select": [{"agg": "total", "column": "amount"}]}
UNKNOWN = {"table": "orders", "select": [{"agg": "sum", "column": "amuont"}]}


@dataclass
class ShopDatasets(FakeDatasets):
    current: dict[str, Dataset] = field(
        default_factory=lambda: {"shop": SHOP, "stall": SHOP.model_copy(update={"id": "stall"})}
    )

    def datasets(self) -> tuple[Dataset, ...]:
        return tuple(self.current.values())

    async def profile(self, dataset: Dataset) -> Profile:
        return PROFILE


@dataclass
class Scripted:
    """Proposes what the script says, in order; the last line is repeated."""

    script: list[Proposal | ModelTrouble]
    name: str = "scripted:one"
    wording: Callable[[str], str] | None = None
    asked: list[Asked] = field(default_factory=list)

    async def propose(self, asked: Asked) -> Proposed:
        said = self.script[min(len(self.asked), len(self.script) - 1)]
        self.asked.append(asked)
        if isinstance(said, ModelTrouble):
            raise said
        return Proposed(said, Usage((("propose.md", "0" * 64),), tokens_in=10, tokens_out=5, latency_ms=1.5))

    async def word(self, asked: Asked, run: Run, plain: str) -> Worded | None:
        return Worded(self.wording(plain), Usage()) if self.wording else None


@dataclass
class House:
    analyst: Analyst
    runs: Runs
    executor: FakeExecutor
    proposer: Scripted
    datasets: ShopDatasets

    async def ask(self, question: str, thread: str = "t", **more: Any) -> list[Event]:
        return [
            event async for event in self.analyst.ask(question, dataset_id="shop", thread_id=thread, **more)
        ]

    async def say(self, question: str, thread: str = "t") -> Message:
        return last(await self.ask(question, thread))

    async def approve(self, decision: dict[str, Any], thread: str = "t") -> list[Event]:
        return [event async for event in self.analyst.approve(thread, decision)]

    async def state(self, thread: str = "t") -> Any:
        return await self.analyst.graph.aget_state({"configurable": {"thread_id": thread}})


def last(events: list[Event]) -> Message:
    assert isinstance(events[-1], Message), events[-1]
    return events[-1]


def kinds(events: list[Event]) -> list[str]:
    return [event.type for event in events if event.type not in ("delta", "thought")]


@asynccontextmanager
async def open_house(
    home: Path,
    proposer: Scripted | None = None,
    *,
    approval: Literal["off", "sql"] = "off",
    python: bool = False,
    coder: Coder | None = None,
    planner: bool = False,
    looking: Looking | None = None,
    **world: Any,
) -> AsyncIterator[House]:
    datasets, executor = ShopDatasets(), FakeExecutor()
    sessions = Sessions(executor)
    changes = {"compile": compile_checked, "judge": _judge, "sessions": sessions, **world}
    made = World(home, executor=executor, changes=changes, datasets=datasets)
    builtin = BuiltinProposer()
    chosen = proposer or Scripted([PlanProposal(COUNT)])
    async with made.opened() as runs, sqlite_checkpoints(home / "threads.db") as saver:
        means = Means(
            datasets=datasets,
            runs=runs,
            check=_check,
            read_sql=read_sql,
            proposer=chosen,
            max_rows=200,
            understands=lambda question, *_: "month" in question,
            approval=approval,
            python=python,
            coder=coder,
            planner=builtin if planner else None,
            account=builtin.account if planner else None,
            hint=builtin.hint if planner else None,
            looking=looking,
            read_as=builtin.read_as,
        )
        yield House(Analyst(means, saver), runs, executor, chosen, datasets)
    await sessions.aclose()
    await executor.aclose()


async def _judge(text: str, dataset: Dataset) -> Verdict:
    if text.lower().startswith("drop"):
        return Refused(ErrorCode.SQL_POLICY_VIOLATION, "DROP", "`DROP` changes data", "Write a SELECT.")
    return await judge(text, dataset)


async def _check(dataset: Dataset, query: Query) -> Verdict:
    if isinstance(query, CodeQuery):
        return await judge_python(query.code, dataset, query.names)
    assert isinstance(query, SqlQuery)
    return await _judge(query.sql, dataset)


def ask_back(reason: str = "I do not know.") -> AskBack:
    return AskBack(reason, ("Revenue by region",))
