"""The end of an analysis: the answer with its tables and chart, or a statement of where it failed.

Invariant: what is said stands in the output of the runs that the message names; code that read no table is labelled.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from typing import Any

from sandtable.agent.analysis.coder import Coder, Reply, Seen, Task
from sandtable.agent.analysis.concluding import given_up, local_answer, with_tags, worded_answer
from sandtable.agent.analysis.notes import Analysis, cells_of, goal_of, main_of
from sandtable.agent.analysis.placing import with_artifacts
from sandtable.agent.analysis.prompt import shown_ids
from sandtable.agent.events import Chart, Table, Thought
from sandtable.agent.means import Means
from sandtable.agent.nodes.answer import props_of
from sandtable.agent.nodes.coding import analysis_of, ask, coder_in
from sandtable.agent.nodes.ending import end_turn
from sandtable.agent.nodes.place import Config, dataset_of
from sandtable.agent.outlet import outlet
from sandtable.agent.proposer import Exchange, Usage
from sandtable.agent.state import ClosingMessage, State, exchanges_of, turn_of
from sandtable.agent.streaming import emit
from sandtable.catalog.model import Dataset
from sandtable.errors import ErrorCode, Problem
from sandtable.policy.verdict import NOT_FROM_DATA
from sandtable.runs.described import described_artifacts, described_run
from sandtable.runs.model import Run
from sandtable.sandbox.artifact import last_figure

MOST_SHOWN_BYTES = 256 << 10
"""Of artifacts in the thread's own state; the runs have them all."""
_UNREAD = f"**{NOT_FROM_DATA}:** the code reads no table of the dataset."


async def conclude(means: Means, state: State, config: Config) -> State:
    turn, dataset = turn_of(state), await dataset_of(means, state, config)
    analysis = analysis_of(turn)
    if analysis.get("problem") is not None:
        return await _stopped(means, state, analysis)
    emit(Thought(text="Summing up…"))
    cells = cells_of(analysis)
    worked = [cell for cell in cells if cell.succeeded]
    main = main_of(cells, len(analysis.get("steps") or ()))
    runs = {cell.run_id: await means.runs.get(cell.run_id) for cell in worked}
    result = runs[main.run_id] if main else None
    plain = local_answer(turn.get("question", ""), result, dataset)
    if _reads_a_table(state, list(runs.values())):
        text = await _worded(means, state, dataset, plain, list(runs.values()))
    else:
        text = f"{_UNREAD}\n\n{plain}"
    text = with_tags(text, shown_ids(worked), _wanted(main, worked)) + _replay_note(analysis)
    drawn = _show_result(result, list(runs.values()))
    ids = [main.run_id] if main else []
    ids += [cell.run_id for cell in worked if cell.run_id not in ids]
    said = ClosingMessage(
        text=text,
        markdown=_placed(text, runs.values()),
        ending="answered",
        run_ids=ids,
        suggestions=list(dataset.prompts[:2]),
    )
    update, message = await end_turn(state, said, _exchange(state, analysis, text, None))
    if result is not None:
        props = _props(result, state, said.get("suggestions") or [], analysis, list(runs.values()), drawn)
        outlet().show("answer", props, id=f"answer_{message}", message_id=message, merge=True)
    return update


async def _worded(means: Means, state: State, dataset: Dataset, plain: str, runs: list[Run]) -> str:
    coder: Coder = coder_in(means)

    async def last_word(task: Task) -> Reply[str]:
        return await coder.conclude(task, plain) or Reply("", Usage(), 0)

    text, _ = await ask(means, state, dataset, last_word, last=True)
    if isinstance(text, Problem) or not text:
        return plain
    question = turn_of(state).get("question", "")
    return await asyncio.to_thread(worded_answer, text, plain, question, runs, dataset)


def _reads_a_table(state: State, runs: list[Run]) -> bool:
    """Variables of earlier answers count as read: what they were made of is known no more."""
    earlier = any(exchange.code for exchange in exchanges_of(state))
    return earlier or not runs or any(run.verdict is not None and run.verdict.tables for run in runs)


