"""`sandtable prune`: shows what would go, asks, and says what went."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from sandtable.cli import main
from tests.earlier import earlier_home

ALL = ("--keep-runs", "0")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three runs and two conversations."""
    earlier_home(tmp_path)
    monkeypatch.setenv("SANDTABLE_HOME", str(tmp_path))
    return tmp_path


def prune(*arguments: str, stdin: str = "") -> Result:
    return CliRunner().invoke(main, ("prune", *arguments), input=stdin, catch_exceptions=False)


def as_json(*arguments: str) -> dict[str, Any]:
    done = prune("--json", *arguments)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_a_dry_run_only_shows(home: Path) -> None:
    shown = prune(*ALL, "--dry-run")
    assert shown.exit_code == 0
    lines = [line.split() for line in shown.stdout.splitlines() if line.strip()]
    assert lines[0] == ["go", "of"]
    assert (lines[2][:2], lines[3][:2]) == (["runs", "3"], ["conversations", "2"])
    assert as_json(*ALL, "--dry-run")["runs"]["go"] == 3


def test_what_went_is_shown_and_gone(home: Path) -> None:
    done = as_json(*ALL, "--yes")
    assert (done["rule"], done["removed"]["runs"], done["removed"]["conversations"]) == ("count", 3, 2)
    assert done["runs"]["go_bytes"] == done["runs"]["of_bytes"] > 0
    again = as_json(*ALL, "--yes")
    assert (again["rule"], again["runs"]["of"], again["removed"]) == (None, 0, None)
    assert prune(*ALL, "--yes").stdout == "Nothing goes.\n"


def test_conversations_keep_the_runs_that_they_name(home: Path) -> None:
    done = prune(*ALL, "--no-threads", "--yes")
    assert done.exit_code == 0
    assert done.stdout.splitlines() == [
        "Nothing goes.",
        "3 more runs would go, but they are in use, or something that is kept needs them.",
    ]


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("n\n", 1)], ids=["yes", "no"])
def test_on_a_terminal_it_asks(home: Path, monkeypatch: pytest.MonkeyPatch, answer: str, code: int) -> None:
    monkeypatch.setattr("sandtable.cli.prune._can_ask", lambda: True)
    done = prune(*ALL, stdin=answer)
    assert done.exit_code == code
    assert "Remove them?" in done.stderr
    assert ("Removed 3 runs and 2 conversations" in done.stdout) is (code == 0)
    assert as_json(*ALL, "--dry-run")["runs"]["of"] == (0 if code == 0 else 3)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "no rule says"),
        (("--older-than", "soon", "--yes"), "no span of time"),
        (("--max-size", "much", "--yes"), "no size"),
        (ALL, "no terminal to ask on"),
    ],
    ids=["no rule", "span", "size", "no terminal"],
)
def test_what_cannot_be_used_is_refused(home: Path, arguments: tuple[str, ...], says: str) -> None:
    refused = prune(*arguments)
    assert refused.exit_code == 2 and says in refused.stderr and "→" in refused.stderr
    assert as_json(*ALL, "--dry-run")["runs"]["of"] == 3


def test_the_settings_are_the_rules_unless_others_are_given(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SANDTABLE_KEEP_RUNS", "1")
    assert as_json("--dry-run")["runs"]["of"] == 3
    monkeypatch.setenv("SANDTABLE_KEEP_MB", "1")
    assert as_json("--older-than", "1000w", "--dry-run")["rule"] is None
    assert as_json("--max-size", "0", "--dry-run")["rule"] == "size"
