"""What the steps of an analysis have in common: asking the coder, within the calls that are left."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from sandtable.agent.analysis.coder import MOST_CALLS, Coder, Reply, Task, Written
from sandtable.agent.analysis.notes import Analysis, calls_left, changed_to, goal_of, task_of
from sandtable.agent.events import Code, Thought
from sandtable.agent.means import Means
from sandtable.agent.nodes.propose import asked_of, hinted
from sandtable.agent.state import State, TurnNotes, added, changed, turn_of
from sandtable.agent.streaming import emit, outside_stream
from sandtable.catalog.model import Dataset
from sandtable.errors import ErrorCode, Problem, SandtableError

T = TypeVar("T")
Ask = Callable[[Task], Awaitable[Reply[T]]]


def coder_in(means: Means) -> Coder:
    assert means.coder is not None, "an analysis begins only where somebody writes code"
    return means.coder


def analysis_of(turn: TurnNotes) -> Analysis:
    return turn.get("analysis") or Analysis()


def noted(turn: TurnNotes, **changes: Any) -> TurnNotes:
    """The turn with other notes about its analysis."""
    return changed(turn, TurnNotes(analysis=changed_to(analysis_of(turn), **changes)))


async def ask(
    means: Means, state: State, dataset: Dataset, how: Ask[T], *, last: bool = False
) -> tuple[T | Problem, TurnNotes]:
    """What the coder says, or why nothing usable came; and the turn with what that cost.

    `last`: the one call that is kept for the last word may be used.
    """
    turn = turn_of(state)
    analysis = analysis_of(turn)
    if not last and calls_left(analysis) < 1:
        return _asked_enough(), turn
    task = task_of(await hinted(means, await asked_of(means, state, dataset)), analysis)
    try:
        reply = await outside_stream(_awaited(how, task), means.observer.tracer)
    except SandtableError as error:
        # The error does not say how many calls were made: count all that were allowed.
        return error.problem, noted(turn, calls=analysis.get("calls", 0) + task.calls)
    spent = noted(turn, calls=analysis.get("calls", 0) + reply.calls)
    return reply.what, changed(spent, TurnNotes(usage=added(turn.get("usage"), reply.usage)))


def tell(written: Written, analysis: Analysis) -> None:
    """The thought, then the code: before anything of it runs."""
    if written.thought:
        emit(Thought(text=written.thought))
    emit(Code(step=analysis.get("at"), goal=goal_of(analysis), code=written.code))


async def _awaited(how: Ask[T], task: Task) -> Reply[T]:
    return await how(task)


def _asked_enough() -> Problem:
    return Problem(
        code=ErrorCode.RUNNER_RESOURCE_EXCEEDED,
        message=f"the analysis took more than {MOST_CALLS} calls of the chat model",
        suggestion="Ask for less at once, or in several questions.",
        details={"type": "TooManyCalls"},
    )