def _wanted(main: Seen | None, worked: list[Seen]) -> list[str]:
    """What an answer does not go without: the result's last table, and the plots."""
    tables = (
        [table.id for table in main.tables[-1:] if table.row_count > 1 or len(table.columns) > 2]
        if main
        else []
    )
    return [
        *tables,
        *(plot for cell in worked for plot in cell.plots),
        *(o for c in worked for o in c.others),
    ]


def _show_result(result: Run | None, runs: list[Run]) -> dict[str, Any] | None:
    """Emits the result as `table` and `chart`, for clients that show one of each. Returns the figure, if any."""
    if result is not None and result.columns and result.rows is not None:
        emit(
            Table(
                run_id=result.id,
                columns=described_run(result),
                rows=result.rows,
                row_count=result.row_count if result.row_count is not None else len(result.rows),
                truncated=result.truncated,
            )
        )
    for run in reversed(runs):
        figure = last_figure(run.artifacts)
        if figure is not None:
            emit(Chart(run_id=run.id, figure=figure))
            return figure
    return None


def _placed(text: str, runs: Iterable[Run]) -> str:
    return with_artifacts(text, {artifact.id: artifact for run in runs for artifact in run.artifacts})


async def _stopped(means: Means, state: State, analysis: Analysis) -> State:
    kept = analysis.get("problem")
    problem = Problem.model_validate(kept) if kept else None
    cells = cells_of(analysis)
    attempts = sum(cell.step == analysis.get("at") for cell in cells)
    text = given_up(problem, analysis.get("at", 1), goal_of(analysis), attempts)
    worked = [cell for cell in cells if cell.succeeded]
    markdown = text
    if worked:
        text = f"{text}\n\nThe steps before it ran; what they made is kept for your next question."
        text = with_tags(text, shown_ids(worked), [table.id for table in worked[-1].tables[-1:]])
        markdown = _placed(text, [await means.runs.get(worked[-1].run_id)])
    refused = problem is not None and problem.code == ErrorCode.PYTHON_POLICY_VIOLATION
    said = ClosingMessage(
        text=text,
        markdown=markdown,
        ending="refused" if refused else "failed",
        run_ids=[cell.run_id for cell in reversed(cells)],
        problem=problem.model_dump(mode="json") if problem else None,
    )
    update, _ = await end_turn(state, said, _exchange(state, analysis, text, problem))
    return update


def _exchange(state: State, analysis: Analysis, text: str, problem: Problem | None) -> Exchange:
    cells = cells_of(analysis)
    main = main_of(cells, len(analysis.get("steps") or ())) or next(iter(reversed(cells)), None)
    refused = problem is not None and problem.code == ErrorCode.PYTHON_POLICY_VIOLATION
    return Exchange(
        question=turn_of(state).get("asked", ""),
        answer=text,
        ending=("refused" if refused else "failed") if analysis.get("problem") is not None else "answered",
        run_id=main.run_id if main else None,
        problem=problem,
        code=tuple(cell.code for cell in cells if cell.succeeded),
    )


def _replay_note(analysis: Analysis) -> str:
    replayed = analysis.get("replayed", 0)
    if not replayed:
        return ""
    cells = "1 earlier cell was" if replayed == 1 else f"{replayed} earlier cells were"
    return f"\n\n*The session had ended in the meantime: {cells} run again first.*"


def _props(
    result: Run,
    state: State,
    suggestions: list[str],
    analysis: Analysis,
    runs: list[Run],
    figure: dict[str, Any] | None,
) -> dict[str, Any]:
    """What generative UI shows beside the message."""
    shown: list[dict[str, Any]] = []
    room = MOST_SHOWN_BYTES
    for artifact in described_artifacts(artifact for run in runs for artifact in run.artifacts):
        made = artifact.model_dump(mode="json")
        room -= len(json.dumps(made))
        if room >= 0:
            shown.append(made)
    told = ("step", "goal", "thought", "code", "run_id", "status", "stdout", "diagnosis")
    return props_of(result, state, suggestions, described_run(result)) | {
        "plan": {"steps": analysis.get("steps") or []},
        "figure": figure,
        "steps": [{name: cell.get(name, "") for name in told} for cell in analysis.get("cells") or ()],
        "artifacts": shown,
    }
