"""`POST /v2/query` and `WS /v2/stream/{session_id}`: ask, and get the work on the answer as typed messages."""

from __future__ import annotations

from fastapi import FastAPI

from sandtable.server.adapter import Adapter
from sandtable.server.v2 import query, stream
from sandtable.server.v2.listeners import Listeners
from sandtable.settings import Settings


def _set_up(app: FastAPI, settings: Settings) -> None:
    app.state.listeners = Listeners(settings.user_share)


async def _stop(app: FastAPI) -> None:
    await app.state.listeners.aclose()


ADAPTER = Adapter((query.router, stream.router), _set_up, _stop)
