"""With the check off, the walls alone: as root and as an ordinary user, with namespaces and with Landlock alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.sandbox import as_user
from tests.sandbox.python.as_anybody import ATTEMPTS, CANARY
from tests.sandbox.worlds import WORLDS, report_from

_ALLOWED = ("analysis", "polars", "environment")


@pytest.fixture(scope="module", params=WORLDS)
def report(request: pytest.FixtureRequest, open_folder: Path) -> dict[str, Any]:
    return report_from(request.param, "tests.sandbox.python.as_anybody", open_folder)


@pytest.mark.parametrize("name", ATTEMPTS)
def test_an_attempt(report: dict[str, Any], name: str) -> None:
    outcome = report["outcomes"][name]
    assert outcome["status"] == ("succeeded" if name in _ALLOWED else "failed"), outcome
    said = json.dumps(outcome)
    assert CANARY not in said
    assert "root:" not in said, "a file of the host was read"
    assert str(as_user.REPOSITORY) not in outcome["stdout"]


def test_the_data_is_untouched(report: dict[str, Any]) -> None:
    assert report["whole"]
    assert not Path("/tmp/sandtable-was-here").exists()


def test_a_session_is_interrupted_and_lives(report: dict[str, Any]) -> None:
    interrupted, after = report["outcomes"]["session"]
    assert interrupted["error"]["type"] == "Interrupted"
    assert after == "1\n"
