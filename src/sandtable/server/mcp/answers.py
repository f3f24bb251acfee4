"""The tool `ask`: the events of a turn become one answer, or a question back.

Invariant: an answer names the run that its numbers come from. What may hold a masked value is not in it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from sandtable.agent.events import Error, Event, RunState, Thought
from sandtable.agent.folding import AnswerFold, FoldedAnswer
from sandtable.conversations.json_text import encode
from sandtable.conversations.text import question_of
from sandtable.errors import InvalidInput, RunnerBroken
from sandtable.quoting import quote
from sandtable.runs.model import Run
from sandtable.server.mcp.budget import Budget, shortened
from sandtable.server.mcp.calls import (
    AskBack,
    Given,
    Progress,
    figure_of,
    join,
    run_text,
)
from sandtable.server.mcp.place import Caller
from sandtable.server.mcp.shown import (
    WITHHELD,
    AskResult,
    ShownAnswer,
    ShownError,
    shown_run,
    table_text,
    with_rows,
)
from sandtable.server.mcp.tools import AskArguments

APPROVE, REJECT = "approve", "reject"


async def ask(caller: Caller, given: AskArguments, progress: Progress) -> Given:
    question = question_of(given.question, "question")
    if given.dataset_id is not None:
        caller.dataset(given.dataset_id)
    asking = caller.place.asking
    thread = await asking.thread(caller.user, given.thread_id, given.dataset_id)
    return await _answered(caller, thread, asking.ask(caller.user, thread[0], question), progress)


async def go_on(caller: Caller, thread_id: str, chosen: str, progress: Progress, *, decides: bool) -> Given:
    """What follows a person's choice, or decision. Raises NotFound for a conversation that there is not."""
    asking = caller.place.asking
    thread = await asking.thread(caller.user, thread_id, None)
    if not decides:
        events = asking.ask(caller.user, thread_id, question_of(chosen, "choice"))
    elif chosen in (APPROVE, REJECT):
        events = asking.decide(caller.user, thread_id, chosen)
    else:
        raise InvalidInput(
            f"{quote(chosen)} is no decision", suggestion=f"Answer with `{APPROVE}` or `{REJECT}`."
        )
    return await _answered(caller, thread, events, progress)


async def _answered(
    caller: Caller, thread: tuple[str, str], events: AsyncGenerator[Event, None], progress: Progress
) -> Given:
    fold, answers = AnswerFold(), list[FoldedAnswer]()
    async with aclosing(events) as coming:
        async for event in coming:
            if isinstance(event, Thought):
                await progress(event.text)
            elif isinstance(event, RunState):
                await progress(f"Run {event.run_id} is {event.status}.")
            if (answer := fold.take(event)) is not None:
                answers.append(answer)
    if not answers:
        raise RunnerBroken("the conversation ended without an answer", suggestion="Ask again.")
    budget = Budget.of(caller.place.settings).shared(len(answers))
    shown = [await _shown(caller, thread, answer, budget) for answer in answers]
    (first, text, figure), *others = shown
    result = AskResult(**{name: getattr(first, name) for name in ShownAnswer.model_fields}).model_copy(
        update={"others": tuple(each for each, _, _ in others)}
    )
    last = shown[-1][0]
    return Given(
        join(text, *(said for _, said, _ in others)),
        result,
        is_error=first.outcome in ("refused", "failed"),
        figure=figure,
        asks=_asks_back(last),
    )


def _asks_back(answer: ShownAnswer) -> AskBack | None:
    if answer.outcome == "waiting":
        message = join(answer.message, answer.pending_sql or "")
        return AskBack(answer.thread_id, message, (APPROVE, REJECT), decides=True)
    if answer.outcome == "asked" and answer.choices:
        return AskBack(answer.thread_id, answer.message, answer.choices)
    return None


async def _shown(
    caller: Caller, thread: tuple[str, str], answer: FoldedAnswer, budget: Budget
) -> tuple[ShownAnswer, str, dict[str, Any] | None]:
    end, (thread_id, dataset_id) = answer.end, thread
    if isinstance(end, Error):
        error = ShownError.of(caller.presentable(end.problem), budget.text)
        return ShownAnswer(thread_id=thread_id, outcome="failed", message="", error=error), error.text, None
    runs = [await caller.run(run_id) for run_id in end.run_ids]
    if _is_withheld(caller, dataset_id, answer, runs):
        return _withheld(caller, thread, answer, runs, budget)
    said = ShownAnswer(
        thread_id=thread_id,
        outcome=end.ending,
        message=shortened(_sentences(end.text, has_rows=bool(runs)), budget.text * 2),
        reading=shortened(_reading(answer), budget.text // 2),
        choices=tuple(choice.label for choice in end.choices if len(choice.label) <= budget.text // 4),
        suggestions=tuple(shortened(each, 300) for each in end.suggestions[:4]),
        pending_sql=shortened(answer.run.sql or "", budget.text) if end.ending == "waiting" else None,
        error=None if end.problem is None else ShownError.of(caller.presentable(end.problem), budget.text),
    )
    if not runs:
        return said, _text(said), None
    made = shown_run(runs[0], "off", budget)
    made = with_rows(made, runs[0], budget, encode(said), _text(said), run_text(made))
    said = said.model_copy(update={"run": made})
    text = join(_text(said), run_text(made), table_text(made, runs[0]))
    return said, text, figure_of(answer.chart, "")


def _is_withheld(caller: Caller, dataset_id: str, answer: FoldedAnswer, runs: list[Run]) -> bool:
    if runs:
        return any(caller.privacy_of(run) == "schema" for run in runs)
    return not caller.may_show(dataset_id, answer.run.plan)


def _withheld(
    caller: Caller, thread: tuple[str, str], answer: FoldedAnswer, runs: list[Run], budget: Budget
) -> tuple[ShownAnswer, str, None]:
    """Only what cannot hold a cell: how it ended, the run, and readings that name no masked column."""
    end, (thread_id, dataset_id) = answer.end, thread
    assert not isinstance(end, Error)
    choices = tuple(
        choice.label
        for choice in end.choices
        if choice.plan is not None and caller.may_show(dataset_id, choice.plan)
    )
    message = "Which of these is meant?" if choices else WITHHELD
    error = None if end.problem is None else ShownError.of(end.problem, budget.text, "schema")
    run = shown_run(runs[0], "schema", budget) if runs else None
    said = ShownAnswer(
        thread_id=thread_id, outcome=end.ending, message=message, choices=choices, error=error, run=run
    )
    return said, join(_text(said), run_text(run) if run else ""), None


def _reading(answer: FoldedAnswer) -> str:
    """With what was likely read marked as such."""
    read_as = answer.run.read_as
    return read_as.line if read_as is not None else answer.run.reading


def _sentences(message: str, *, has_rows: bool) -> str:
    """Without the line on the reading and without the table, which have fields of their own."""
    return "\n\n".join(
        each
        for each in message.split("\n\n")
        if not each.startswith("*Read as: ") and not (has_rows and each.startswith("| "))
    )


def _text(said: ShownAnswer) -> str:
    lines = [said.message]
    if said.reading:
        lines.append(f"Read as: {said.reading}")
    if said.error is not None:
        lines.append(said.error.text)
    if said.choices:
        listed = "\n".join(f"- {each}" for each in said.choices)
        lines.append(
            f"Not answered yet. Let the person choose, then call ask with thread_id {said.thread_id} and one of these "
            f"as the question:\n{listed}"
        )
    if said.pending_sql:
        lines.append(f"A person must approve this in Sandtable before it runs:\n{said.pending_sql}")
    return "\n\n".join(line for line in lines if line)
