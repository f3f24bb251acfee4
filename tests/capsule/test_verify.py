from __future__ import annotations

import asyncio
import base64
import copy
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given, settings
from hypothesis import strategies as st

from sandtable.capsule.canonical import canonical, loads
from sandtable.capsule.keys import SigningKey, keyid_of, read_public
from sandtable.capsule.model import Capsule, ResultRecord, VerdictRecord
from sandtable.capsule.report import LINKS, VerifyReport
from sandtable.capsule.result_digest import snap
from sandtable.capsule.seal import read_statement, seal, unpack
from sandtable.capsule.verify import Rederive, verify
from sandtable.catalog.model import Dataset
from sandtable.errors import ErrorCode, NotFound, RunnerBroken, SandboxUnavailable
from sandtable.policy.verdict import Approved
from sandtable.sandbox.job import JobError, JobResult
from tests.capsule.samples import (
    CANONICAL_SQL,
    KEY,
    REFUSED,
    ROWS,
    answer,
    capsule,
    rejected,
    signed,
    world,
)

GOLDEN = Path(__file__).parent / "golden"


def statuses(report: VerifyReport) -> dict[str, str]:
    return {link.name: link.status for link in report.links}


def broken(report: VerifyReport) -> list[str]:
    return [link.name for link in report.links if link.status == "broken"]


def forged(change: dict[str, Any], **statement: Any) -> dict[str, Any]:
    """Signed by the right key, but with content that does not fit together."""
    made = read_statement(unpack(seal(capsule(), KEY))[0])
    made["predicate"] |= change
    return signed(canonical(made | statement))


def timed_out() -> Capsule:
    problem = {"code": "RUNNER_TIMEOUT", "message": "timed out", "suggestion": "", "details": {}}
    return capsule(status="failed", result=None, error=problem)


UNCOMPILED = {
    "sql": None,
    "executed_sql": None,
    "result": None,
}


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(capsule(), id="succeeded"),
        pytest.param(rejected(), id="refused SQL"),
        pytest.param(timed_out(), id="timed out"),
        pytest.param(capsule(status="cancelled", result=None), id="cancelled while running"),
        pytest.param(capsule(status="cancelled", verdict=None, **UNCOMPILED), id="cancelled before judging"),
        pytest.param(
            capsule(
                status="rejected",
                plan={"table": "nope"},
                verdict=asdict(VerdictRecord(decision="refused", code=ErrorCode.VALIDATION_ERROR)),
                **UNCOMPILED,
            ),
            id="refused plan",
        ),
    ],
)
async def test_every_kind_of_run_verifies(made: Capsule) -> None:
    report = await verify(seal(made, KEY), world())
    assert [link.name for link in report.links] == list(LINKS)
    found = statuses(report)
    assert found.pop("question") == "reading" and set(found.values()) == {"ok"}, report
    assert "is a reading, check it" in report.link("question").detail
    assert report.ok
    assert report.complete
    assert report.run_id == made.run_id


async def test_a_capsule_survives_the_round_trip() -> None:
    payload, keyid, _ = unpack(seal(capsule(), KEY))
    assert keyid == KEY.keyid
    assert Capsule.model_validate(read_statement(payload)["predicate"]) == capsule()


@settings(max_examples=100)
@given(st.data())
def test_any_mutated_byte_breaks_a_link(data: st.DataObject) -> None:
    text = json.dumps(seal(capsule(), KEY)).encode()
    at = data.draw(st.integers(0, len(text) - 1))
    mutated = bytearray(text)
    mutated[at] ^= data.draw(st.integers(1, 255))
    try:
        unchanged = loads(bytes(mutated)) == loads(text)
    except ValueError:
        unchanged = False
    report = asyncio.run(verify(bytes(mutated), world()))
    assert report.ok is unchanged


