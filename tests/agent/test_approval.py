"""Both generations of the approval form say the same."""

from __future__ import annotations

from typing import Any

import pytest

from sandtable.agent.approval import Decision, decision_of, request_of

SQL = "SELECT 2"
EDITED = {"name": "execute_sql", "args": {"sql": " SELECT 2 "}}
ANSWERS: dict[str, tuple[Any, Decision | None]] = {
    "approve": ({"decisions": [{"type": "approve"}]}, Decision("approve")),
    "accept": ([{"type": "accept", "args": None}], Decision("approve")),
    "edit": ({"decisions": [{"type": "edit", "edited_action": EDITED}]}, Decision("edit", text=SQL)),
    "edit-older": ([{"type": "edit", "args": {"action": "execute_sql", **EDITED}}], Decision("edit", text=SQL)),
    "reject": ({"decisions": [{"type": "reject", "message": "no"}]}, Decision("reject", reason="no")),
    "ignore": ([{"type": "ignore", "args": None}], Decision("reject")),
    "response": ([{"type": "response", "args": "not now"}], Decision("reject", reason="not now")),
    "edit-without-sql": ({"decisions": [{"type": "edit", "edited_action": {"args": {"sql": " "}}}]}, None),
    "two-at-once": ({"decisions": [{"type": "approve"}, {"type": "reject"}]}, None),
    "none": ({"decisions": []}, None),
    "another-word": ([{"type": "maybe"}], None),
    "no-word": ([{"type": ["approve"]}], None),
    "text": ("yes", None),
    "true": (True, None),
}  # fmt: skip


@pytest.mark.parametrize(("answer", "decision"), ANSWERS.values(), ids=list(ANSWERS))
def test_a_decision_is_read_or_asked_for_again(answer: Any, decision: Decision | None) -> None:
    assert decision_of(answer) == decision


def test_a_request_shows_the_exact_sql_in_both_forms() -> None:
    request = request_of(SQL, "two")
    assert request["action_requests"][0]["args"] == {"sql": SQL} == request["action_request"]["args"]
    assert SQL in request["description"]
    assert request["config"] == {
        "allow_accept": True,
        "allow_edit": True,
        "allow_ignore": True,
        "allow_respond": False,
    }
