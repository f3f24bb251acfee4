"""The cookie that holds a session's token.

Invariant: over https it has the prefix `__Host-` and only that name is read, so that neither another host of the same
domain nor a connection without TLS can set it. Scripts cannot read it, and other sites' requests do not carry it.
"""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Scope

from sandtable.settings import Settings

NAME = "sandtable_session"


def is_secure(scope: Scope, settings: Settings) -> bool:
    """Whether the browser uses TLS: a trusted proxy said so, or the settings do."""
    return scope["scheme"] in ("https", "wss") or (settings.public_url or "").startswith("https:")


def read_cookie(scope: Scope, name: str, *, secure: bool) -> str | None:
    wanted = f"__Host-{name}" if secure else name
    for line in Headers(scope=scope).getlist("cookie"):
        for pair in line.split(";"):
            key, _, value = pair.strip().partition("=")
            if key == wanted and value:
                return value
    return None


def session_token(scope: Scope, settings: Settings) -> str | None:
    return read_cookie(scope, NAME, secure=is_secure(scope, settings))


def set_cookie(response: Response, name: str, value: str, *, max_age: int, secure: bool) -> None:
    response.set_cookie(
        f"__Host-{name}" if secure else name,
        value,
        max_age=max_age,
        path="/",
        secure=secure,
        httponly=True,
        samesite="lax",
    )


def forget_cookie(response: Response, name: str, *, secure: bool) -> None:
    set_cookie(response, name, "", max_age=0, secure=secure)
