"""What starts before the modules of a command are loaded."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandtable.cli import early


@pytest.fixture
def begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    found: list[str] = []
    monkeypatch.setenv("SANDTABLE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(early, "begin", lambda wanted: found.append(wanted.kind))
    monkeypatch.setattr(early.loading, "begin", lambda: found.append("reader"))
    return found


@pytest.mark.parametrize(
    ("command", "arguments", "expected"),
    [
        ("ask", ["how many orders?", "--dataset", "ecommerce"], ["sql", "reader"]),
        ("run", ["--sql", "SELECT 1"], ["sql"]),
        ("run", ["--python", "print(1)"], ["sql", "py"]),
    ],
)
def test_what_a_command_will_wait_for(
    begun: list[str], command: str, arguments: list[str], expected: list[str]
) -> None:
    early.begin_early(command, arguments)
    assert begun == expected


def test_the_reader_is_not_loaded_where_it_is_switched_off(
    begun: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SANDTABLE_READER", "false")
    early.begin_early("ask", ["how many orders?"])
    assert begun == ["sql"]


def test_settings_that_cannot_be_used_start_nothing(
    begun: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SANDTABLE_PORT", "many")
    early.begin_early("ask", ["how many orders?"])
    assert begun == []
