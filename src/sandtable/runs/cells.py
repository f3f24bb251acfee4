"""The history of a session, read from the run store: its cells are its runs.

Invariant: a run counts as a cell of its session exactly when its end says so (`Ending.session`): it was executed, and
the session survived it. Refused code, and code that killed its session, left no state behind.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from sandtable.capsule.canonical import digest
from sandtable.capsule.model import Earlier
from sandtable.capsule.query import CodeQuery
from sandtable.errors import ErrorCode
from sandtable.runs.model import Run, run_of
from sandtable.store.run_store import RunFilter, RunStore

_PAGE = 200


@dataclass(frozen=True)
class SessionKey:
    """A session belongs to one user and one version of the data, and all its cells have the same names for tables."""

    session: str
    user: str
    dataset_version: str
    names: tuple[tuple[str, str], ...] = ()
    check: bool = True

    @classmethod
    def of(cls, run: Run) -> SessionKey | None:
        """None for a run that is not a session's cell."""
        match run.request.query:
            case CodeQuery(names=names, check=check, session=str(session)):
                pairs = tuple(sorted(names.items()))
                return cls(session, run.request.user, run.dataset_version, pairs, check)
            case _:
                return None

    @cached_property
    def text(self) -> str:
        """The key as the store keeps it."""
        return digest([self.session, self.user, self.dataset_version, self.names, self.check])


@dataclass(frozen=True, slots=True)
class Past:
    cells: tuple[Earlier, ...] = ()
    last: str | None = None
    """Id of the run that was its latest cell."""
    left_out: int = 0
    """Number of interrupted cells, which a rebuilt session does not run again."""


def was_interrupted(run: Run) -> bool:
    if run.status == "cancelled":
        return True
    error = run.error
    if error is None or error.code != ErrorCode.RUNNER_TIMEOUT:
        return False
    return error.details.get("type") == "Interrupted"


async def latest(store: RunStore, key: SessionKey) -> str | None:
    found = await store.list(RunFilter(session=key.text, limit=1))
    return found[0].id if found else None


async def recorded(store: RunStore, key: SessionKey) -> Past:
    """The cells from which a session that is not alive is rebuilt.

    Interrupted cells are left out: where they stopped cannot be reproduced, and each would take its whole time again.
    """
    runs: list[Run] = []
    page = await store.list(RunFilter(session=key.text, limit=_PAGE))
    while page:
        runs += map(run_of, page)
        page = await store.list(RunFilter(session=key.text, limit=_PAGE, before=page[-1].id))
    whole = [run for run in reversed(runs) if not was_interrupted(run)]
    return Past(
        cells=tuple(Earlier(python=_code_of(run)) for run in whole),
        last=runs[0].id if runs else None,
        left_out=len(runs) - len(whole),
    )


def _code_of(run: Run) -> str:
    query = run.request.query
    assert isinstance(query, CodeQuery), "a session's cells are code"
    return query.code


def replay_warnings(past: Past) -> list[str]:
    """Warnings of a run whose session was rebuilt first; none when the session had no cells."""
    said: list[str] = []
    if past.cells:
        said.append(f"the session had ended: {_cells(len(past.cells))} run again first")
    if past.left_out:
        said.append(f"the session had ended: {_cells(past.left_out)} not run again, having been interrupted")
    return said


def _cells(count: int) -> str:
    return "1 earlier cell was" if count == 1 else f"{count} earlier cells were"
