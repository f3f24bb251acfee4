"""Valid questions: one text of bounded length that every database and log can store."""

from __future__ import annotations

from typing import Any

from sandtable.capsule.canonical import plain
from sandtable.errors import InvalidInput
from sandtable.runs.model import LONGEST_QUESTION, normal_plan

OPENING = 200
ASKED_SCHEMA: dict[str, Any] = {
    "minLength": 1,
    "maxLength": LONGEST_QUESTION,
    "pattern": "[^\\s\\u001c-\\u001f\\u0085]",
}
"""What `question_of` takes, for the OpenAPI document: the pattern leaves out every character that `str.strip` does."""


class TooLong(InvalidInput):
    """The question is longer than allowed."""


def question_of(text: str, field: str = "message") -> str:
    """Raises InvalidInput for an empty text, and for one that is too long."""
    said = clean(text)
    if not said.strip():
        raise InvalidInput(
            "the message is empty", suggestion="Ask something about the data, in your own words.", field=field
        )
    if len(said) > LONGEST_QUESTION:
        raise TooLong(
            f"the message has {len(said):,} characters, more than {LONGEST_QUESTION:,}",
            suggestion="Ask a shorter question; data is added as a dataset, not pasted into a message.",
            field=field,
        )
    return said


def plan_of(plan: dict[str, Any] | None) -> dict[str, Any] | None:
    """A plan that a client chose, to be sent with its message. Raises InvalidInput if it is too deep or too long;
    whether it fits the dataset is checked before it runs, as for any other plan."""
    return None if plan is None else clean(normal_plan(plan))


def clean(value: Any) -> Any:
    """JSON without lone surrogates and without NUL, which Postgres does not take."""
    if isinstance(value, str):
        return plain(value).replace("\0", "\N{REPLACEMENT CHARACTER}")
    if isinstance(value, dict):
        return {clean(str(key)): clean(item) for key, item in value.items()}
    if isinstance(value, list):
        return [clean(item) for item in value]
    return value


def opening_of(question: str) -> str:
    """The question on one line, shortened for a list of conversations."""
    line = " ".join(question.split())
    return line if len(line) <= OPENING else line[: OPENING - 1] + "…"
