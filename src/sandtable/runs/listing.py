"""Stored runs, newest first. Loads nothing of what executes runs, so that a list is there at once."""

from __future__ import annotations

from sandtable.errors import InvalidInput
from sandtable.quoting import quote
from sandtable.runs.ids import is_run_id
from sandtable.runs.model import Run, run_of
from sandtable.store.run_store import RunFilter, RunStore

MOST_LISTED = 500


async def list_runs(store: RunStore, wanted: RunFilter) -> list[Run]:
    """Without rows."""
    if not 1 <= wanted.limit <= MOST_LISTED:
        raise InvalidInput(
            f"`limit` is {wanted.limit}; it must be between 1 and {MOST_LISTED}",
            suggestion="Ask for less, and go on with `before`.",
            field="limit",
        )
    if wanted.before is not None and not is_run_id(wanted.before):
        raise InvalidInput(
            f"`before` is {quote(wanted.before)}, which is no run id",
            suggestion="Give the id of the last run you have; it begins with `run_`.",
            field="before",
        )
    return [run_of(record) for record in await store.list(wanted)]
