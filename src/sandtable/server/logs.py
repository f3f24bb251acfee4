"""Logs on stderr: one line per request; every other line carries the ids of its request, run, dataset and trace.

Invariant: an unexpected exception is logged once, here, and answered with the one error shape. No line holds a secret
(`redaction`).
"""

from __future__ import annotations

import logging
import re
import secrets
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Literal, TextIO

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sandtable.server.errors import REQUEST_ID, unexpected
from sandtable.server.log_text import TextLines, quiet_requests
from sandtable.server.redaction import Redaction

_SANE_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
PROBES = ("/healthz", "/readyz", "/metrics")

log = structlog.get_logger("sandtable.server")


def configure(
    level: str,
    out: TextIO | None = None,
    form: Literal["auto", "json", "text"] = "auto",
    secrets: Iterable[str] = (),
) -> None:
    """Structlog and the standard library's logging, both on stderr. `auto`: text on a terminal, JSON elsewhere."""
    stream = out or sys.stderr
    terminal = stream.isatty()
    text = form == "text" or (form == "auto" and terminal)
    least = logging.getLevelNamesMapping()[level.upper()]
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    quiet = [quiet_requests] if text and least > logging.DEBUG else []
    last: list[structlog.typing.Processor] = [
        Redaction(secrets),
        TextLines(colour=terminal) if text else structlog.processors.JSONRenderer(),
    ]
    structlog.configure(
        processors=[*quiet, *shared, *last],
        wrapper_class=structlog.make_filtering_bound_logger(least),
        logger_factory=structlog.WriteLoggerFactory(stream),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*shared, structlog.stdlib.ExtraAdder(allow=())],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *last],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(max(least, logging.INFO))
    for chatty in ("uvicorn", "httpx", "httpx2"):
        logging.getLogger(chatty).setLevel(max(least, logging.WARNING))


def bind(**ids: str) -> None:
    """Adds these ids to all further log lines of this request."""
    structlog.contextvars.bind_contextvars(**ids)


class Seldom:
    """Rate-limits logs to one line per event in `every_s` seconds; the next line says how many were left out."""

    def __init__(self, log: Any, every_s: float = 10.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._log = log
        self._every_s = every_s
        self._clock = clock
        self._last: dict[str, float] = {}
        self._left_out: Counter[str] = Counter()

    def warning(self, event: str, **fields: Any) -> None:
        self._say("warning", event, fields)

    def error(self, event: str, **fields: Any) -> None:
        self._say("error", event, fields)

    def _say(self, level: str, event: str, fields: dict[str, Any]) -> None:
        now = self._clock()
        if now - self._last.get(event, -self._every_s) < self._every_s:
            self._left_out[event] += 1
            return
        self._last[event] = now
        getattr(self._log, level)(event, **fields, times_before=self._left_out.pop(event, 0))


class RequestLog:
    """ASGI middleware: assigns the request id, logs the end of the request, answers uncaught exceptions."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).get("x-request-id", "")
        scope[REQUEST_ID] = given if _SANE_ID.fullmatch(given) else secrets.token_hex(8)
        structlog.contextvars.clear_contextvars()
        bind(request_id=scope[REQUEST_ID])
        await self._answer(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = time.perf_counter()
        status, began_ms = 0, None

        async def noting(message: Message) -> None:
            nonlocal status, began_ms
            if message["type"] == "http.response.start":
                status, began_ms = message["status"], _ms_since(started)
                MutableHeaders(scope=message)["X-Request-Id"] = scope[REQUEST_ID]
            await send(message)

        try:
            await self._app(scope, receive, noting)
        except Exception:
            log.exception("request_broke", method=scope["method"], path=scope["path"])
            if not status:
                await unexpected(scope)(scope, receive, noting)
        finally:
            level = "debug" if scope["path"] in PROBES and status < 400 else "info"
            getattr(log, level)(
                "request",
                method=scope["method"],
                path=scope["path"],
                status=status,
                began_ms=began_ms,
                duration_ms=_ms_since(started),
            )
            structlog.contextvars.clear_contextvars()


def _ms_since(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 2)
