"""Every route of an application, those of included routers and mounted applications too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fastapi import FastAPI
from fastapi.routing import APIRoute, APIWebSocketRoute
from starlette.routing import BaseRoute, Mount, Route, WebSocketRoute


def routes(app: FastAPI) -> set[str]:
    """All of an application, as `method path`; those of included routers and mounted applications too."""
    return set(_walked(app.routes, ""))


def _walked(given: Iterable[BaseRoute], before: str) -> Iterator[str]:
    for route in given:
        inner = getattr(route, "original_router", None)
        if inner is not None:
            prefix = getattr(getattr(route, "include_context", None), "prefix", "") or ""
            yield from _walked(inner.routes, before + prefix)
        elif isinstance(route, Mount):
            yield f"MOUNT {before}{route.path}"
        elif isinstance(route, WebSocketRoute | APIWebSocketRoute):
            yield f"WS {before}{route.path}"
        else:
            assert isinstance(route, Route | APIRoute), route
            yield from (
                f"{method} {before}{route.path}" for method in route.methods or () if method != "HEAD"
            )
