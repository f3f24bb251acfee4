"""What a protocol adds to the application: its routes, their setup and their shutdown."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from fastapi import APIRouter, FastAPI

from sandtable.settings import Settings


async def _nothing_to_stop(app: FastAPI) -> None:
    return


@dataclass(frozen=True, slots=True)
class Adapter:
    routers: tuple[APIRouter, ...]
    set_up: Callable[[FastAPI, Settings], None] = lambda app, settings: None
    """Stores in `app.state` what the routes share."""
    stop: Callable[[FastAPI], Awaitable[None]] = _nothing_to_stop
    """Ends connections that do not end by themselves, before the server waits for its last requests."""