@pytest.mark.parametrize(
    ("name", "world_now"),
    [
        pytest.param("data", world(version="sha256:" + "00" * 32), id="data"),
        pytest.param("plan", world(compiled="SELECT 1"), id="plan"),
        pytest.param("verdict", world(verdict=REFUSED), id="refused now"),
        pytest.param(
            "verdict", world(verdict=Approved("SELECT 1;", ("orders",), ("sum",))), id="canonical text"
        ),
        pytest.param("verdict", world(verdict=Approved(CANONICAL_SQL, ("other",), ("sum",))), id="tables"),
        pytest.param("result", world(result=answer(ROWS[:1])), id="fewer rows"),
        pytest.param(
            "result", world(result=answer((("Bücher", 13, 12345678.25, "2024-01-31"), ROWS[1]))), id="a cell"
        ),
    ],
)
async def test_the_broken_link_is_named(name: str, world_now: Rederive) -> None:
    report = await verify(seal(capsule(), KEY), world_now)
    assert broken(report) == [name]
    assert next(link for link in report.links if link.name == name).detail


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"question": "another"}, "question"),
        ({"sql": "SELECT 2"}, "sql"),
        ({"executed_sql": "SELECT 2;"}, "executed_sql"),
        ({"plan": {"table": "orders"}}, "plan"),
        ({"prompts": ["sha256:00"]}, "prompts"),
        ({"dataset_version": "sha256:" + "11" * 32}, "data"),
        ({"limits": {"rows": 5}}, "limits"),
        ({"result": ResultRecord.of(answer(ROWS[:1])).model_dump(mode="json")}, "result"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_a_signed_capsule_must_fit_itself(change: dict[str, Any], field: str) -> None:
    link = (await verify(forged(change), world())).link("digests")
    assert link.status == "broken"
    assert link.detail.endswith(f": {field}")


async def test_subjects_must_fit_too() -> None:
    link = (await verify(forged({}, subject=[]), world())).link("digests")
    assert (link.status, link.detail[-7:]) == ("broken", "subject")


async def test_rows_that_do_not_fit_their_columns_break_the_digests() -> None:
    result = capsule().model_dump(mode="json")["result"] | {"rows": [[1]]}
    assert broken(await verify(forged({"result": result}), world())) == ["digests"]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"payloadType": "text/plain"}, "payloadType"),
        (signed(b"\0\0\0"), "not JSON"),
        ({"payload": "!!"}, "base64"),
        ({"payload": ""}, "base64"),
        (signed(b'{ "a": 1}'), "canonical"),
        (signed(b'{"a":1}'), "exactly the fields"),
        (signed(b"[" * 100_000), "nested too deeply"),
        ({"signatures": []}, "exactly one"),
        ({"signatures": [{"keyid": 1, "sig": "AA=="}]}, "not text"),
        ({"extra": 1}, "exactly the fields"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_an_envelope_out_of_shape_is_broken(change: dict[str, Any], why: str) -> None:
    report = await verify(seal(capsule(), KEY) | change, world())
    assert broken(report) == ["envelope"]
    assert why in report.link("envelope").detail
    assert not report.complete


@pytest.mark.parametrize("text", ["", "[]", "\x00", '{"payload"', "null"], ids=repr)
async def test_what_is_no_capsule_at_all_is_broken(text: str) -> None:
    assert broken(await verify(text, world())) == ["envelope"]


async def test_another_schema_version_is_not_taken_for_this_one() -> None:
    for other in ("1", "2", "3", "4", "5", "7", 6, None):
        assert broken(await verify(forged({"schema_version": other}), world())) == ["envelope"]
        named = forged({"schema_version": other}, predicateType=f"https://sandtable.dev/capsule/v{other}")
        assert broken(await verify(named, world())) == ["envelope"]


async def test_an_unknown_signer_is_not_trusted_and_nothing_is_run() -> None:
    async def run(made: Capsule, approved: Approved, dataset: Dataset) -> JobResult:
        raise AssertionError("ran for an untrusted signer")

    stranger = SigningKey.of(Ed25519PrivateKey.generate())
    report = await verify(seal(capsule(), stranger), world(run=run))
    assert broken(report) == ["signer"]
    assert report.link("signature").status == "not_checked"
    assert report.link("result").status == "not_checked"
    assert "--key" in report.link("signer").detail


async def test_another_keys_signature_under_a_trusted_id_is_broken() -> None:
    stranger = SigningKey(Ed25519PrivateKey.generate(), KEY.keyid)
    assert broken(await verify(seal(capsule(), stranger), world())) == ["signature"]


async def test_missing_data_is_not_a_broken_capsule() -> None:
    async def dataset(dataset_id: str, version: str, catalog_version: str | None) -> Dataset:
        raise NotFound("no such version here")

    report = await verify(seal(capsule(), KEY), world(dataset=dataset))
    assert report.ok
    assert not report.complete
    assert [link.name for link in report.links if link.status == "not_checked"] == [
        "data",
        "plan",
        "verdict",
        "result",
    ]
    assert "verify again" in report.link("data").detail


async def test_damaged_data_is_broken() -> None:
    async def rehash(dataset: Dataset) -> str:
        raise RunnerBroken("orders.parquet is damaged")

    assert broken(await verify(seal(capsule(), KEY), world(rehash=rehash))) == ["data"]


async def test_without_a_sandbox_the_rest_is_checked() -> None:
    async def run(made: Capsule, approved: Approved, dataset: Dataset) -> JobResult:
        raise SandboxUnavailable("no isolation here")

    report = await verify(seal(capsule(), KEY), world(run=run))
    assert report.ok
    assert [link.name for link in report.links if link.status == "not_checked"] == ["result"]


@pytest.mark.parametrize(("by", "expected"), [(2e-12, []), (2e-7, ["result"])], ids=["noise", "more"])
async def test_a_result_may_differ_by_noise_and_no_more(by: float, expected: list[str]) -> None:
    made = capsule(result=ResultRecord.of(answer((("a", 1, 1234.5, None),))).model_dump(mode="json"))
    again = answer((("a", 1, 1234.5 * (1 + by), None),))
    assert broken(await verify(seal(made, KEY), world(result=again))) == expected


async def test_a_value_on_the_other_side_of_an_edge_is_noted() -> None:
    low, high = edge()
    made = capsule(result=ResultRecord.of(answer((("a", 1, low, None),))).model_dump(mode="json"))
    again = answer((("a", 1, high, None),))
    assert ResultRecord.of(again).digest != made.digests.result
    link = (await verify(seal(made, KEY), world(result=again))).link("result")
    assert link.status == "ok"
    assert "floating-point noise" in link.detail


def edge() -> tuple[float, float]:
    """Two neighbouring floats with an edge of the digest's grid between them."""
    low, high = 1000.0, 1000.1
    while (middle := (low + high) / 2) not in (low, high):
        if snap(middle) == snap(low):
            low = middle
        else:
            high = middle
    return low, high


async def test_volatile_queries_are_not_run_again() -> None:
    approved = Approved(CANONICAL_SQL, ("orders",), ("sum",), volatile=("random",))
    made = capsule(verdict=asdict(VerdictRecord.of(approved)))
    link = (await verify(seal(made, KEY), world(verdict=approved))).link("result")
    assert link.status == "not_checked"
    assert "random" in link.detail


async def test_a_run_that_fails_now_is_not_a_broken_result() -> None:
    error = JobError(code=ErrorCode.RUNNER_TIMEOUT, type="Timeout", message="too slow here")
    failed = JobResult(job_id="j", status="failed", error=error)
    link = (await verify(seal(capsule(), KEY), world(result=failed))).link("result")
    assert link.status == "not_checked"
    assert "too slow here" in link.detail


async def test_a_large_result_is_compared_by_its_digest() -> None:
    rows = tuple(("c", n, n / 3, None) for n in range(1000))
    made = capsule(result=ResultRecord.of(answer(rows)).model_dump(mode="json"))
    assert made.result is not None
    assert (len(made.result.rows), made.result.rows_complete) == (200, False)
    assert (await verify(seal(made, KEY), world(result=answer(rows[::-1])))).complete
    changed = (*rows[:-1], ("c", 999, 0.0, None))
    assert broken(await verify(seal(made, KEY), world(result=answer(changed)))) == ["result"]


async def test_a_preview_is_bounded_in_bytes() -> None:
    rows = tuple(("x" * 60_000, n, 0.0, None) for n in range(5))
    record = ResultRecord.of(answer(rows))
    assert (len(record.rows), record.rows_complete, record.row_count) == (2, False, 5)


@pytest.mark.parametrize(
    "text", [pytest.param(path.read_bytes(), id=path.stem) for path in sorted(GOLDEN.glob("v1-*.json"))]
)
async def test_golden_capsules_verify_for_ever(text: bytes) -> None:
    key = read_public(GOLDEN / "v1-key.pem")
    report = await verify(text, Rederive(keys={keyid_of(key): key}))
    assert [link.status for link in report.links[:4]] == ["ok"] * 4, report
    assert report.ok


def test_there_are_golden_capsules() -> None:
    assert len(list(GOLDEN.glob("v1-*.json"))) >= 4


def test_unpack_does_not_change_what_it_is_given() -> None:
    envelope = seal(capsule(), KEY)
    before = copy.deepcopy(envelope)
    unpack(envelope)
    assert envelope == before


async def test_another_spelling_of_the_same_base64_is_broken() -> None:
    envelope = seal(capsule(), KEY)
    sig = envelope["signatures"][0]["sig"]
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    assert sig.endswith("==")
    respelled = sig[:-3] + alphabet[alphabet.index(sig[-3]) + 1] + "=="
    assert base64.b64decode(respelled) == base64.b64decode(sig)
    envelope["signatures"][0]["sig"] = respelled
    assert broken(await verify(envelope, world())) == ["envelope"]


async def test_a_signed_payload_that_is_no_capsule_is_told_in_one_line() -> None:
    statement = read_statement(unpack(seal(capsule(), KEY))[0])
    statement["predicate"]["status"] = "perfect"
    report = await verify(signed(canonical(statement)), world())
    assert broken(report) == ["envelope"]
    detail = report.links[0].detail
    assert detail.startswith("the payload is not a capsule: status: Input should be") and "\n" not in detail
