"""Sets who asks, from the principal that the guard put into the scope."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from sandtable.accounts.asking import asked_by, asking_of
from sandtable.accounts.shares import Shares
from sandtable.errors import SandtableError
from sandtable.server.callers import PRINCIPAL
from sandtable.server.errors import error_response

_TRY_LATER = 1013


class AskingSet:
    """ASGI middleware, innermost."""

    def __init__(self, app: ASGIApp, shares: Shares) -> None:
        self._app = app
        self._shares = shares

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        principal = scope.get(PRINCIPAL)
        if principal is None:
            await self._app(scope, receive, send)
            return
        try:
            found = await asking_of(principal, self._shares)
        except SandtableError as error:
            if scope["type"] == "websocket":
                await receive()
                await send(
                    {"type": "websocket.close", "code": _TRY_LATER, "reason": "the store is not there"}
                )
            else:
                await error_response(error.problem, scope, 503)(scope, receive, send)
            return
        with asked_by(found):
            await self._app(scope, receive, send)
