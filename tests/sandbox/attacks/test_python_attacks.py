"""Every attack in Python, with the check switched off: the walls alone hold, for root and for an ordinary user.

With the check on, none of them gets this far: see `tests/policy/python`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sandtable.errors import ErrorCode
from tests.policy.python.corpora import ATTACKS
from tests.sandbox.worlds import WORLDS, report_from

_FAMILIES = list(dict.fromkeys(attack.family for attack in ATTACKS))
_EXPECTED = {
    None,
    ErrorCode.VALIDATION_ERROR,
    ErrorCode.RUNNER_TIMEOUT,
    ErrorCode.RUNNER_RESOURCE_EXCEEDED,
    ErrorCode.RUNNER_INTERNAL_ERROR,
}


@pytest.fixture(scope="module", params=WORLDS)
def report(request: pytest.FixtureRequest, open_folder: Path) -> dict[str, Any]:
    return report_from(request.param, "tests.sandbox.attacks.python_battery", open_folder)


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
