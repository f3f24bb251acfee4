"""Events folded into answers: which run an answer shows, and where one answer ends."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Any

from sandtable.agent.events import (
    ArtifactShown,
    Chart,
    Code,
    Error,
    Event,
    Log,
    Message,
    Planned,
    RunState,
    Sql,
    Table,
)
from sandtable.agent.folding import FoldedAnswer, fold
from sandtable.errors import ErrorCode, Problem
from sandtable.runs.described import described
from sandtable.sandbox.artifact import MarkdownArtifact
from sandtable.sandbox.job import ResultColumn

FIGURE: dict[str, Any] = {"data": []}


def run_events(run_id: str, value: int, reading: str = "the number of orders") -> list[Event]:
    return [
        Planned(plan={"n": value}, reading=reading, confidence=0.5),
        Sql(sql=f"SELECT {value}"),
        RunState(run_id=run_id, status="running"),
        RunState(run_id=run_id, status="succeeded", exec_time_ms=1.5),
        Table(
            run_id=run_id,
            columns=described([ResultColumn(name="n", type="BIGINT")]),
            rows=((value,),),
            row_count=1,
            truncated=False,
        ),
    ]


async def folded(*events: Event, seen: list[Event] | None = None) -> list[FoldedAnswer]:
    async def coming() -> AsyncGenerator[Event, None]:
        for event in events:
            yield event

    return await fold(coming(), None if seen is None else seen.append)


def rows_of(answer: FoldedAnswer) -> Sequence[Sequence[Any]] | None:
    return answer.run.table.rows if answer.run.table else None


async def test_an_answer_shows_the_run_that_its_message_names_first() -> None:
    """A repaired answer has two runs, and an answer may compare with a second one."""
    [answer] = await folded(
        *run_events("run_a", 1),
        *run_events("run_b", 2, reading="again"),
        Message(text="2", ending="answered", run_ids=("run_b", "run_a")),
    )
    assert (answer.run_id, rows_of(answer), answer.run.reading) == ("run_b", ((2,),), "again")
    assert (answer.run.plan, answer.run.sql) == ({"n": 2}, "SELECT 2")
    assert (answer.run.status, answer.run.exec_time_ms, answer.run.confidence) == ("succeeded", 1.5, 0.5)
    assert answer.is_last


async def test_a_proposal_without_a_run_is_kept() -> None:
    [answer] = await folded(
        Planned(plan={"a": 1}, reading="r"), Sql(sql="s"), Message(text="May I?", ending="waiting")
    )
    assert (answer.run.plan, answer.run.sql, answer.run.reading) == ({"a": 1}, "s", "r")
    assert (answer.run_id, rows_of(answer)) == (None, None)


async def test_sql_in_place_of_a_plan_has_no_reading() -> None:
    [answer] = await folded(
        Planned(plan={"a": 1}, reading="r"),
        Sql(sql="s"),
        Sql(sql="edited"),
        Message(text="Done.", ending="answered"),
    )
    assert (answer.run.plan, answer.run.sql, answer.run.reading) == (None, "edited", "")


async def test_the_chart_may_be_that_of_a_later_run() -> None:
    [answer] = await folded(
        *run_events("run_a", 1),
        RunState(run_id="run_b", status="succeeded"),
        Chart(run_id="run_b", figure=FIGURE),
        Chart(run_id="run_c", figure={"data": ["not named"]}),
        Message(text="1", ending="answered", run_ids=("run_a", "run_b")),
    )
    assert (answer.run.chart, answer.chart) == (None, FIGURE)


async def test_each_question_of_a_message_has_an_answer_of_its_own() -> None:
    step = Code(step=1, goal="Count.", code="1")
    shown = MarkdownArtifact(id="markdown-1", text="x")
    first, second = await folded(
        *run_events("run_a", 1),
        step,
        ArtifactShown(run_id="run_a", artifact=shown),
        Message(text="1", ending="answered", run_ids=("run_a",), remaining=1),
        Message(text="What?", ending="asked"),
    )
    assert (first.is_last, first.steps, first.artifacts) == (False, (step,), (shown,))
    assert (second.is_last, second.steps, second.artifacts, second.run.plan) == (True, (), (), None)


async def test_an_error_ends_an_answer() -> None:
    problem = Problem(code=ErrorCode.RUNNER_INTERNAL_ERROR, message="it broke")
    [answer] = await folded(*run_events("run_a", 1), Error(problem=problem))
    assert (answer.end, answer.is_last, answer.run_id) == (Error(problem=problem), True, None)


async def test_every_event_is_passed_to_the_watcher() -> None:
    seen: list[Event] = []
    script = (Log(text="a note"), RunState(run_id="x", status="running"))
    assert await folded(*script, seen=seen) == []
    assert seen == list(script)
