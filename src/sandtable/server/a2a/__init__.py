"""A2A 1.0 (docs/a2a.md): an adapter over `conversations`, by the official SDK."""

from __future__ import annotations

from fastapi import FastAPI

from sandtable.server.a2a import refusals, routes
from sandtable.server.a2a.addresses import PREFIX
from sandtable.server.adapter import Adapter
from sandtable.settings import Settings


def _set_up(app: FastAPI, settings: Settings) -> None:
    app.state.a2a = routes.LazyAgent(app)
    app.state.a2a_ports = None


async def _stop(app: FastAPI) -> None:
    if app.state.a2a_ports is not None:
        await app.state.a2a_ports.stop()


ADAPTER = Adapter(
    (routes.router,),
    _set_up,
    _stop,
    prefix=PREFIX,
    error_body=refusals.error_body,
    stopped=refusals.STOPPED,
    ended=refusals.ended,
)
