"""One cell of an analysis: judged, run in the conversation's session, shown, and noted for the next step."""

from __future__ import annotations

from typing import Any

from sandtable.agent.analysis.coder import MOST_REPAIRS, Seen
from sandtable.agent.analysis.notes import Analysis, calls_left, draws, goal_of
from sandtable.agent.analysis.observing import seen_of
from sandtable.agent.events import ArtifactShown, Log, RunState, Thought
from sandtable.agent.execution import execute
from sandtable.agent.means import Means
from sandtable.agent.nodes.calling import code_call, ids_of, progress, reply_of
from sandtable.agent.nodes.coding import analysis_of, noted
from sandtable.agent.nodes.place import Config, dataset_of, thread_of, user_of
from sandtable.agent.state import State, TurnNotes, origin_of, turn_of
from sandtable.agent.streaming import emit
from sandtable.agent.tools import report_of
from sandtable.capsule.query import CodeQuery
from sandtable.errors import ErrorCode, SandtableError
from sandtable.runs.described import described_artifacts
from sandtable.runs.model import Run, RunRequest

_NOT_MENDABLE = frozenset(
    {
        ErrorCode.SANDBOX_UNAVAILABLE,
        ErrorCode.QUEUE_FULL,
        ErrorCode.DATA_DAMAGED,
        ErrorCode.NOT_FOUND,
        ErrorCode.UNAUTHORIZED,
    }
)
"""Errors that other code would hit as well."""


async def run_cell(means: Means, state: State, config: Config) -> State:
    turn, dataset = turn_of(state), await dataset_of(means, state, config)
    analysis = analysis_of(turn)
    message = code_call(dataset.id, analysis.get("code", ""), analysis.get("at", 1), goal_of(analysis))
    call = ids_of(message)
    emit(Thought(text=f"Running the code of {_place(analysis)}…"))

    def tell(now: Run) -> None:
        emit(RunState(run_id=now.id, status=now.status, exec_time_ms=now.exec_time_ms))
        progress(call, "done" if now.ended else "running", now.id, now.status)

    try:
        request = cell_request(turn, dataset.id, user_of(config), thread_of(config))
        [ended] = await execute(means.runs, [request], tell)
    except SandtableError as error:
        progress(call, "failed", None, "failed")
        reply = reply_of(call, {"status": "failed", "error": {"message": error.message}}, failed=True)
        ended_by = noted(turn, problem=error.problem.model_dump(mode="json"), next="conclude")
        return State(turn=ended_by, messages=[message, reply])
    show_cell(ended)
    seen = seen_of(ended, analysis.get("at", 1), goal_of(analysis), analysis.get("thought", ""))
    reply = reply_of(call, report_of(ended), failed=not seen.succeeded)
    return State(turn=_gone_on(turn, seen, ended), messages=[message, reply])


def cell_request(turn: TurnNotes, dataset_id: str, user: str, thread_id: str) -> RunRequest:
    analysis = analysis_of(turn)
    origin = None if analysis.get("by_person") else origin_of(turn, analysis.get("repairs", 0))
    return RunRequest(
        dataset_id=dataset_id,
        query=CodeQuery(analysis.get("code", ""), session=None if analysis.get("alone") else thread_id),
        question=turn.get("asked", ""),
        user=user,
        origin=origin,
        cache=False,
    )


def show_cell(ended: Run) -> None:
    for text in (*ended.warnings, ended.stdout, ended.stderr or _error_text(ended)):
        if text.strip():
            emit(Log(run_id=ended.id, text=text))
    for artifact in described_artifacts(ended.artifacts):
        emit(ArtifactShown(run_id=ended.id, artifact=artifact))


def _error_text(ended: Run) -> str:
    """The error in words, for a refusal, which has no traceback."""
    return f"{ended.error.code}: {ended.error.message}" if ended.error else ""


def _gone_on(turn: TurnNotes, seen: Seen, ended: Run) -> TurnNotes:
    analysis = analysis_of(turn)
    cells = [*(analysis.get("cells") or ()), seen.model_dump(mode="json")]
    replayed = analysis.get("replayed", 0) + ended.replayed
    steps, at = len(analysis.get("steps") or ()), analysis.get("at", 1)
    if seen.succeeded:
        follows = "conclude" if at > steps else "write_code" if at < steps else "draw"
        further: dict[str, Any] = {"at": at + 1, "repairs": 0, "advice": None} if at <= steps else {}
        return noted(turn, cells=cells, replayed=replayed, next=follows, **further)
    if _may_mend(analysis, seen):
        return noted(turn, cells=cells, replayed=replayed, next="diagnose")
    if draws(analysis):
        # The result exists; only the chart is missing.
        return noted(turn, cells=cells, replayed=replayed, next="conclude")
    problem = ended.error.model_dump(mode="json") if ended.error else {}
    return noted(turn, cells=cells, replayed=replayed, problem=problem, next="conclude")


def _may_mend(analysis: Analysis, seen: Seen) -> bool:
    problem = seen.problem
    return (
        problem is not None
        and problem.code not in _NOT_MENDABLE
        and analysis.get("repairs", 0) < MOST_REPAIRS
        # A diagnosis and the code after it.
        and calls_left(analysis) >= 2
    )


def _place(analysis: Analysis) -> str:
    return "the chart" if draws(analysis) else f"step {analysis.get('at', 1)}"


def after_run_cell(state: State) -> str:
    return analysis_of(turn_of(state)).get("next", "conclude")
