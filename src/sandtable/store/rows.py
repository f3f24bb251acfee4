"""What both databases share: a filter becomes SQL conditions, a row becomes a record."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Protocol, Self

from sandtable.store.run_store import Ending, RunFilter, RunRecord


class Row(Protocol):
    def __getitem__(self, name: str, /) -> Any: ...


@dataclass(frozen=True, slots=True)
class Stored:
    """The JSON texts of an ending."""

    body: str
    envelope: str
    result: str | None

    @classmethod
    def of(cls, ending: Ending) -> Self:
        result = None if ending.result is None else json.dumps(ending.result)
        return cls(json.dumps(ending.body), json.dumps(ending.envelope), result)

    @property
    def size(self) -> int:
        """In bytes: the texts are ASCII."""
        return len(self.body) + len(self.envelope) + len(self.result or "")


def conditions(wanted: RunFilter, *, mark: str, user: str, contains: str) -> tuple[str, list[str]]:
    """The WHERE clause and its values. `mark` is the placeholder of a value, `user` the name of the user column,
    `contains` the condition that matches the search text with a LIKE pattern, in which `\\` escapes."""
    exact = {
        "status": wanted.status,
        "dataset_id": wanted.dataset_id,
        user: wanted.user,
    }
    parts = [(f"{name} = {mark}", value) for name, value in exact.items() if value is not None]
    if wanted.session is not None:
        # The column of an unfinished run names the session in which it will run.
        parts.append((f"session = {mark} AND status NOT IN ('pending', 'running')", wanted.session))
    if wanted.before is not None:
        parts.append((f"id < {mark}", wanted.before))
    values = [value for _, value in parts]
    if wanted.seen is not None:
        marks = ", ".join(f"({mark}, {mark})" for _ in wanted.seen.shared)
        shared = f" OR (id, {user}) IN (VALUES {marks})" if marks else ""
        parts.append((f"({user} = {mark}{shared})", ""))
        values += [wanted.seen.user, *(text for pair in wanted.seen.shared for text in pair)]
    if wanted.text:
        escaped = wanted.text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        parts.append((contains, ""))
        values.append(f"%{escaped}%")
    where = "WHERE " + " AND ".join(condition for condition, _ in parts) if parts else ""
    return where, values


def record_of(row: Row, *, user: str, pinned: bool = False) -> RunRecord:
    return RunRecord(
        id=row["id"],
        owner=row["owner"],
        pinned=pinned,
        user=row[user],
        dataset_id=row["dataset_id"],
        created_at=row["created_at"],
        started_at=row["started_at"],
        status=row["status"],
        attempts=row["attempts"],
        cancel_requested=bool(row["cancel_requested"]),
        session=row["session"],
        search=row["search"],
        body=json.loads(row["body"]),
        result=json.loads(row["result"]) if row["result"] else None,
    )
