"""What a store holds, and how retention removes runs from it.

Invariants of every store (`tests/store/conformance.py`): a capsule is deleted only together with its run, and only
after a row about it was added to the removals, which never change. A run stays while another run that stays needs it:
one that holds the other's result, or a cell of the same session. The id of a removed run cannot be used again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Holding:
    """What retention knows about a run."""

    id: str
    at: str
    """When the run ended; for an unfinished run, when it was accepted."""
    ended: bool
    bytes: int
    """The size of its record, capsule and result with artifacts."""
    result_of: str | None = None
    session: str | None = None


@dataclass(frozen=True, slots=True)
class Removal:
    """What the store keeps about a removed run."""

    run_id: str
    removed_at: str
    rule: str
    user: str
    dataset_id: str
    capsule: str
    """Digest of the envelope in canonical form: it identifies a copy of the capsule."""


class Holdings(Protocol):
    async def runs(self) -> list[Holding]:
        """All runs, unfinished ones included."""
        ...

    async def remove(self, run_ids: Sequence[str], at: str, rule: str) -> list[str]:
        """Remove these runs in one transaction, except those that other runs need. Returns the removed ids."""
        ...

    async def removal(self, run_id: str) -> Removal | None: ...

    async def bytes_of(self, user: str) -> int:
        """The size of all runs of the user."""
        ...

    def alone(self) -> AbstractAsyncContextManager[bool]:
        """Yields True to one process at a time, False to the others."""
        ...


def staying(
    rows: Mapping[str, tuple[bool, str | None, str | None]], needed: Iterable[str], sessions: Collection[str]
) -> set[str]:
    """The runs among `rows` (`id: (ended, result_of, session)`) that must stay. `needed` are runs that hold results of
    runs outside `rows`; `sessions` have cells outside `rows`."""
    stay = {run_id for run_id, (ended, _, _) in rows.items() if not ended} | (set(needed) & set(rows))
    while True:
        kept = {*sessions, *(rows[run_id][2] for run_id in stay)} - {None}
        holders = {rows[run_id][1] for run_id in stay}
        more = {run_id for run_id, (_, _, session) in rows.items() if session in kept or run_id in holders}
        if more <= stay:
            return stay
        stay |= more
