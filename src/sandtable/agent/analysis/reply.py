"""Parses a model's reply about an analysis: steps, code or a diagnosis, in any wrapping.

Invariant: as in `agent.model_reply`, no reply raises; an unreadable reply is a Problem whose message helps the
model to correct it.
"""

from __future__ import annotations

import re
from typing import Any

from sandtable.agent.analysis.coder import MOST_STEPS, Advice, Written
from sandtable.agent.model_reply import ModelReply, object_in, unreadable, without_thinking
from sandtable.errors import Problem
from sandtable.quoting import one_line

LONGEST_CODE = 20_000
_LONGEST_STEP = 400
_LONGEST_REST = 2_000
"""Characters of all the steps together that are one too many."""
_LONGEST_SAID = 1_000
_PYTHON = re.compile(r"```(?:python|py)?[ \t]*\n(.*?)(?:\n```|$)", re.DOTALL | re.IGNORECASE)
_TEXT = {"type": "string"}


def _form(title: str, required: str, **properties: dict[str, Any]) -> dict[str, Any]:
    """What the fields mean is said in the prompt file."""
    return {"title": title, "type": "object", "properties": properties, "required": [required]}


STEPS = _form("steps", "steps", steps={"type": "array", "items": _TEXT})
CODE = _form("code", "code", thought=_TEXT, code=_TEXT)
ADVICE = _form("advice", "diagnosis", diagnosis=_TEXT, suggestion=_TEXT)


def read_steps(said: ModelReply) -> tuple[str, ...] | Problem:
    found = _found(said, "steps")
    if isinstance(found, Problem):
        return found
    given = found.get("steps")
    steps = [_step(one) for one in given] if isinstance(given, list) else []
    steps = [step for step in steps if step]
    if not steps:
        return unreadable("the reply has no `steps`: a list of at least one sentence")
    if len(steps) > MOST_STEPS:
        # No step is dropped: the last one is the goal of the others.
        steps[MOST_STEPS - 1 :] = ["; then: ".join(steps[MOST_STEPS - 1 :])[:_LONGEST_REST]]
    return tuple(steps)


def read_code(said: ModelReply) -> Written | Problem:
    found = _found(said, "code")
    if isinstance(found, Problem):
        fenced = _PYTHON.search(without_thinking(said.text))
        if fenced is None or fenced[1].lstrip().startswith("{"):
            return found
        found = {"thought": without_thinking(said.text)[: fenced.start()], "code": fenced[1]}
    code = found.get("code")
    if not isinstance(code, str) or not code.strip():
        return unreadable("the reply has no `code`")
    inner = _PYTHON.fullmatch(code.strip())
    code = (inner[1] if inner else code).strip("\n").rstrip()
    if len(code) > LONGEST_CODE:
        return unreadable(f"the code has {len(code):,} characters, more than {LONGEST_CODE:,}")
    return Written(thought=_line(found.get("thought")), code=code)


def read_advice(said: ModelReply) -> Advice | Problem:
    found = _found(said, "diagnosis")
    if isinstance(found, Problem):
        return found
    diagnosis = _line(found.get("diagnosis"))
    if not diagnosis:
        return unreadable("the reply has no `diagnosis`")
    return Advice(diagnosis=diagnosis, suggestion=_line(found.get("suggestion")))


def _found(said: ModelReply, field: str) -> dict[str, Any] | Problem:
    return object_in(said.text, lambda found: field in found, lists_as=field)


def _step(one: Any) -> str:
    if isinstance(one, dict):
        named = (one.get(name) for name in ("goal", "step", "title", "description", "task"))
        one = next((text for text in named if isinstance(text, str) and text.strip()), "")
    text = one_line(one, _LONGEST_STEP) if isinstance(one, str) else ""
    text = re.sub(r"^(?:step )?\d{1,2}[.):]\s+", "", text, flags=re.IGNORECASE)
    return text


def _line(text: Any) -> str:
    return one_line(text, _LONGEST_SAID) if isinstance(text, str) else ""
