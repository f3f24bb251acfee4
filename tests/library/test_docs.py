"""What docs/library.md shows is what happens."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.library.pages import replay


def test_every_example_prints_what_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    seen = 0
    for code, printed, said in replay("library.md"):
        assert printed == said, code
        seen += 1
    assert seen >= 8
