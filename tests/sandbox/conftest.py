from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def open_folder() -> Iterator[Path]:
    """One that every user may write to, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix="sandtable-worlds-"))
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder)
