"""Log lines for a person at a terminal: one short line for each event.

Invariant: what a client sent cannot move the cursor or colour the terminal: characters that are not printable are
escaped. Only a traceback has lines of its own.
"""

from __future__ import annotations

import time
from collections.abc import Callable, MutableMapping
from typing import Any

import structlog

SLOW_MS = 1000.0
_LONGEST = 160
_COLOURS = {"debug": "2", "warning": "33", "error": "31", "critical": "31;1"}
_HIDDEN = frozenset({"event", "level", "timestamp", "exception", "stack"})
_FOR_TROUBLE = frozenset({"request_id", "trace_id", "logger", "attempt"})
"""Shown with warnings and errors: ids to look further with."""
_TIMES = frozenset({"duration_ms", "exec_time_ms"})
"""Other times are in the JSON lines, and in the metrics."""


def quiet_requests(logger: object, method: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Drops requests that were answered well and soon; a stream is judged by its beginning."""
    if line.get("event") == "request" and line.get("status", 500) < 400:
        began = line.get("began_ms")
        if began is None or began < SLOW_MS:
            raise structlog.DropEvent
    return line


class TextLines:
    """A renderer for structlog."""

    def __init__(self, *, colour: bool, clock: Callable[[], float] = time.time) -> None:
        self._colour = colour
        self._clock = clock

    def __call__(self, logger: object, method: str, line: MutableMapping[str, Any]) -> str:
        level = str(line.get("level", method))
        at = time.strftime("%H:%M:%S", time.localtime(self._clock()))
        event = _printable(str(line.get("event", "")).replace("_", " "))
        name = "" if level == "info" else f"{self._painted(level, level.upper())} "
        shown = " ".join((event, *self._fields(line, level))).rstrip()
        whole = f"{self._painted('debug', at)} {name}{shown}"
        trace = line.get("exception")
        return whole if not trace else "\n".join((whole, *map(_indented, str(trace).splitlines())))

    def _fields(self, line: MutableMapping[str, Any], level: str) -> list[str]:
        if line.get("event") == "request" and "method" in line:
            took = f"in {line.get('duration_ms', 0):g} ms"
            return [_printable(f"{line['method']} {line.get('path')} {line.get('status')} {took}")]
        quiet = level in ("debug", "info")
        return [
            f"{name}={_value(value)}"
            for name, value in line.items()
            if value not in (None, "", [])
            and name not in _HIDDEN
            and not (quiet and name in _FOR_TROUBLE)
            and not (name.endswith(("_ms", "_kb")) and name not in _TIMES)
        ]

    def _painted(self, level: str, text: str) -> str:
        colour = _COLOURS.get(level)
        return f"\x1b[{colour}m{text}\x1b[0m" if self._colour and colour else text


def _value(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    text = _printable(str(value))
    text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    return f'"{text}"' if " " in text else text


def _printable(text: str) -> str:
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)


def _indented(text: str) -> str:
    return f"    {_printable(text)}"
