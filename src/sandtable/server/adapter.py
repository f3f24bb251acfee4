"""What a protocol adds to the application: its routes, their setup and shutdown, and the form of its errors."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, FastAPI
from starlette.types import Scope

from sandtable.errors import Problem
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
    prefix: str = ""
    """Of the paths whose errors have the form that the next two fields say; empty: no path."""
    error_fields: Callable[[Problem], Mapping[str, str]] = lambda problem: {}
    """Fields that clients of this protocol read in the body of an error, beside those of `ErrorBody`."""
    error_body: Callable[[Problem, int, str], Mapping[str, Any]] | None = None
    """The whole body of an error with this status at this path, for a protocol whose errors have another form."""
    stopped: Mapping[str, Any] | None = None
    """The data of the `error` event that ends a stream when the server stops; None: the event of `agent.events`."""
    ended: Callable[[Problem], Mapping[str, Any]] | None = None
    """The data of the `error` event that ends a stream for another reason; None: the event of `agent.events`."""


def adapter_of(scope: Scope) -> Adapter | None:
    """The adapter whose prefix the path of a request has."""
    adapters: tuple[Adapter, ...] = getattr(getattr(scope.get("app"), "state", None), "adapters", ())
    path = scope.get("path", "")
    return next((each for each in adapters if each.prefix and path.startswith(each.prefix)), None)
