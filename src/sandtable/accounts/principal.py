"""Who asks: the identity of a request, whichever way it was proven.

Invariant: a principal is made once for each request, by the server's guard. Routes read it and never prove an
identity themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Scope = Literal["ask", "read", "data", "share", "admin"]
"""What an API key may do. `read`: see what its user may see. `ask`: run, ask and cancel. `data`: add, change and
remove datasets, files, sources and catalogs. `share`: say who else may see something. `admin`: what only an
administrator may do, if its user is one."""

SCOPES: frozenset[Scope] = frozenset(get_args(Scope))

Proof = Literal["none", "session", "key", "proxy"]
"""How the identity was proven: not at all (loopback, or `insecure`), by a session's cookie, by an API key, or by a
trusted proxy."""


@dataclass(frozen=True, slots=True)
class Principal:
    user: str
    """The name that runs, threads and quotas are counted under. That of an address begins with `@`, which the name of
    an account never does."""
    proof: Proof = "none"
    sees_all: bool = False
    """Without accounts, everything on a server belongs to everyone who reaches it. Also true of an administrator;
    what an administrator opens of another person is logged."""
    is_admin: bool = False
    teams: frozenset[str] = frozenset()
    scopes: frozenset[Scope] = SCOPES
    proof_id: str = ""
    """The public id of the session or of the API key."""
    must_change: bool = False
    """It may do nothing but change the password, which an administrator made, and sign out."""

    def may(self, scope: Scope) -> bool:
        return scope in self.scopes and (scope != "admin" or self.is_admin)
