"""`make serve` serves before the stock chat UI is built: its page says so for as long as the build lives."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from sandtable.server.langgraph import stock


@pytest.mark.parametrize(
    ("text", "building"),
    [(None, False), ("", False), ("no number", False), (str(os.getpid()), True)],
    ids=["absent", "empty", "no number", "this process"],
)
def test_the_marker_names_a_living_process(
    text: str | None, building: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marker = tmp_path / "chat-ui.building"
    if text is not None:
        marker.write_text(text)
    monkeypatch.setattr(stock, "_BUILDING", marker)
    assert stock._is_being_built() is building


def test_a_build_that_was_killed_is_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with subprocess.Popen(["true"]) as ended:
        ended.wait()
    marker = tmp_path / "chat-ui.building"
    marker.write_text(str(ended.pid))
    monkeypatch.setattr(stock, "_BUILDING", marker)
    assert not stock._is_being_built()
