"""Every attack in Python, with the check switched off: the walls alone hold, for root and for an ordinary user.

Which of them the check refuses, and which it lets pass, is said in the corpora of `tests/policy/python`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sandtable.errors import ErrorCode
from tests.policy.python.corpora import ATTACKS, EVALUATED
from tests.sandbox.worlds import WORLDS, report_from

_FAMILIES = list(dict.fromkeys(attack.family for attack in ATTACKS))
_EVALUATED = list(dict.fromkeys(attack.family for attack in EVALUATED))
_TELLING = ("written", "CANARY", "connected", "started", "root:")
"""Words of claims that would mean a file, a secret, a connection or a process."""
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
    assert [claim for claim in claims if any(word in claim for word in _TELLING)] == []
    assert {o["code"] for o in outcomes} <= _EXPECTED


@pytest.mark.parametrize("family", _EVALUATED)
def test_texts_that_are_evaluated(report: dict[str, Any], family: str) -> None:
    """Each of them ran, to its end or to what stopped it, and none of them got hold of anything."""
    attacks = [attack.id for attack in EVALUATED if attack.family == family]
    outcomes = [o for o in report["evaluated"] if o["id"] in attacks]
    assert [o["id"] for o in outcomes] == attacks
    assert [o["id"] for o in outcomes if o["leaked"]] == []
    claims = [claim for o in outcomes for claim in o["claims"]]
    assert [claim for claim in claims if any(word in claim for word in _TELLING)] == []


def test_the_code_between_them_does_run(report: dict[str, Any]) -> None:
    controls = [o["claims"] for o in report["evaluated"] if o["id"] == "control-01"]
    assert controls == [["LEAK: b'PAR1'"]] * len(_EVALUATED)


def test_sql_from_code_writes_no_file(report: dict[str, Any]) -> None:
    """Not even into the scratch space, which code itself may write to when nothing checks it."""
    statements = {attack.id for attack in EVALUATED if attack.family == "sqlfiles" and "COPY" in attack.code}
    assert len(statements) >= 12
    ends = {o["id"]: o["ended"] for o in report["evaluated"] if o["id"] in statements}
    assert {name for name, ended in ends.items() if not ended} == set()


def test_nothing_is_written_and_nothing_survives(report: dict[str, Any]) -> None:
    assert len(report["outcomes"]) == len(ATTACKS) >= 200
    assert report["planted"] == []
    assert report["changed"] == []
    assert report["left"] == 0
    assert report["well"] == "2000 east\n"
