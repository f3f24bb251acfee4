"""What a run is to do: which message of the client is a new question, and which answers it brings to what was asked.

Invariant: pure. A run that has nothing to do restates the conversation, so that repeating one asks nothing twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sandtable.agent.turn_events import DecisionRequest, with_plan
from sandtable.conversations.text import opening_of, plan_of, question_of
from sandtable.errors import InvalidInput
from sandtable.quoting import quote
from sandtable.server.agui.bodies import GivenMessage, ResumeEntry, RunInput, usable_id
from sandtable.server.agui.record import Record, Said

DECISIONS = ("approve", "edit", "reject")


@dataclass(frozen=True, slots=True)
class Work:
    question_id: str
    """The message of the user that is answered; names the answers."""
    first_place: int = 0
    """How many answers the message has already."""
    text: str | None = None
    plan: dict[str, Any] | None = None
    decision: dict[str, Any] | None = None
    unheard: bool = False
    """The client does not have the message: the run adds it to the conversation."""

    @property
    def messages(self) -> list[dict[str, Any]] | None:
        if self.text is None:
            return None
        return [{"content": self.text, "id": self.question_id, "additional_kwargs": with_plan(self.plan)}]

    @property
    def opening(self) -> str | None:
        return None if self.text is None else opening_of(self.text)


@dataclass(frozen=True, slots=True)
class Asked:
    work: Work | None
    """None: the conversation is restated."""
    unknown: tuple[str, ...] = ()
    """Ids of interrupts that are not open. The protocol has a run go on without them."""


def asked_by(given: RunInput, record: Record) -> Asked:
    """Raises InvalidInput."""
    new = _new_question(given, record)
    unknown: list[str] = []
    found: list[Work | None] = []
    for entry in given.resume or ():
        request = next((one for one in record.requests if one.id == entry.interrupt_id), None)
        choice = record.open_choice
        if request is not None:
            found.append(_decided(entry, request, record))
        elif choice is not None and entry.interrupt_id == choice.interrupt_id:
            found.append(_chosen(entry, choice, given))
        else:
            unknown.append(entry.interrupt_id)
    resumed = next((work for work in found if work is not None), None)
    if new is None:
        return Asked(resumed, tuple(unknown))
    if any(entry.status == "resolved" and entry.interrupt_id not in unknown for entry in given.resume or ()):
        raise InvalidInput(
            "the run answers an interrupt and asks a question at the same time",
            suggestion="Send the question in a run of its own, or answer the interrupt with `cancelled`.",
            field="resume",
        )
    text, plan = question_of(new.text, "messages"), plan_of(_plan_in(given))
    return Asked(Work(new.id, text=text, plan=plan), tuple(unknown))


def _new_question(given: RunInput, record: Record) -> GivenMessage | None:
    """None when the conversation has its answer already, as when a client repeats a run that it lost."""
    question = given.question
    if question is None:
        return None
    known = record.find(usable_id(question.id, "messages.id"))
    if known is None:
        return question
    if not known.by_user or known.text != question_of(question.text, "messages"):
        raise InvalidInput(
            f"the message id {quote(question.id)} belongs to another message of this conversation",
            suggestion="Send a new message with an id of its own.",
            field="messages",
        )
    return None if record.is_answered(known.id) else question


def _plan_in(given: RunInput) -> dict[str, Any] | None:
    plan = given.forwarded("plan")
    if plan is not None and not isinstance(plan, dict):
        raise InvalidInput(
            "`forwardedProps.plan` is not an object",
            suggestion="Send the `plan` of a choice, or leave it out.",
            field="forwardedProps",
        )
    return plan


def _decided(entry: ResumeEntry, request: DecisionRequest, record: Record) -> Work:
    decision = {"type": "reject"} if entry.status == "cancelled" else _decision(entry.payload, request)
    return Work(
        record.last_question or request.id,
        record.answers_to_last,
        decision={"decisions": [decision]},
    )


def _decision(payload: Any, request: DecisionRequest) -> dict[str, Any]:
    kind = payload.get("type") if isinstance(payload, dict) else None
    if kind not in DECISIONS:
        raise InvalidInput(
            "the decision has no `type` that is known",
            suggestion='Send {"type": "approve"}, {"type": "reject"} or {"type": "edit", "text": "…"} as `payload`.',
            field="resume",
        )
    if kind != "edit":
        return {"type": kind}
    text = payload.get("text")
    if not isinstance(text, str) or not text.strip():
        raise InvalidInput(
            "an edit needs the `text` that is to run",
            suggestion='Send {"type": "edit", "text": "…"} as `payload`.',
            field="resume",
        )
    (action,) = request.value["action_requests"]
    (argument,) = action["args"]
    return {"type": "edit", "edited_action": {"name": action["name"], "args": {argument: text}}}


def _chosen(entry: ResumeEntry, asked: Said, given: RunInput) -> Work | None:
    """A payload that is none of the choices is what the user says instead. None when the choice is declined."""
    if entry.status == "cancelled":
        return None
    if not isinstance(entry.payload, str):
        raise InvalidInput(
            "the answer to a question back is not a text",
            suggestion=f"Send one of these as `payload`: {', '.join(quote(one['label']) for one in asked.choices)}.",
            field="resume",
        )
    taken = next((one for one in asked.choices if one["label"] == entry.payload), None)
    text = entry.payload if taken is None else taken["message"]
    plan = None if taken is None else taken.get("plan")
    return Work(f"said-{given.run_id}", text=question_of(text, "resume"), plan=plan_of(plan), unheard=True)
