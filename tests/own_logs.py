"""Logging as it was before: whoever sets it up in a test does so for that test alone."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import structlog


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
