"""The run becomes an answer: a sentence from its rows, a bounded look at them, and what to ask next.

Invariant: what is said comes from the rows of the runs that the message names, and what does not is labelled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sandtable.agent.execution import looking_up
from sandtable.agent.means import Means
from sandtable.agent.nodes.ending import end_turn
from sandtable.agent.nodes.place import Config, dataset_of, user_of
from sandtable.agent.nodes.propose import asked_of
from sandtable.agent.outlet import outlet
from sandtable.agent.proposer import Exchange
from sandtable.agent.saying import failure_text, labels_of, shows_table, whole_answer
from sandtable.agent.state import ClosingMessage, State, TurnNotes, read_as_of, turn_of
from sandtable.agent.streaming import outside_stream
from sandtable.capsule.query import SqlQuery
from sandtable.catalog.model import Dataset
from sandtable.errors import Problem, SandtableError
from sandtable.runs.described import DescribedColumn, described_run
from sandtable.runs.empty import first_emptying, found_nothing
from sandtable.runs.empty_sql import why_sql_found_nothing
from sandtable.runs.explanation import Explanation
from sandtable.runs.model import Run
from sandtable.wording import answer_of
from sandtable.wording.meanings import result_of
from sandtable.wording.result import Result
from sandtable.wording.titles import title_of

ROWS_IN_UI = 50


async def answer(means: Means, state: State, config: Config) -> State:
    turn, dataset = turn_of(state), await dataset_of(means, state, config)
    ended = [await means.runs.get(run_id) for run_id in turn.get("run_ids") or ()]
    if not ended or ended[0].status != "succeeded":
        return await _failure(state, ended[0] if ended else None)
    main = ended[0]
    sentence = await _sentence(means, state, dataset, ended)
    why = await _why_empty(means, turn, main, dataset, user_of(config))
    if why is not None:
        sentence = f"{sentence} {why.text}"
    suggestions = turn.get("suggestions") or []
    fields = _result(turn, main, dataset, None).fields if shows_table(main) else ()
    text = whole_answer(sentence, main, turn, fields)
    said = ClosingMessage(
        text=text,
        ending="answered",
        run_ids=[*(r.id for r in ended), *(why.run_ids if why else ())],
        suggestions=suggestions,
        title=_title(turn, main, dataset),
    )
    update, message = await end_turn(state, said, _exchange(state, main, sentence, None))
    props = props_of(main, state, suggestions, described_run(main, dataset))
    outlet().show("answer", props, id=f"answer_{message}", message_id=message, merge=True)
    return update


async def _why_empty(
    means: Means, turn: TurnNotes, run: Run, dataset: Dataset, user: str
) -> Explanation | None:
    """Where the answer found nothing. Only what a person approved may run, so that then nothing is counted."""
    plan, query = turn.get("plan"), run.request.query
    if means.approval == "sql" or not found_nothing(run, dataset):
        return None
    execute = looking_up(means, dataset, user, turn.get("asked", ""))
    if plan is not None:
        return await first_emptying(plan, dataset, execute)
    if not isinstance(query, SqlQuery):
        return None
    read = await means.read_sql(dataset, query.sql)
    # The values of a model's SQL were looked up before it ran.
    profile = None if turn.get("origin") else await means.datasets.profile(dataset)
    why = await why_sql_found_nothing(read, run, dataset, profile, execute)
    return Explanation(why.text, why.run_ids) if why.text else None


def _title(turn: TurnNotes, run: Run, dataset: Dataset) -> str:
    plan = turn.get("plan")
    return title_of(plan, dataset, max(len(run.rows or ()), run.row_count or 0)) if plan else ""


async def _sentence(means: Means, state: State, dataset: Dataset, ended: list[Run]) -> str:
    main, turn = ended[0], turn_of(state)
    plan, rows = turn.get("plan"), main.rows or ()
    plain = answer_of(
        turn.get("question", ""),
        plan,
        [(column.name, column.type) for column in main.columns],
        rows,
        dataset,
        truncated=main.truncated,
        row_count=main.row_count,
        overall=_overall(ended),
    )
    if not turn.get("origin") or turn.get("note") or labels_of(main):
        return plain
    try:
        asked = await asked_of(means, state, dataset)
        worded = await outside_stream(means.proposer.word(asked, main, plain), means.observer.tracer)
    except SandtableError:
        # The answer exists; only the model's wording is missing.
        return plain
    if worded is None:
        return plain
    from sandtable.agent.grounding import facts_of, grounded  # only for a chat model's sentence

    facts = facts_of(_result(turn, main, dataset, _overall(ended)), plan)
    return worded.text if grounded(worded.text, plain, facts) else plain


def _result(turn: TurnNotes, run: Run, dataset: Dataset, overall: dict[str, Any] | None) -> Result:
    columns = [(column.name, column.type) for column in run.columns]
    rows = run.rows or ()
    question, plan = turn.get("question", ""), turn.get("plan")
    total = max(len(rows), run.row_count or 0)
    return result_of(question, plan, columns, rows, dataset, total, run.truncated, overall)


def _overall(ended: list[Run]) -> dict[str, Any] | None:
    """The single row of the companion run, by column."""
    companion = ended[1] if len(ended) > 1 else None
    if companion is None or not companion.rows:
        return None
    return dict(zip((column.name for column in companion.columns), companion.rows[0], strict=True))


async def _failure(state: State, run: Run | None) -> State:
    turn = turn_of(state)
    kept = turn.get("problem")
    problem = Problem.model_validate(kept) if kept else None
    rejected = run is not None and run.status == "rejected"
    said = ClosingMessage(
        text=failure_text(problem, run, repairs=len(turn.get("attempts") or ()), note=turn.get("note", "")),
        ending="refused" if rejected else "failed",
        run_ids=[run.id] if run else [],
        problem=problem.model_dump(mode="json") if problem else None,
    )
    update, _ = await end_turn(state, said, _exchange(state, run, said.get("text", ""), problem))
    return update


def _exchange(state: State, run: Run | None, text: str, problem: Problem | None) -> Exchange:
    turn = turn_of(state)
    succeeded = run is not None and run.status == "succeeded"
    refused = run is not None and run.status == "rejected"
    read = read_as_of(turn)
    return Exchange(
        question=turn.get("asked", ""),
        answer=text,
        ending="answered" if succeeded else "refused" if refused else "failed",
        plan=turn.get("plan"),
        sql=turn.get("sql"),
        run_id=run.id if run else None,
        problem=problem,
        likely=tuple((part.kind, part.label) for part in read.likely) if read else (),
    )


def props_of(
    run: Run, state: State, suggestions: list[str], columns: Sequence[DescribedColumn]
) -> dict[str, Any]:
    """What generative UI shows beside the message."""
    turn = turn_of(state)
    return {
        "run_id": run.id,
        "reading": turn.get("reading") or "",
        "read_as": turn.get("read_as"),
        "plan": turn.get("plan"),
        "sql": run.executed_sql or run.sql,
        "columns": [column.model_dump(mode="json") for column in columns],
        "rows": [list(row) for row in (run.rows or ())[:ROWS_IN_UI]],
        "row_count": run.row_count,
        "truncated": run.truncated,
        "logs": [*run.warnings, *(text for text in (run.stdout, run.stderr) if text.strip())],
        "stats": {**run.stats, "exec_time_ms": run.exec_time_ms},
        "figure": run.chart,
        "suggestions": suggestions,
    }
