"""How a request for approval looks to chat interfaces, and what they may answer.

There are two generations of that form in use, and both are understood: `action_requests` answered by
`{"decisions": [{"type": "approve"}]}`, and `action_request` answered by `[{"type": "accept"}]`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

TOOL = "execute_sql"
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
    sql: str | None = None
    """What to run instead."""
    reason: str = ""


def request_of(sql: str, reading: str) -> dict[str, Any]:
    description = f"{reading}\n\n```sql\n{sql}\n```".strip()
    return {
        "action_requests": [{"name": TOOL, "args": {"sql": sql}, "description": description}],
        "review_configs": [{"action_name": TOOL, "allowed_decisions": ["approve", "edit", "reject"]}],
        "action_request": {"action": TOOL, "args": {"sql": sql}},
        "config": {"allow_accept": True, "allow_edit": True, "allow_ignore": True, "allow_respond": False},
        "description": description,
    }


def decision_of(answer: Any) -> Decision | None:
    """The one decision in an answer; None when it is not one, or an edit without SQL."""
    given = answer.get("decisions") if isinstance(answer, dict) else answer
    told = given[0] if isinstance(given, list) and len(given) == 1 else None
    if not isinstance(told, dict) or not isinstance(told.get("type"), str) or told["type"] not in _KINDS:
        return None
    kind, more = _KINDS[told["type"]], told.get("args")
    if kind == "edit":
        sql = _edited_sql(told.get("edited_action") or more)
        return Decision("edit", sql=sql) if sql else None
    return Decision(kind, reason=str(told.get("message") or (more if isinstance(more, str) else "")))


def _edited_sql(action: Any) -> str | None:
    arguments = action.get("args") if isinstance(action, dict) else None
    sql = arguments.get("sql") if isinstance(arguments, dict) else None
    return sql.strip() if isinstance(sql, str) and sql.strip() else None
