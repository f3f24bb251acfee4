"""A cache of its own for every test, and no address but the test's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sbirtools.awards import csv_bytes
from tests.sbirtools.web import Web, serving


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the awards will be."""
    monkeypatch.setenv("SBIRTOOLS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("SBIRTOOLS_CSV_URL", raising=False)
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "cache" / "award_data.csv"


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[Web]:
    """A server with 400 awards, which is where `SBIRTOOLS_CSV_URL` points."""
    with serving(Web(csv_bytes(400))) as server:
        monkeypatch.setenv("SBIRTOOLS_CSV_URL", server.url)
        yield server


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long a download would have waited between its attempts."""
    waited: list[float] = []
    monkeypatch.setattr("sbirtools.download.wait", waited.append)
    return waited
