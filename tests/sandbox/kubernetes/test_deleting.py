"""Only what has been over for a while is swept away."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sandtable.sandbox.kubernetes.deleting import leftovers

_NOW = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)


def _job(name: str, *conditions: dict[str, str], **status: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, "status": {"conditions": list(conditions), **status}}


def _condition(kind: str, at: str, true: str = "True") -> dict[str, str]:
    return {"type": kind, "status": true, "lastTransitionTime": at}


def test_what_is_left_over() -> None:
    jobs = [
        _job("runs"),
        _job("about to fail", _condition("FailureTarget", "2026-01-01T11:00:00Z")),
        _job("not failed", _condition("Failed", "2026-01-01T11:00:00Z", "False")),
        _job(
            "just done", _condition("Complete", "2026-01-01T11:59:50Z"), completionTime="2026-01-01T11:59:50Z"
        ),
        _job("done", _condition("Complete", "2026-01-01T11:50:00Z"), completionTime="2026-01-01T11:50:00Z"),
        _job("failed", _condition("Failed", "2026-01-01T11:50:00Z")),
        {"metadata": {"name": "new"}},
    ]
    assert [job["metadata"]["name"] for job in leftovers(jobs, _NOW, 60.0)] == ["done", "failed"]
