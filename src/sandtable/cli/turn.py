"""One question and its answers, for commands."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from concurrent.futures import Future
from dataclasses import dataclass, replace
from threading import Thread
from typing import Any, Literal, Protocol

from sandtable.agent.events import Ending, Error, Event
from sandtable.agent.folding import FoldedAnswer, Watch, fold
from sandtable.agent.read_as.model import Offer, ReadAs
from sandtable.assemble import Parts
from sandtable.cli import failure
from sandtable.errors import InvalidInput, Problem, RunnerBroken
from sandtable.runs.described import DescribedColumn
from sandtable.runs.model import LONGEST_QUESTION

ABSTAINED = 4
Status = Literal["answered", "abstained", "conversed", "refused", "failed", "waiting"]

_STATUS: dict[Ending, Status] = {
    "answered": "answered",
    "asked": "abstained",
    "conversed": "conversed",
    "refused": "refused",
    "failed": "failed",
    "waiting": "waiting",
}


class Analyst(Protocol):
    """What the commands need of `agent.analyst.Analyst`."""

    @staticmethod
    def new_thread() -> str: ...

    def ask(
        self,
        question: str,
        *,
        dataset_id: str,
        thread_id: str | None = None,
        user: str = "local",
        plan: dict[str, Any] | None = None,
    ) -> AsyncGenerator[Event, None]: ...

    def approve(
        self, thread_id: str, decision: dict[str, Any], *, user: str = "local"
    ) -> AsyncGenerator[Event, None]: ...


def load_converse() -> Callable[[Parts], Any]:
    from sandtable.assemble.conversation import converse  # loads LangGraph, which takes most of a second

    return converse


def load_one_turn() -> Callable[[Parts], Any]:
    from sandtable.assemble.one_turn import one_turn  # loads the planner

    return one_turn


def begin_loading(*, kept: bool = True) -> Future[Callable[[Parts], Any]]:
    """Loads on a thread, while other work is done, what opens an `Analyst`. `kept`: for more than one question."""
    loading: Future[Callable[[Parts], Any]] = Future()

    def load() -> None:
        try:
            loading.set_result(load_converse() if kept else load_one_turn())
        except Exception as error:  # noqa: BLE001 - raised where it is waited for
            loading.set_exception(error)

    Thread(target=load, name="loading", daemon=True).start()
    return loading


@dataclass(frozen=True, slots=True)
class ShownAnswer:
    status: Status
    answer_text: str
    reading: str = ""
    columns: tuple[DescribedColumn, ...] = ()
    rows: tuple[tuple[Any, ...], ...] | None = None
    """None when there was no run, or it has no result."""
    row_count: int = 0
    truncated: bool = False
    plan: dict[str, Any] | None = None
    sql: str | None = None
    run_id: str | None = None
    exec_time_ms: float | None = None
    chart: dict[str, Any] | None = None
    suggestions: tuple[str, ...] = ()
    choices: tuple[Offer, ...] = ()
    """For a question back: the possible readings."""
    error: Problem | None = None
    confidence: float | None = None
    """How likely the plan is what was meant; None if the proposer gives no confidence."""
    read_as: ReadAs | None = None
    """How the question was read, in parts."""
    others: tuple[ShownAnswer, ...] = ()
    """If the message asks several questions: the answers to the others, in order."""

    @property
    def parts(self) -> tuple[ShownAnswer, ...]:
        """The answers to the questions of the message, each by itself."""
        return (replace(self, others=()), *self.others)

    @property
    def waits(self) -> bool:
        """Whether a person must decide before the last question, and any after it, is answered."""
        return self.parts[-1].status == "waiting"

    @property
    def exit_code(self) -> int:
        """The exit code of the first question without an answer."""
        return next((part._own_code for part in self.parts if part._own_code), 0)

    @property
    def _own_code(self) -> int:
        if self.status in ("answered", "conversed"):
            return 0
        if self.status == "abstained":
            return ABSTAINED
        if self.status in ("refused", "waiting"):
            return failure.REFUSED
        return failure.EXIT_CODES[self.error.code] if self.error else failure.FAILED

    def as_json(self) -> dict[str, Any]:
        return {
            "status": self.status,
            "answer_text": self.answer_text,
            "reading": self.reading,
            "read_as": self.read_as.model_dump(mode="json") if self.read_as else None,
            "columns": [column.name for column in self.columns],
            "rows": self.rows or (),
            "row_count": self.row_count,
            "truncated": self.truncated,
            "plan": self.plan,
            "sql": self.sql,
            "run_id": self.run_id,
            "chart": self.chart,
            "suggestions": self.suggestions,
            "choices": [choice.model_dump(mode="json") for choice in self.choices],
            "error": self.error.model_dump(mode="json") if self.error else None,
            "others": [other.as_json() for other in self.others],
        }

    @classmethod
    def of(cls, answer: FoldedAnswer) -> ShownAnswer:
        end, run, table = answer.end, answer.run, answer.run.table
        if isinstance(end, Error):
            return cls("failed", end.problem.message, error=end.problem)
        return cls(
            status=_STATUS[end.ending],
            answer_text=end.text,
            reading=run.reading,
            columns=table.columns if table else (),
            rows=table.rows if table else None,
            row_count=table.row_count if table else 0,
            truncated=bool(table and table.truncated),
            plan=run.plan,
            sql=run.sql,
            run_id=answer.run_id,
            exec_time_ms=run.exec_time_ms,
            chart=answer.chart,
            suggestions=end.suggestions,
            choices=end.choices,
            error=end.problem,
            confidence=run.confidence,
            read_as=run.read_as,
        )


async def gather(events: AsyncGenerator[Event, None], watch: Watch | None = None) -> ShownAnswer:
    """The complete turn. Raises RunnerBroken if it stops before its last answer."""
    answers = await fold(events, watch)
    if not answers or not answers[-1].is_last:
        raise RunnerBroken("the conversation ended without an answer", suggestion="Ask again.")
    first, *others = map(ShownAnswer.of, answers)
    return replace(first, others=tuple(others))


def continued(waited: ShownAnswer, after: ShownAnswer) -> ShownAnswer:
    """The answers from the one that waited for a person onwards. Events before the wait said what it would run."""
    before = waited.parts[-1]
    return replace(
        after,
        plan=after.plan or before.plan,
        sql=after.sql or before.sql,
        reading=after.reading or before.reading,
        read_as=after.read_as or before.read_as,
    )


def checked_question(text: str) -> str:
    """Raises InvalidInput for a text that is not a valid question."""
    question = text.strip()
    if not question:
        raise InvalidInput("the question is empty", suggestion='Ask something, such as "How many orders?".')
    if len(question) > LONGEST_QUESTION:
        raise InvalidInput(
            f"the question has {len(question):,} characters, more than {LONGEST_QUESTION:,}",
            suggestion="Ask in a sentence or two; give data with --data.",
        )
    return question
