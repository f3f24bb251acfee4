"""Logging that a test sets up for itself alone, and the lines that it collects."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Any

import structlog

from sandtable.server import logs

LogLines = Callable[[], list[dict[str, Any]]]


@contextmanager
def own_logs() -> Iterator[None]:
    root = logging.getLogger()
    was_set, saved, handlers, level = (
        structlog.is_configured(), structlog.get_config(), list(root.handlers), root.level,
    )  # fmt: skip
    try:
        yield
    finally:
        # Set to the defaults is not the same as not set: the library looks for the difference.
        structlog.configure(**saved) if was_set else structlog.reset_defaults()
        root.handlers[:] = handlers
        root.setLevel(level)


@contextmanager
def logged() -> Generator[LogLines, None, None]:
    """Collects the server's log; the function gives the lines so far."""
    out = io.StringIO()
    with own_logs():
        logs.configure("debug", out)
        yield lambda: [json.loads(line) for line in out.getvalue().splitlines()]
