"""One home and one set of sandboxes for all tests of the library; nothing of it is left for other tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import sandtable


@pytest.fixture(scope="package", autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        chosen = tmp_path_factory.mktemp("library")
        patch.setenv("SANDTABLE_HOME", str(chosen))
        patch.setenv("SANDTABLE_STANDBY", "0")
        patch.setenv("SANDTABLE_PRESEALED", "0")
        yield chosen
        sandtable.close()


@pytest.fixture
def sales(tmp_path: Path) -> Path:
    path = tmp_path / "sales.csv"
    path.write_text("city,amount\nBonn,3\nCork,5\nBonn,4\n", encoding="utf-8")
    return path
