"""The logs of the servers of a test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.own_logs import LogLines, logged


@pytest.fixture
def log_lines() -> Iterator[LogLines]:
    """What was logged so far."""
    with logged() as lines:
        yield lines
