"""Python in a capsule: what holds the code, what it printed and what it showed, and golden capsules of format 3."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from sandtable.capsule.keys import keyid_of, read_public
from sandtable.capsule.model import (
    UNCHECKED,
    Capsule,
    CapsuleV1,
    CapsuleV2,
    CapsuleV3,
    CapsuleV4,
    CapsuleV5,
    VerdictRecord,
    read_capsule,
)
from sandtable.capsule.report import CODE_LINKS, LINKS, Link, LinkName, VerifyReport
from sandtable.capsule.seal import read_json, read_statement, seal, unpack
from sandtable.capsule.shown import artifact_digest
from sandtable.capsule.verify import Rederive, verify
from sandtable.errors import ErrorCode
from sandtable.policy.verdict import Approved, Refused
from sandtable.runs.draw import draw
from tests.capsule.samples import (
    CODE,
    KEY,
    PLOT_SHOWN,
    REFUSED,
    TABLE_SHOWN,
    capsule,
    code_answer,
    coded,
    shown,
    world,
)
from tests.capsule.test_charts import broken, resigned

GOLDEN = Path(__file__).parent / "golden"


async def test_a_run_of_code_verifies() -> None:
    report = await verify(seal(coded(), KEY), world(result=code_answer()))
    assert [link.name for link in report.links] == [*LINKS, *CODE_LINKS]
    assert report.ok and report.complete, report


async def test_a_run_of_sql_has_no_links_of_code() -> None:
    report = await verify(seal(capsule(), KEY), world())
    assert [link.name for link in report.links] == list(LINKS)


def test_the_record_of_code_survives_the_round_trip() -> None:
    assert Capsule.model_validate(read_statement(unpack(seal(coded(), KEY))[0])["predicate"]) == coded()


RECORDED = shown(TABLE_SHOWN, PLOT_SHOWN)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        pytest.param({"python": "1"}, "python", id="code"),
        pytest.param({"names": {}}, "names", id="names"),
        pytest.param({"before": [{"python": "x", "interrupted": False}]}, "before", id="an earlier cell"),
        pytest.param({"stdout": "ho\n"}, "stdout", id="stdout"),
        pytest.param({"artifacts": RECORDED[:1]}, "artifacts", id="one taken out"),
        pytest.param({"artifacts": RECORDED[::-1]}, "artifacts", id="another order"),
        pytest.param({"artifacts": [{**RECORDED[0], "title": "x"}, RECORDED[1]]}, "artifacts", id="a title"),
        pytest.param(
            {"artifacts": [{**RECORDED[0], "artifact": {**TABLE_SHOWN, "rows": []}}, RECORDED[1]]},
            "artifacts",
            id="rows",
        ),
        pytest.param(
            {"artifacts": [RECORDED[0], {**RECORDED[1], "artifact": {**PLOT_SHOWN, "figure": {}}}]},
            "artifacts",
            id="a figure",
        ),
        pytest.param(
            {"artifacts": [{**RECORDED[0], "digest": RECORDED[1]["digest"]}, RECORDED[1]]},
            "artifacts",
            id="a digest",
        ),
    ],
)
async def test_what_was_changed_no_longer_fits_its_digest(change: dict[str, Any], named: str) -> None:
    report = await verify(resigned(coded(), consistent=False, **change), world(result=code_answer()))
    assert broken(report)["digests"] == f"the recorded digest does not fit the recorded content: {named}", (
        report
    )


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"artifacts": [{**RECORDED[0], "artifact": {"kind": "table"}}]}, id="no artifact"),
        pytest.param({"python": None}, id="no code"),
        pytest.param(
            {"python": None, "names": None, "artifacts": [], "before": [{"python": "x"}]}, id="cells"
        ),
        pytest.param({"sql": "SELECT 1"}, id="SQL beside code"),
        pytest.param({"plan": {"table": "orders"}}, id="a plan beside code"),
    ],
)
async def test_content_that_makes_no_sense_is_named(change: dict[str, Any]) -> None:
    report = await verify(resigned(coded(), consistent=False, **change), world(result=code_answer()))
    assert broken(report)["digests"].startswith("the recorded content is inconsistent: ")


async def test_a_forged_artifact_is_named_by_running_the_code_again() -> None:
    forged = shown({**TABLE_SHOWN, "rows": []}, PLOT_SHOWN)
    report = await verify(resigned(coded(), consistent=True, artifacts=forged), world(result=code_answer()))
    assert broken(report) == {"artifacts": "running it again shows something else: table-1"}


@pytest.mark.parametrize(
    ("verdict", "says"),
    [
        pytest.param(REFUSED, "the gate now says refused, the capsule approved", id="refused"),
        pytest.param(Approved("1", ("orders",)), "the gate now derives another canonical text", id="text"),
        pytest.param(
            Approved(CODE, ("orders",), volatile=("time",)),
            "the gate now reports other volatile",
            id="volatile",
        ),
    ],
)
async def test_another_verdict_is_named(verdict: Approved | Refused, says: str) -> None:
    report = await verify(seal(coded(), KEY), world(verdict=verdict, result=code_answer()))
    assert broken(report) == {"verdict": says}


ELSEWHERE = "duckdb 2.0.0, python 3.13.0, pandas 3.1.0"
APART = "; it was made with python 3.11.2 (here 3.13.0): verify it where those versions are"
UNREAD = Refused(ErrorCode.VALIDATION_ERROR, "syntax", "This is not valid Python (line 1): …", "check it")


@pytest.mark.parametrize(
    ("changed", "link", "says"),
    [
        pytest.param(
            {"result": code_answer(stdout="ho\n")},
            "stdout",
            "running it again prints something else",
            id="stdout",
        ),
        pytest.param(
            {"result": code_answer(PLOT_SHOWN)},
            "artifacts",
            "running it again shows something else: table-1",
            id="artifacts",
        ),
        pytest.param(
            {"result": code_answer().model_copy(update={"rows": []})},
            "result",
            "running it again gives another result",
            id="result",
        ),
        pytest.param(
            {"verdict": UNREAD}, "verdict", "the gate now says refused, the capsule approved", id="not read"
        ),
    ],
)
async def test_what_comes_out_otherwise_under_other_versions_is_not_called_broken(
    changed: dict[str, Any], link: LinkName, says: str
) -> None:
    given = {"result": code_answer(), **changed}
    report = await verify(seal(coded(), KEY), world(code_engine=lambda *_: ELSEWHERE, **given))
    assert report.ok and not report.complete
    assert report.link(link) == Link(name=link, status="not_checked", detail=says + APART)
    same = await verify(seal(coded(), KEY), world(code_engine=lambda *_: coded().engine, **given))
    assert broken(same) == {link: says}


async def test_under_other_versions_what_comes_out_the_same_is_verified() -> None:
    report = await verify(seal(coded(), KEY), world(code_engine=lambda *_: ELSEWHERE, result=code_answer()))
    assert report.ok and report.complete, report


async def test_what_the_rules_refuse_is_broken_under_any_version() -> None:
    parts = world(code_engine=lambda *_: ELSEWHERE, verdict=REFUSED, result=code_answer())
    assert list(broken(await verify(seal(coded(), KEY), parts))) == ["verdict"]


async def test_code_that_only_a_newer_python_can_read_was_refused_for_another_reason() -> None:
    refused = coded(
        status="rejected", result=None, verdict=asdict(VerdictRecord.of(UNREAD)), artifacts=[], stdout=""
    )
    report = await verify(seal(refused, KEY), world(code_engine=lambda *_: ELSEWHERE, verdict=REFUSED))
    assert report.link("verdict").detail == "the gate now reports other code, construct" + APART
    assert report.ok


async def test_sql_is_held_to_its_result_whatever_python_is_here() -> None:
    parts = world(code_engine=lambda *_: ELSEWHERE, result=code_answer().model_copy(update={"rows": []}))
    assert "result" in broken(await verify(seal(capsule(), KEY), parts))


def unchecked(**changes: Any) -> Capsule:
    return coded(verdict={"decision": "unchecked", "warnings": [UNCHECKED]}, **changes)


@pytest.mark.parametrize(
    ("now", "would", "result"),
    [
        pytest.param(Approved(CODE), "approve", "ok", id="approved now"),
        pytest.param(REFUSED, "refuse", "not_checked", id="refused now"),
    ],
)
async def test_unchecked_code_runs_again_only_when_it_is_approved(
    now: Approved | Refused, would: str, result: str
) -> None:
    report = await verify(seal(unchecked(), KEY), world(verdict=now, result=code_answer()))
    said = f"the code ran unchecked; the gate would {would} it"
    assert report.link("verdict") == Link(name="verdict", status="not_checked", detail=said)
    assert [report.link(name).status for name in ("result", "artifacts", "stdout")] == [result] * 3
    assert report.ok and not report.complete


def test_a_table_is_digested_as_a_result_is() -> None:
    turned = {**TABLE_SHOWN, "rows": TABLE_SHOWN["rows"][::-1]}
    assert artifact_digest(turned) == artifact_digest(TABLE_SHOWN)
    assert artifact_digest({**TABLE_SHOWN, "title": "x"}) != artifact_digest(TABLE_SHOWN)


def keys() -> Any:
    key = read_public(GOLDEN / "v3-key.pem")
    return {keyid_of(key): key}


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("v[345]-*.json")), ids=lambda path: path.stem)
async def test_golden_capsules_with_code_verify_for_ever(path: Path) -> None:
    report = await verify(path.read_bytes(), Rederive(keys=keys(), draw=draw))
    assert [link.status for link in report.links[:4]] == ["ok"] * 4, report
    assert report.ok


@pytest.mark.parametrize("name", ["v3-python", "v4-python", "v5-python", "v6-python"])
async def test_golden_code_is_compared_the_same_way(name: str) -> None:
    report: VerifyReport = await verify((GOLDEN / f"{name}.json").read_bytes(), world(result=code_answer()))
    assert report.ok and report.complete, report


@pytest.mark.parametrize("version", ["v3", "v4", "v5", "v6"])
def test_there_are_golden_capsules_of_each_format_with_code(version: str) -> None:
    assert {path.stem.removeprefix(f"{version}-") for path in GOLDEN.glob(f"{version}-*.json")} >= {
        "python",
        "python-after-an-interrupt",
        "python-cell",
        "python-failed",
        "python-large",
        "python-rejected",
        "python-unchecked",
        "sql",
    }


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("v1-succeeded", CapsuleV1),
        ("v2-chart-and-origin", CapsuleV2),
        ("v3-python", CapsuleV3),
        ("v4-python", CapsuleV4),
        ("v5-python", CapsuleV5),
        ("v6-python", Capsule),
    ],
)
def test_each_format_is_read_as_what_it_is(name: str, kind: type) -> None:
    payload, _, _ = unpack(read_json((GOLDEN / f"{name}.json").read_bytes()))
    assert type(read_capsule(read_statement(payload)["predicate"])) is kind
