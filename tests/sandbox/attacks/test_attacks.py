"""The attack battery, in every world: root and an ordinary user, with namespaces and with Landlock alone."""

from __future__ import annotations

import json
import secrets
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sandtable.errors import ErrorCode
from tests.sandbox import as_user
from tests.sandbox.attacks.battery import CORPUS

_CASES = [json.loads(line) for line in CORPUS.read_text(encoding="utf-8").splitlines()]
_FAMILIES = list(dict.fromkeys(case["family"] for case in _CASES))
_STOPPED = {ErrorCode.RUNNER_TIMEOUT, ErrorCode.RUNNER_RESOURCE_EXCEEDED}
_KILL_SLACK_MS = 600


@dataclass(frozen=True, slots=True)
class World:
    uid: int
    isolation: str
    landlock: bool = True
    """False: the kernel seems to have none."""


_WORLDS = {
    "root-namespaces": (World(0, "auto"), ("root", "userns")),
    "root-landlock": (World(0, "landlock"), ("root", "landlock")),
    "root-namespaces-no-landlock": (World(0, "auto", landlock=False), ("root", "userns")),
    "user-namespaces": (World(as_user.ORDINARY_UID, "auto"), ("userns",)),
    "user-landlock": (World(as_user.ORDINARY_UID, "landlock"), ("landlock",)),
    "user-namespaces-no-landlock": (World(as_user.ORDINARY_UID, "auto", landlock=False), ("userns",)),
}
_PARAMETERS = [
    pytest.param(world, id=name, marks=pytest.mark.needs(*needs)) for name, (world, needs) in _WORLDS.items()
]


@pytest.fixture(scope="module", params=_PARAMETERS)
def report(request: pytest.FixtureRequest, open_folder: Path) -> dict[str, Any]:
    world: World = request.param
    given = json.dumps({"isolation": world.isolation, "folder": str(open_folder / secrets.token_hex(4))})
    done = as_user.run("tests.sandbox.attacks.battery", given, uid=world.uid, landlock=world.landlock)
    assert done.returncode == 0, done.stderr[-3000:]
    report = json.loads(done.stdout)
    assert ("private-root" in report["layers"]) == (world.isolation == "auto"), report["layers"]
    assert any(layer.startswith("landlock") for layer in report["layers"]) == world.landlock, report["layers"]
    assert (report["uid"] == 0) == (world.uid == 0)
    return report


def test_no_escape_attempt_works(report: dict[str, Any]) -> None:
    assert report["probe_error"] is None
    assert len(report["attempts"]) > 150
    escaped = [attempt for attempt in report["attempts"] if attempt["escaped"]]
    assert escaped == []


@pytest.mark.parametrize("family", _FAMILIES)
def test_hostile_sql(report: dict[str, Any], family: str) -> None:
    wrong: list[str] = []
    for outcome in report["outcomes"]:
        case = _CASES[outcome["index"]]
        if case["family"] == family and (fault := _fault(case, outcome)):
            wrong.append(f"{fault}: {case['sql'][:120]} → {outcome['status']} {outcome['code']} "
                         f"{outcome['message'][:200]} {outcome['rows'][:200]}")  # fmt: skip
    assert not wrong, "\n".join(wrong)


def _fault(case: dict[str, Any], outcome: dict[str, Any]) -> str | None:
    if outcome["leaked"]:
        return "the canary got out"
    if outcome["code"] == ErrorCode.RUNNER_INTERNAL_ERROR and case["expect"] != "refused":
        return "an internal error"
    wall = case.get("limits", {}).get("wall_ms", 3000)
    if outcome["total_ms"] > wall + _KILL_SLACK_MS:
        return f"not stopped in time ({outcome['total_ms']:.0f} ms)"
    if case["expect"] == "refused" and outcome["status"] != "failed":
        return "not refused"
    if case["expect"] == "stopped" and outcome["code"] not in _STOPPED:
        return "no limit stopped it"
    return None


def test_nothing_is_left_on_the_host(report: dict[str, Any]) -> None:
    assert report["changed"] == []
    assert report["planted"] == []


def test_the_next_job_notices_nothing(report: dict[str, Any]) -> None:
    assert report["well"]


def test_the_corpus_is_broad() -> None:
    counted = Counter(case["family"] for case in _CASES)
    assert sum(counted.values()) >= 200
    assert len({(case["form"], case["sql"]) for case in _CASES}) == len(_CASES), "a statement is there twice"
