"""With the check off, the walls alone: as root and as an ordinary user, with namespaces and with Landlock alone."""

from __future__ import annotations

import json
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.sandbox import as_user
from tests.sandbox.python.as_anybody import ATTEMPTS, CANARY

_WORLDS = {
    "root-namespaces": (0, "auto", ("root", "userns")),
    "user-namespaces": (as_user.ORDINARY_UID, "auto", ("userns",)),
    "user-landlock": (as_user.ORDINARY_UID, "landlock", ("landlock",)),
}
_ALLOWED = ("analysis", "polars", "environment")


@pytest.fixture(scope="module")
def open_folder() -> Iterator[Path]:
    """One that every user may write to, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix="sandtable-python-"))
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(
    scope="module",
    params=[
        pytest.param((uid, isolation), id=name, marks=pytest.mark.needs(*needs))
        for name, (uid, isolation, needs) in _WORLDS.items()
    ],
)
def report(request: pytest.FixtureRequest, open_folder: Path) -> dict[str, Any]:
    uid, isolation = request.param
    given = json.dumps({"isolation": isolation, "folder": str(open_folder / secrets.token_hex(4))})
    done = as_user.run("tests.sandbox.python.as_anybody", given, uid=uid)
    assert done.returncode == 0, done.stderr[-3000:]
    report = json.loads(done.stdout)
    assert (report["uid"] == 0) == (uid == 0)
    assert ("private-root" in report["layers"]) == (isolation == "auto")
    return report


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
