"""The format of approval requests to chat interfaces, and of their answers.

Two versions of the format are in use, and both are supported: `action_requests` answered by
`{"decisions": [{"type": "approve"}]}`, and `action_request` answered by `[{"type": "accept"}]`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from sandtable.agent.markdown import fenced
from sandtable.agent.tools import ARGUMENTS, EXECUTE_PYTHON, EXECUTE_SQL

_LANGUAGE = {EXECUTE_SQL: "sql", EXECUTE_PYTHON: "python"}
_KINDS: dict[str, Literal["approve", "edit", "reject"]] = {
    "approve": "approve",
    "accept": "approve",
    "edit": "edit",
    "reject": "reject",
    "ignore": "reject",
    "response": "reject",
}


@dataclass(frozen=True, slots=True)
class Decision:
    kind: Literal["approve", "edit", "reject"]
    text: str | None = None
    """What to run instead."""
    reason: str = ""


def request_of(text: str, reading: str, tool: str = EXECUTE_SQL) -> dict[str, Any]:
    """`tool`: execute_sql or execute_python; `text` is its only argument."""
    description = f"{reading}\n\n{fenced(_LANGUAGE[tool], text)}".strip()
    (argument,) = ARGUMENTS[tool]
    args = {argument: text}
    return {
        "action_requests": [{"name": tool, "args": args, "description": description}],
        "review_configs": [{"action_name": tool, "allowed_decisions": ["approve", "edit", "reject"]}],
        "action_request": {"action": tool, "args": args},
        "config": {"allow_accept": True, "allow_edit": True, "allow_ignore": True, "allow_respond": False},
        "description": description,
    }


def decision_of(answer: Any) -> Decision | None:
    """The single decision in an answer; None if there is not exactly one, or an edit has no text."""
    given = answer.get("decisions") if isinstance(answer, dict) else answer
    told = given[0] if isinstance(given, list) and len(given) == 1 else None
    if not isinstance(told, dict) or not isinstance(told.get("type"), str) or told["type"] not in _KINDS:
        return None
    kind, more = _KINDS[told["type"]], told.get("args")
    if kind == "edit":
        text = _edited(told.get("edited_action") or more)
        return Decision("edit", text=text) if text else None
    return Decision(kind, reason=str(told.get("message") or (more if isinstance(more, str) else "")))


def _edited(action: Any) -> str | None:
    arguments = action.get("args") if isinstance(action, dict) else None
    given = (
        [arguments.get(name) for tool in _LANGUAGE for name in ARGUMENTS[tool]]
        if isinstance(arguments, dict)
        else []
    )
    return next((text.strip() for text in given if isinstance(text, str) and text.strip()), None)
