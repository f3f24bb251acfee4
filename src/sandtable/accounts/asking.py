"""Who asks, for the views of the services that a server offers.

Invariant: the identity is set once for each request, by a middleware, and travels with its tasks. Where none is set,
nothing may be seen: `asking` raises, so that a path around the middleware is refused and not served.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

import structlog

from sandtable.accounts.principal import Principal
from sandtable.accounts.shares import Kind, Right, Shares, Thing
from sandtable.errors import RunnerBroken

audit = structlog.get_logger("sandtable.audit")


@dataclass(frozen=True, slots=True)
class Asking:
    principal: Principal
    shares: Shares
    datasets: Mapping[Thing, Right] = field(default_factory=dict)
    """Datasets that are shared with the principal, as they were when the request began."""
    _looked: set[tuple[str, str]] = field(default_factory=set)

    def owns(self, owner: str) -> bool:
        """Whether the principal may do everything with what this user owns."""
        return self.principal.sees_all or owner == self.principal.user

    @property
    def _is_administrator(self) -> bool:
        """Not the one person of a server without people."""
        return self.principal.is_admin and self.principal.proof != "none"

    def note_look(self, kind: str, thing_id: str, owner: str) -> None:
        """Writes down that an administrator looked at what belongs to another person: once for each request."""
        if not self._is_administrator or owner in ("", self.principal.user):
            return
        if (kind, thing_id) not in self._looked:
            self._looked.add((kind, thing_id))
            audit.info("admin_looked", who=self.principal.user, kind=kind, id=thing_id, whose=owner)

    def note_list(self, kind: Kind) -> None:
        """As `note_look`, for a list of what everyone here owns."""
        if self._is_administrator and (kind, "") not in self._looked:
            self._looked.add((kind, ""))
            audit.info("admin_listed", who=self.principal.user, kind=kind)


_ASKING: ContextVar[Asking] = ContextVar("sandtable_asking")


def asking() -> Asking:
    """Raises RunnerBroken outside `asked_by`."""
    found = _ASKING.get(None)
    if found is None:
        raise RunnerBroken("nothing is shown without an identity: this request has none")
    return found


async def asking_of(principal: Principal, shares: Shares) -> Asking:
    """Raises StoreUnavailable, StoreCorrupt."""
    granted = {} if principal.sees_all else await shares.granted("dataset", principal)
    return Asking(principal, shares, granted)


@contextmanager
def asked_by(found: Asking) -> Generator[None, None, None]:
    token = _ASKING.set(found)
    try:
        yield
    finally:
        _ASKING.reset(token)


def owner_name(user: str) -> str:
    """The owner of what this user adds; empty, for everyone here, where the user is an address or a command line."""
    return "" if user.startswith("@") or user == "local" else user
