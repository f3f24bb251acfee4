"""A desk with an engine of the sandbox's settings, for files of any kind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandtable_runner import engine
from tests.runner.intake.desk import Desk
from tests.runner.intake.ingest_job import Job


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    connection = engine.connect()
    yield Desk(tmp_path, connection)
    connection.close()


@pytest.fixture
def job(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Job:
    return Job(desk, monkeypatch)
