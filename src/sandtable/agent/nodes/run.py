"""The proposal becomes a run: judged by the gate, executed in the sandbox, sealed in a capsule."""

from __future__ import annotations

import asyncio
from typing import Any

from sandtable.agent.events import Chart, Log, RunState, Table, Thought
from sandtable.agent.execution import execute
from sandtable.agent.means import Means
from sandtable.agent.messages import Message
from sandtable.agent.nodes.calling import ids_of, new_call, progress, reply_of
from sandtable.agent.nodes.place import Config, dataset_of, user_of
from sandtable.agent.nodes.repair import may_repair
from sandtable.agent.state import State, TurnNotes, changed, origin_of, query_in, turn_of
from sandtable.agent.streaming import emit
from sandtable.agent.suggest import next_questions
from sandtable.agent.tools import report_of
from sandtable.capsule.query import PlanQuery, SqlQuery
from sandtable.catalog.model import Dataset
from sandtable.errors import InvalidInput, SandtableError
from sandtable.plan.validate import parse_plan
from sandtable.runs.described import described_run
from sandtable.runs.model import Run, RunRequest
from sandtable.sql.compile import compile_plan
from sandtable.wording import wants_overall

LONGEST_RECORDED = 2_000
"""Characters of a message that is SQL which its run keeps as the question."""


async def run(means: Means, state: State, config: Config) -> State:
    turn, dataset = turn_of(state), await dataset_of(means, state, config)
    messages: list[Message] = []
    call = turn.get("call")
    if call is None:
        # A refused proposal is handed in all the same: its refusal is put on record as a run.
        message = new_call(turn, dataset.id)
        messages.append(message)
        call = ids_of(message)
    emit(Thought(text="Running…"))

    def tell(now: Run) -> None:
        emit(RunState(run_id=now.id, status=now.status, exec_time_ms=now.exec_time_ms))
        progress(call, "done" if now.ended else "running", now.id, now.status)

    # Computed while the sandbox works, so that it adds no delay.
    suggesting = asyncio.create_task(next_questions(means, state, dataset))
    try:
        _require_approved(means, turn, dataset)
        requests = requests_of(means, turn, dataset.id, user_of(config))
        ended = await execute(means.runs, requests, tell)
        suggestions = await suggesting
    except SandtableError as error:
        progress(call, "failed", None, "failed")
        messages.append(
            reply_of(call, {"status": "failed", "error": {"message": error.message}}, failed=True)
        )
        problem = error.problem.model_dump(mode="json")
        return State(turn=changed(turn, TurnNotes(problem=problem, given_up=True)), messages=messages)
    finally:
        suggesting.cancel()
    main = ended[0]
    show(main, dataset)
    changes = TurnNotes(
        run_ids=[main.id, *(other.id for other in ended[1:] if other.status == "succeeded")],
        problem=main.error.model_dump(mode="json") if main.error else None,
        suggestions=suggestions,
    )
    messages.append(reply_of(call, report_of(main), failed=main.status != "succeeded"))
    return State(turn=changed(turn, changes), messages=messages)


def requests_of(means: Means, turn: TurnNotes, dataset_id: str, user: str) -> list[RunRequest]:
    """The run, and beside it the one that says what the overall value is, where the answer compares with it."""
    query, asked = query_in(turn), turn.get("asked", "")
    common: dict[str, Any] = {"dataset_id": dataset_id, "user": user, "origin": origin_of(turn)}
    if isinstance(query, SqlQuery):
        question = asked if turn.get("origin") else asked[:LONGEST_RECORDED]
        return [RunRequest(**common, query=query, question=question, chart=True)]
    main = RunRequest(**common, query=query, question=asked, chart=True)
    # Only what a person approved may run, and they were shown one text.
    alone = turn.get("problem") or means.approval == "sql"
    overall = None if alone else wants_overall(turn.get("question", ""), query.plan)
    return [main, RunRequest(**common, query=PlanQuery(overall), question=asked)] if overall else [main]


def _require_approved(means: Means, turn: TurnNotes, dataset: Dataset) -> None:
    """What runs is what the person saw, even if the dataset was replaced while they were thinking."""
    plan = turn.get("plan")
    if means.approval == "off" or plan is None or turn.get("problem"):
        return
    if compile_plan(parse_plan(plan), dataset, max_rows=means.max_rows).sql != turn.get("sql"):
        raise InvalidInput(
            "the dataset has changed since the query was approved, and the query with it",
            suggestion="Ask again to see the new one.",
        )


def show(ended: Run, dataset: Dataset) -> None:
    for text in (*ended.warnings, ended.stdout, ended.stderr):
        if text.strip():
            emit(Log(run_id=ended.id, text=text))
    if ended.rows is None:
        return
    emit(
        Table(
            run_id=ended.id,
            columns=described_run(ended, dataset),
            rows=ended.rows,
            row_count=ended.row_count if ended.row_count is not None else len(ended.rows),
            truncated=ended.truncated,
        )
    )
    if ended.chart is not None:
        emit(Chart(run_id=ended.id, figure=ended.chart))


def after_run(means: Means, state: State) -> str:
    return "repair" if may_repair(means, turn_of(state)) else "answer"
