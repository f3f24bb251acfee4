"""The outcome of one item: the answer that a turn gave, and whether it is right.

Invariant: every item of a message has exactly one outcome. A result is an answer to at most one item.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from sandtable.cli.evaluation.cases import Asking, BadCase, Case, Expect, Item
from sandtable.cli.evaluation.expected import Expected
from sandtable.cli.turn import ShownAnswer
from sandtable.errors import ErrorCode

Status = Literal["answered", "abstained", "failed"]
Outcome = Literal["right", "wrong", "asked", "rightly asked", "rightly declined", "failed"]
"""`asked`: no result where an answer was expected. `failed`: the run, the model or the machinery failed."""
Kind = Literal["question", "first turn", "follow-up"]

PASSED: frozenset[Outcome | None] = frozenset({"right", "rightly asked", "rightly declined"})
_STATUS: dict[str, Status] = {"answered": "answered", "failed": "failed"}
"""All other endings are abstentions: no answer was given, and the reason was stated."""
_OUT_OF_TIME = frozenset({ErrorCode.RUNNER_TIMEOUT, ErrorCode.SANDBOX_UNAVAILABLE, ErrorCode.QUEUE_FULL})

_WITHOUT_RESULT: dict[Expect, Outcome] = {
    "answer": "asked",
    "ask": "rightly asked",
    "decline": "rightly declined",
}


@dataclass(frozen=True, slots=True)
class Judged:
    item: Item
    source: str
    """The dataset's id, or the names of its files."""
    kind: Kind
    status: Status
    outcome: Outcome | None
    """None for a line without an expected outcome."""
    turn: ShownAnswer
    ms: float | None = None
    """From the question to the complete answer; in a turn with parts, only the first part has it."""

    @property
    def correct(self) -> bool | None:
        return None if self.outcome is None else self.outcome in PASSED

    def as_json(self) -> dict[str, Any]:
        return {
            "id": self.item.id,
            "status": self.status,
            "rows": self.turn.rows or (),
            "columns": [column.name for column in self.turn.columns],
            "answer_text": self.turn.answer_text,
            "plan": self.turn.plan,
            "sql": self.turn.sql,
            "correct": self.correct,
            "outcome": self.outcome,
            "confidence": self.turn.confidence,
            "question": self.item.question,
            "expect": self.item.expect,
            "answers": self.item.expected.answers,
            "tags": self.item.tags,
            "source": self.source,
            "kind": self.kind,
            "reading": self.turn.reading,
            "truncated": self.turn.truncated,
            "run_id": self.turn.run_id,
            "ms": None if self.ms is None else round(self.ms, 1),
            "error": self.turn.error.model_dump(mode="json") if self.turn.error else None,
        }


def judged(case: Case, place: int, turn: ShownAnswer, ms: float | None) -> list[Judged]:
    """The items of the message at `place`, in order."""
    kind: Kind = "question" if not case.dialogue else "first turn" if place == 0 else "follow-up"
    made: list[Judged] = []
    for item, found in _answers(case.askings[place], turn):
        status = status_of(found) if found is not None else "abstained"
        outcome = _outcome(item, status, found or turn) if item.graded else None
        made.append(
            Judged(
                item, case.source, kind, status, outcome, found or _without_result(turn), None if made else ms
            )
        )
    return made


def status_of(turn: ShownAnswer) -> Status:
    """A plan that was refused when it ran is no abstention: it was proposed as the answer."""
    if turn.status == "refused" and turn.plan is not None:
        return "failed"
    return _STATUS.get(turn.status, "abstained")


def may_be_busy(turn: ShownAnswer) -> bool:
    """Whether it may have failed because the machine was busy: SQL of a plan is always approved, unless parsing it
    times out."""
    refused = turn.status == "refused" and turn.plan is not None
    return refused or (turn.error is not None and turn.error.code in _OUT_OF_TIME)


def unusable(case: BadCase) -> Judged:
    item = Item(case.id, "", "answer", Expected(()))
    turn = ShownAnswer("failed", case.problem.message, error=case.problem)
    return Judged(item, "", "question", "failed", "failed", turn)


def _answers(asking: Asking, turn: ShownAnswer) -> Iterator[tuple[Item, ShownAnswer | None]]:
    """Assigns a result to each item: the first right one, otherwise the first that is left."""
    left = [part for part in turn.parts if part.status == "answered"]
    if len(asking.items) == 1 or not left:
        yield from ((item, turn) for item in asking.items)
        return
    found: dict[int, ShownAnswer] = {}
    for place, item in enumerate(asking.items):
        right = next((one for one in left if _accepted(item, one, "")), None)
        if right is not None:
            found[place] = right
            left.remove(right)
    for place, item in enumerate(asking.items):
        yield item, found.get(place) or (left.pop(0) if left else None)


def _without_result(turn: ShownAnswer) -> ShownAnswer:
    return ShownAnswer("abstained", turn.answer_text, suggestions=turn.suggestions)


def _outcome(item: Item, status: Status, turn: ShownAnswer) -> Outcome:
    if status == "failed":
        return "failed"
    if status == "abstained":
        return _WITHOUT_RESULT[item.expect]
    if item.expect == "ask" and not turn.reading:
        # One of several readings is an answer only where a person can see which one it is.
        return "wrong"
    return "right" if _accepted(item, turn, turn.answer_text) else "wrong"


def _accepted(item: Item, turn: ShownAnswer, text: str) -> bool:
    return not turn.truncated and item.expected.accepts(turn.rows, text)
