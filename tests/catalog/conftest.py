from __future__ import annotations

from pathlib import Path

import pytest

from sandtable.catalog.stored.store import DataStore


@pytest.fixture
def store(tmp_path: Path) -> DataStore:
    return DataStore(tmp_path / "home" / "data")
