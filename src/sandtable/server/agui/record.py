"""What a thread's state holds of a conversation, under the ids that a client of this protocol has seen.

Invariant: the id of an answer follows from the id of the message that it answers and its place, so that the snapshot
of a conversation names its messages as the runs did that streamed them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from sandtable.agent.turn_events import DecisionRequest, ThreadState
from sandtable.conversations.json_text import encode

CHOICE = "choice:"
"""Begins the id of an interrupt that asks for one of several readings; the id of the message follows."""


@dataclass(frozen=True, slots=True)
class Said:
    id: str
    by_user: bool
    text: str
    about: dict[str, Any] = field(default_factory=dict)
    """Of an answer: its ending, runs, suggestions, choices, problem."""

    @property
    def choices(self) -> list[dict[str, Any]]:
        asked = self.about.get("ending") == "asked"
        return list(self.about.get("choices") or ()) if asked else []

    @property
    def interrupt_id(self) -> str:
        return f"{CHOICE}{self.id}"


def answer_id(question_id: str, place: int) -> str:
    return f"{question_id}.{place + 1}"


@dataclass(frozen=True, slots=True)
class Record:
    said: tuple[Said, ...] = ()
    requests: tuple[DecisionRequest, ...] = ()
    """The decisions that the thread waits for."""

    def find(self, message_id: str) -> Said | None:
        return next((one for one in self.said if one.id == message_id), None)

    @property
    def last_question(self) -> str | None:
        """The id of the last message of the user."""
        return next((one.id for one in reversed(self.said) if one.by_user), None)

    @property
    def answers_to_last(self) -> int:
        """How many answers the last message of the user has."""
        asked = [place for place, one in enumerate(self.said) if one.by_user]
        return len(self.said) - 1 - asked[-1] if asked else 0

    def is_answered(self, message_id: str) -> bool:
        """Whether it needs no other run: there is an answer, or a decision is awaited."""
        if message_id != self.last_question:
            return True
        return self.answers_to_last > 0 or bool(self.requests)

    @property
    def open_choice(self) -> Said | None:
        """The question back that waits for a choice: the last thing that was said."""
        last = self.said[-1] if self.said else None
        return last if last is not None and last.choices else None


def record_of(state: ThreadState) -> Record:
    said: list[Said] = []
    question, answers = "", 0
    for message in json.loads(encode(state.values.get("messages") or ())):
        text = _text(message.get("content"))
        if message.get("type") == "human":
            question, answers = str(message.get("id")), 0
            said.append(Said(question, True, text))
        elif message.get("type") == "ai" and text:
            about = (message.get("additional_kwargs") or {}).get("sandtable") or {}
            own = answer_id(question, answers) if question else str(message.get("id"))
            said.append(Said(own, False, _plain(text, about), about))
            answers += 1
    return Record(tuple(said), state.requests)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    blocks = (one if isinstance(one, str) else str(one.get("text", "")) for one in content or ())
    return "\n".join(block for block in blocks if block)


def _plain(markdown: str, about: dict[str, Any]) -> str:
    """The text without what was escaped for the stock chat; a text with tags is needed with what they name."""
    text = about.get("text")
    return text if isinstance(text, str) and "[[" not in text else markdown
