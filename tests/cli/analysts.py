"""An analyst that follows a script, in place of the conversation."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from sandtable.agent.events import (
    Chart,
    Delta,
    Ending,
    Error,
    Event,
    Log,
    Message,
    Planned,
    RunState,
    Sql,
    Table,
    Thought,
)
from sandtable.agent.read_as.model import ReadAs
from sandtable.errors import ErrorCode, Problem
from sandtable.runs.described import described
from sandtable.sandbox.job import ResultColumn

FIGURE = {
    "data": [{"type": "bar", "x": ["north", "south"], "y": [3, 1]}],
    "layout": {"title": {"text": "Orders"}},
}
PLAN = {"table": "orders", "select": [{"agg": "count", "as": "n"}]}


def answered(
    *rows: Sequence[Any],
    columns: Sequence[tuple[str, str]] = (("n", "BIGINT"),),
    text: str = "There are 42 orders.",
    run_id: str = "run_1",
    truncated: bool = False,
    chart: dict[str, Any] | None = None,
    reading: str = "the number of orders",
    read_as: ReadAs | None = None,
) -> list[Event]:
    made: list[Event] = [
        Thought(text="Reading the question…"),
        Planned(plan=PLAN, reading=reading, read_as=read_as),
        Sql(sql="SELECT count(*) AS n FROM orders"),
        RunState(run_id=run_id, status="running"),
        RunState(run_id=run_id, status="succeeded", exec_time_ms=1.5),
        Log(run_id=run_id, text="a note"),
        Table(
            run_id=run_id,
            columns=described([ResultColumn(name=name, type=kind) for name, kind in columns]),
            rows=tuple(tuple(row) for row in rows),
            row_count=len(rows),
            truncated=truncated,
        ),
    ]
    if chart is not None:
        made.append(Chart(run_id=run_id, figure=chart))
    made += [Delta(text="There"), Message(text=text, ending="answered", run_ids=(run_id,))]
    return made


def ended(
    ending: Ending, text: str, problem: Problem | None = None, suggestions: Sequence[str] = ()
) -> list[Event]:
    return [Message(text=text, ending=ending, problem=problem, suggestions=tuple(suggestions))]


def line(line_id: Any, question: str = "How many?", **more: Any) -> str:
    """One line of a file of questions."""
    return json.dumps({"id": line_id, "question": question, "dataset": "shop", **more})


def judged(output: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The lines and the summary that `eval --json` wrote."""
    *lines, last = [json.loads(text) for text in output.splitlines()]
    return lines, last["summary"]


def broke(code: ErrorCode = ErrorCode.RUNNER_INTERNAL_ERROR) -> list[Event]:
    return [Error(problem=Problem(code=code, message="it broke", suggestion="try again"))]


@dataclass
class FakeAnalyst:
    default: list[Event] = field(default_factory=lambda: answered([42]))
    script: dict[str, list[Event]] = field(default_factory=dict)
    asked: list[tuple[str, str, str | None]] = field(default_factory=list)
    """Question, dataset, thread."""
    plans: list[dict[str, Any] | None] = field(default_factory=list)
    """The plan that came with each question."""
    decided: list[dict[str, Any]] = field(default_factory=list)
    hangs: set[str] = field(default_factory=set)
    stopped: list[str] = field(default_factory=list)
    begun: asyncio.Event | None = None
    delays: dict[str, float] = field(default_factory=dict)
    once: dict[str, list[Event]] = field(default_factory=dict)
    """For the first time that a question is asked."""
    planner: FakeAnalyst | None = None
    """Answers where the built-in planner alone is asked."""

    @staticmethod
    def new_thread() -> str:
        return "thread-1"

    async def ask(
        self,
        question: str,
        *,
        dataset_id: str,
        thread_id: str | None = None,
        user: str = "local",
        plan: dict[str, Any] | None = None,
    ) -> AsyncGenerator[Event, None]:
        self.asked.append((question, dataset_id, thread_id))
        self.plans.append(plan)
        try:
            await asyncio.sleep(self.delays.get(question, 0))
            yield Thought(text="Thinking…")
            if question in self.hangs:
                await asyncio.sleep(3600)
        except BaseException:
            self.stopped.append(question)
            raise
        for event in self.once.pop(question, None) or self.script.get(question, self.default):
            yield event

    async def approve(
        self, thread_id: str, decision: dict[str, Any], *, user: str = "local"
    ) -> AsyncGenerator[Event, None]:
        self.decided.append(decision)
        for event in (
            self.default if decision["type"] == "approve" else ended("refused", "You declined the query.")
        ):
            yield event

    @asynccontextmanager
    async def converse(self, parts: object, *, planner_only: bool = False) -> AsyncIterator[FakeAnalyst]:
        yield self.planner if planner_only and self.planner else self
