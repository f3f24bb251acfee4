"""Every attack in Python, with the check switched off: the walls alone hold, for root and for an ordinary user.

With the check on, none of them gets this far: see `tests/policy/python`.
"""

from __future__ import annotations

import json
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandtable.errors import ErrorCode
from tests.policy.python.corpora import ATTACKS
from tests.sandbox import as_user

_WORLDS = {
    "root-namespaces": (0, "auto", ("root", "userns")),
    "user-namespaces": (as_user.ORDINARY_UID, "auto", ("userns",)),
    "user-landlock": (as_user.ORDINARY_UID, "landlock", ("landlock",)),
}
_FAMILIES = list(dict.fromkeys(attack.family for attack in ATTACKS))
_EXPECTED = {
    None,
    ErrorCode.VALIDATION_ERROR,
    ErrorCode.RUNNER_TIMEOUT,
    ErrorCode.RUNNER_RESOURCE_EXCEEDED,
    ErrorCode.RUNNER_INTERNAL_ERROR,
}


@pytest.fixture(scope="module")
def open_folder() -> Iterator[Path]:
    """One that every user may write to, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix="sandtable-python-attacks-"))
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
    done = as_user.run("tests.sandbox.attacks.python_battery", given, uid=uid, timeout=400)
    assert done.returncode == 0, done.stderr[-3000:]
    report = json.loads(done.stdout)
    assert (report["uid"] == 0) == (uid == 0)
    assert ("private-root" in report["layers"]) == (isolation == "auto")
    return report


@pytest.mark.parametrize("family", _FAMILIES)
def test_hostile_code(report: dict[str, Any], family: str) -> None:
    outcomes = [o for o in report["outcomes"] if o["id"].rpartition("-")[0] == family]
    assert outcomes
    assert [o["id"] for o in outcomes if o["leaked"]] == []
    # Whatever it claims to have found is its own interpreter's: never a file, a secret, a connection.
    claims = [claim for o in outcomes for claim in o["claims"]]
    assert not [
        claim for claim in claims if any(word in claim for word in ("written", "CANARY", "connected"))
    ]
    assert {o["code"] for o in outcomes} <= _EXPECTED


def test_nothing_is_written_and_nothing_survives(report: dict[str, Any]) -> None:
    assert len(report["outcomes"]) == len(ATTACKS) >= 200
    assert report["planted"] == []
    assert report["changed"] == []
    assert report["left"] == 0
    assert report["well"] == "2000 east\n"
