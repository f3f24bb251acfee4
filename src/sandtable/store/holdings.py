"""What a store holds of runs that have ended, and the one way in which they leave it.

Invariants every store holds (`tests/store/conformance.py`): a capsule is deleted only together with its run,
and only after a line about it was added to the removals, which never change. What something kept still needs stays: a
run that holds the result of another, and every cell of a session of which a cell stays. A removed run's id does not
come back.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Holding:
    """A run, as far as keeping it is concerned."""

    id: str
    at: str
    """When it ended; when it was accepted, while it has not."""
    ended: bool
    bytes: int
    """Of what is stored with it: its record, capsule and result with artifacts."""
    result_of: str | None = None
    session: str | None = None


@dataclass(frozen=True, slots=True)
class Removal:
    """What is left of a run that was removed."""

    run_id: str
    removed_at: str
    rule: str
    user: str
    dataset_id: str
    capsule: str
    """Digest of the envelope in canonical form: who has a copy can show that it is this one."""


class Holdings(Protocol):
    async def runs(self) -> list[Holding]:
        """All of them, unfinished ones too."""
        ...

    async def remove(self, run_ids: Sequence[str], at: str, rule: str) -> list[str]:
        """Removes these runs, at once, but for those that something else needs. The ones that are gone."""
        ...

    async def removal(self, run_id: str) -> Removal | None: ...

    async def bytes_of(self, user: str) -> int:
        """What the user's runs take."""
        ...

    def alone(self) -> AbstractAsyncContextManager[bool]:
        """True inside for one process at a time."""
        ...


def staying(
    rows: Mapping[str, tuple[bool, str | None, str | None]], needed: Iterable[str], sessions: Collection[str]
) -> set[str]:
    """Which of these runs something else needs, by `id: (ended, result_of, session)`. `needed` hold results of runs
    that are not among them, and `sessions` have cells that are not."""
    stay = {run_id for run_id, (ended, _, _) in rows.items() if not ended} | (set(needed) & set(rows))
    while True:
        kept = {*sessions, *(rows[run_id][2] for run_id in stay)} - {None}
        holders = {rows[run_id][1] for run_id in stay}
        more = {run_id for run_id, (_, _, session) in rows.items() if session in kept or run_id in holders}
        if more <= stay:
            return stay
        stay |= more
