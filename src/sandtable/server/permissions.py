"""What each route needs of the one who asks: one table for all protocols.

Invariant: default deny. With accounts, a method and path that match no line here are answered 404 before the
application sees them, whatever routes it has; `tests/server/test_permissions.py` fails for a route without a line.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Literal

from sandtable.accounts.principal import Principal

Need = Literal["open", "any", "person", "metrics", "read", "ask", "data", "share", "admin"]
"""`open`: no identity. `any`: a proven identity. `person`: one that is no API key, which must not make further keys.
`metrics`: an API key, or an administrator. The others are the scopes of `accounts.principal`."""

NEEDS: dict[Need, tuple[str, ...]] = {
    "open": (
        "GET /healthz",
        "GET /readyz",
        "GET /login",
        "GET /login/page.js",
        "GET /login/password.js",
        "POST /login",
        "GET /login/oidc",
        "GET /login/oidc/callback",
        "GET /assets/{path:path}",
        "GET /{name}.{ending}",
    ),
    "any": (
        "GET /me",
        "GET /docs",
        "GET /openapi.json",
        "GET /plan/schema",
        "GET /keys",
        "GET /langgraph/ok",
        "GET /langgraph/info",
        "GET /langgraph/genui/{module}",
        "GET /chat/{path:path}",
        "OPTIONS /uploads",
        "GET /.well-known/agent-card.json",
        "GET /shares",
    ),
    "person": (
        "POST /logout",
        "GET /login/password",
        "PUT /me/password",
        "GET /me/keys",
        "POST /me/keys",
        "DELETE /me/keys/{key_id}",
        "GET /me/sessions",
        "DELETE /me/sessions",
        "DELETE /me/sessions/{session_id}",
    ),
    "metrics": ("GET /metrics",),
    "read": (
        "GET /",
        "GET /t/{thread_id}",
        "GET /t/{thread_id}/",
        "GET /data",
        "GET /data/",
        "GET /data/{dataset_id}",
        "GET /data/{dataset_id}/",
        "GET /compare",
        "GET /compare/",
        "GET /account",
        "GET /account/",
        "GET /people",
        "GET /people/",
        "GET /datasets",
        "GET /datasets/{dataset_id}",
        "GET /datasets/{dataset_id}/catalog",
        "GET /datasets/{dataset_id}/catalog.yaml",
        "GET /datasets/{dataset_id}/meanings",
        "GET /datasets/{dataset_id}/profile",
        "GET /datasets/{dataset_id}/proposals",
        "GET /datasets/{dataset_id}/reading",
        "GET /datasets/{dataset_id}/schema",
        "GET /database",
        "GET /runs",
        "GET /runs/{run_id}",
        "GET /runs/{run_id}/capsule",
        "GET /runs/{run_id}/chart",
        "GET /runs/{run_id}/export/{form}",
        "GET /runs/{run_id}/result.csv",
        "GET /runs/{run_id}/result.json",
        "GET /runs/{run_id}/result.parquet",
        "GET /threads/{thread_id}/export/{form}",
        "POST /verify",
        "POST /runs/{run_id}/verify",
        "GET /files",
        "GET /imports",
        "GET /imports/{import_id}",
        "GET /uploads/{upload_id}",
        "POST /langgraph/assistants/search",
        "POST /langgraph/assistants/count",
        "GET /langgraph/assistants/{assistant_id}",
        "GET /langgraph/assistants/{assistant_id}/graph",
        "GET /langgraph/assistants/{assistant_id}/schemas",
        "POST /langgraph/threads/search",
        "POST /langgraph/threads/count",
        "GET /langgraph/threads/{thread_id}",
        "GET /langgraph/threads/{thread_id}/history",
        "GET /langgraph/threads/{thread_id}/state",
        "GET /langgraph/threads/{thread_id}/state/{checkpoint_id}",
        "GET /langgraph/threads/{thread_id}/runs",
        "GET /langgraph/threads/{thread_id}/runs/{run_id}",
        "GET /langgraph/threads/{thread_id}/runs/{run_id}/stream",
        "GET /langgraph/threads/{thread_id}/runs/{run_id}/join",
        "POST /langgraph/threads/{thread_id}/history",
        "POST /langgraph/threads/{thread_id}/state/checkpoint",
        "POST /langgraph/ui/{assistant_id}",
        "GET /shares/{kind}/{thing_id}",
        "GET /questions",
        "GET /questions/{question_id}",
        "GET /boards",
        "GET /boards/{board_id}",
        "GET /boards/{board_id}/results",
        "GET /a2a/{path:path}",
    ),
    "ask": (
        "POST /runs",
        "POST /runs/{run_id}/cancel",
        "POST /runs/{run_id}/explain",
        "POST /check",
        "POST /questions",
        "PATCH /questions/{question_id}",
        "DELETE /questions/{question_id}",
        "POST /questions/{question_id}/run",
        "POST /boards",
        "PUT /boards/{board_id}",
        "DELETE /boards/{board_id}",
        "POST /boards/{board_id}/tiles/{tile_id}/run",
        "POST /chat",
        "GET /chat",
        "GET /chat/",
        "POST /v2/query",
        "POST /a2a",
        "POST /a2a/{path:path}",
        "DELETE /a2a/{path:path}",
        "POST /agui",
        "POST /mcp",
        "WS /v2/stream/{session_id}",
        "POST /langgraph/threads",
        "PATCH /langgraph/threads/{thread_id}",
        "DELETE /langgraph/threads/{thread_id}",
        "POST /langgraph/threads/{thread_id}/state",
        "POST /langgraph/threads/{thread_id}/runs",
        "POST /langgraph/threads/{thread_id}/runs/stream",
        "POST /langgraph/threads/{thread_id}/runs/wait",
        "POST /langgraph/threads/{thread_id}/runs/{run_id}/cancel",
    ),
    "data": (
        "POST /uploads",
        "PATCH /uploads/{upload_id}",
        "DELETE /uploads/{upload_id}",
        "POST /upload",
        "POST /imports",
        "POST /imports/{import_id}/answers",
        "DELETE /imports/{import_id}",
        "DELETE /files/{file_id}",
        "POST /database",
        "GET /database/{name}",
        "DELETE /database/{name}",
        "POST /database/{name}/snapshot",
        "POST /database/{name}/live",
        "DELETE /datasets/{dataset_id}",
        "PATCH /datasets/{dataset_id}/reading",
        "PUT /datasets/{dataset_id}/catalog.yaml",
        "PATCH /datasets/{dataset_id}/catalog",
        "PUT /datasets/{dataset_id}/catalog",
        "POST /datasets/{dataset_id}/catalog/restore",
    ),
    "share": ("PUT /shares/{kind}/{thing_id}", "DELETE /shares/{kind}/{thing_id}"),
    "admin": (
        "GET /users",
        "POST /users",
        "PATCH /users/{name}",
        "DELETE /users/{name}",
        "GET /users/{name}/keys",
        "DELETE /users/{name}/keys/{key_id}",
        "GET /users/{name}/sessions",
        "DELETE /users/{name}/sessions",
        "GET /teams",
        "POST /teams",
        "DELETE /teams/{name}",
        "PUT /teams/{name}/members/{user}",
        "DELETE /teams/{name}/members/{user}",
    ),
}
WITH_A_GIVEN_PASSWORD = frozenset(("GET /me", "GET /login/password", "PUT /me/password", "POST /logout"))
"""All that a session may do while its password is one that an administrator made, beside what is `open`."""
_PARAMETER = re.compile(r"\{[a-z_]+(:path)?\}")


def need_of(method: str, path: str) -> Need | None:
    """None for what is not in the table. `method` is `WS` for a WebSocket."""
    wanted = "GET" if method == "HEAD" else method
    return next(
        (need for known, pattern, need in _compiled() if known == wanted and pattern.fullmatch(path)), None
    )


def allows(need: Need, principal: Principal) -> bool:
    """Whether a principal whose identity is proven, or without accounts needs no proof, may do it."""
    match need:
        case "open" | "any":
            return True
        case "person":
            return principal.proof != "key"
        case "metrics":
            return principal.proof in ("key", "none") or principal.may("admin")
        case _:
            return principal.may(need)


@cache
def _compiled() -> tuple[tuple[str, re.Pattern[str], Need], ...]:
    """The most specific paths first: those with the fewest parameters, then the longest."""
    lines: list[tuple[str, Need]] = [(line, need) for need, lines in NEEDS.items() for line in lines]
    lines.sort(key=lambda each: (":path" in each[0], each[0].count("{"), -len(each[0])))
    return tuple(
        (line.partition(" ")[0], re.compile(_as_pattern(line.partition(" ")[2])), need)
        for line, need in lines
    )


def _as_pattern(template: str) -> str:
    pattern, end = "", 0
    for found in _PARAMETER.finditer(template):
        pattern += re.escape(template[end : found.start()]) + (".*" if found[1] else "[^/]+")
        end = found.end()
    return pattern + re.escape(template[end:])
