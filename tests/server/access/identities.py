"""Those who send requests to a server with accounts, and what each may do at all.

What a route needs is said here once more, and not read from the server's own table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tests.server.access.judging import ANSWERED
from tests.server.access.matrix import ALLOWED, EXPECTED, REFUSED, WHO, Case

Needs = Literal["open", "any", "person", "metrics", "administration", "read", "ask", "data", "share"]
Proof = Literal["none", "key", "session", "bare cookie", "cookie of our page"]

_NEEDS: dict[str, Needs] = {
    "GET /metrics": "metrics",
    "GET /chat": "ask",
    "GET /chat/": "ask",
    "GET /a2a/{rest:path}": "read",
    "POST /verify": "read",
    "POST /langgraph/ui/{assistant_id}": "read",
    "POST /runs/{run_id}/verify": "read",
    "POST /runs/{run_id}/explain": "ask",
    "POST /imports": "data",
    "POST /uploads": "data",
    "POST /upload": "data",
    "POST /database": "data",
    "GET /database/{name}": "data",
    "WS /v2/stream/{session_id}": "ask",
    "GET /.well-known/agent-card.json": "any",
    "POST /langgraph/threads/{thread_id}/history": "read",
    "POST /langgraph/threads/{thread_id}/state/checkpoint": "read",
    "PUT /shares/{kind}/{thing_id}": "share",
    "DELETE /shares/{kind}/{thing_id}": "share",
    **dict.fromkeys(
        ("GET /healthz", "GET /readyz", "GET /login", "POST /login", "GET /login/page.js"), "open"
    ),
    **dict.fromkeys(("GET /login/oidc", "GET /login/oidc/callback", "GET /login/password.js"), "open"),
    "GET /login/password": "person",
}


def needs_of(case: Case) -> Needs:
    known = _NEEDS.get(case.route)
    if known is not None:
        return known
    path = case.route.partition(" ")[2]
    if path.startswith(("/users", "/teams")):
        return "administration"
    if path.startswith(("/me/", "/logout")):
        return "person"
    if path.startswith(("/questions", "/boards")):
        return "read" if case.method == "GET" else "ask"
    match case.rule:
        case "change thread" | "change run":
            return "ask"
        case "change dataset" | "remove dataset":
            return "data"
        case "everyone" if case.method in ("GET", "OPTIONS"):
            return "any"
        case "own" if case.method != "GET":
            return "data"
        case "everyone" | "dataset" | "hidden" if case.method != "GET":
            return "ask"
        case _:
            return "read"


@dataclass(frozen=True)
class Identity:
    name: str
    seen_as: str = ""
    """The column of the matrix; nothing for one that proves nothing."""
    proof: Proof = "key"
    scopes: str = "ask data read share"

    @property
    def outsider(self) -> bool:
        return self.seen_as not in WHO[3:]

    def expects(self, case: Case) -> str:
        needs = needs_of(case)
        if needs == "open":
            return ANSWERED
        if not self.seen_as or self._is_forged(case):
            return REFUSED
        match needs:
            case "person":
                return REFUSED if self.proof == "key" else ANSWERED
            case "administration":
                is_one = self.seen_as == "admin" and (self.proof != "key" or "admin" in self.scopes)
                return ANSWERED if is_one else REFUSED
            case "metrics":
                return ALLOWED if self.proof == "key" or self.seen_as == "admin" else REFUSED
            case "any":
                pass
            case _ if self.proof == "key" and needs not in self.scopes.split():
                return REFUSED
            case _:
                pass
        return EXPECTED[case.rule][WHO.index(self.seen_as)]

    def _is_forged(self, case: Case) -> bool:
        """Whether a page of another origin could have made a browser send it."""
        if case.method in ("GET", "OPTIONS"):
            return False
        if self.proof == "bare cookie":
            return True
        # The stock chat interface and WebSockets cannot send the header.
        exempt = case.method == "WS" or "/langgraph/" in case.route
        return self.proof == "cookie of our page" and not exempt


WITHOUT_PROOF = (
    "anonymous", "expired key", "revoked key", "unknown key", "key of a disabled administrator",
    "key of a removed administrator", "expired session", "session of a disabled administrator",
)  # fmt: skip
REFUSED_ONES = tuple(Identity(name, proof="none") for name in WITHOUT_PROOF)
NARROW = tuple(
    Identity(f"owner, key to {scope}", "owner", scopes=scope) for scope in ("read", "ask", "data", "share")
)
COOKIES = (
    Identity("owner, a cookie alone", "owner", "bare cookie"),
    Identity("owner, a cookie and our origin", "owner", "cookie of our page"),
)
PLAIN_KEY = Identity("admin, key without admin", "other")
ADMIN_KEY = Identity("admin, key to administer", "admin", scopes="admin")
BEFORE_SHARING = (Identity("other", "other", "session"), Identity("team", "team"), PLAIN_KEY)
SHARED, TO_EDIT = Identity("team", "team, shared"), Identity("team", "team, to edit")
AFTER_SHARING = (*COOKIES, ADMIN_KEY, *NARROW, Identity("admin", "admin", "session"))
