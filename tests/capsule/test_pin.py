"""Rows that stay in a database: nothing in a report calls them verified, and nothing calls them broken."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sandtable.capsule.canonical import canonical
from sandtable.capsule.model import Capsule, pin_of, read_capsule
from sandtable.capsule.pin import ContentPin, LivePin
from sandtable.capsule.seal import read_json, read_statement, seal, unpack
from sandtable.capsule.verify import Rederive, verify
from sandtable.catalog.live import LiveDatabase, RemoteColumn, RemoteTable
from sandtable.catalog.model import Dataset
from sandtable.errors import NotFound, SandboxUnavailable
from sandtable.policy.verdict import Approved, Verdict
from sandtable.sandbox.job import JobResult
from tests.capsule.samples import KEY, SHOP, SQL, answer, capsule, signed, world

GOLDEN = Path(__file__).parent / "golden"
PIN = {"kind": "live", "engine": "postgresql", "source": "shop"}
DATABASE = LiveDatabase(
    "postgresql",
    "shop",
    (RemoteTable("orders", "public", "orders", (RemoteColumn("amount", "amount", "numeric(10,2)"),)),),
)
LIVE = SHOP.model_copy(update={"live": DATABASE})


def live(**changes: Any) -> Capsule:
    return capsule(
        pin=PIN, executed_sql=SQL, verdict={"decision": "approved", "tables": ["orders"]}, **changes
    )


def database(**changes: Any) -> Rederive:
    async def dataset(dataset_id: str, wanted: str, catalog_version: str | None) -> Dataset:
        return LIVE

    async def judge_plan(plan: dict[str, Any], found: Dataset, rows: int) -> Verdict:
        return Approved(SQL, tables=("orders",))

    return world(**{"dataset": dataset, "judge_plan": judge_plan, **changes})


async def test_the_data_are_never_called_verified() -> None:
    report = await verify(seal(live(), KEY), database())
    assert report.ok and not report.complete
    assert report.link("data").status == "not_pinned"
    assert "same columns" in report.link("data").detail
    assert {report.link(name).status for name in ("plan", "verdict", "result")} == {"ok"}


async def test_other_rows_now_break_nothing() -> None:
    report = await verify(seal(live(), KEY), database(result=answer((("Toys", 1, 1.0, None),))))
    assert report.ok
    assert report.link("result").status == "not_pinned"
    assert "another result now" in report.link("result").detail


async def test_other_columns_now_are_named() -> None:
    report = await verify(seal(live(), KEY), database(version="sha256:" + "00" * 32))
    assert report.ok
    assert "other columns" in report.link("data").detail


@pytest.mark.parametrize(
    "error",
    [NotFound("the version is not here"), SandboxUnavailable("no connection", suggestion="Try again.")],
)
async def test_a_database_that_cannot_be_reached_leaves_it_unchecked(error: Exception) -> None:
    async def rehash(found: Dataset) -> str:
        raise error

    report = await verify(seal(live(), KEY), database(rehash=rehash))
    assert report.ok and report.link("data").status == "not_checked"
    assert {report.link(name).status for name in ("plan", "verdict", "result")} == {"not_checked"}


async def test_the_text_in_the_capsule_is_never_run() -> None:
    ran: list[str] = []

    async def run(made: Capsule, approved: Approved, found: Dataset) -> JobResult:
        ran.append(approved.sql)
        return answer()

    made = live(sql='DROP TABLE "orders"')
    report = await verify(seal(made, KEY), database(run=run))
    assert report.link("plan").status == "broken"
    assert ran == [SQL]


async def test_a_capsule_cannot_claim_the_other_pin() -> None:
    claims_content = await verify(seal(capsule(), KEY), database())
    claims_live = await verify(seal(live(), KEY), world())
    for report in (claims_content, claims_live):
        assert report.link("data").status == "broken"
        assert "another way" in report.link("data").detail


async def test_another_pin_breaks_the_digests() -> None:
    statement = read_statement(unpack(seal(live(), KEY))[0])
    statement["predicate"]["pin"] = {"kind": "content"}
    report = await verify(signed(canonical(statement)), database())
    assert report.link("digests").status == "broken" and "pin" in report.link("digests").detail


def test_formats_before_pinned_the_content() -> None:
    assert pin_of(live()) == LivePin(engine="postgresql", source="shop")
    golden = read_json((GOLDEN / "v5-plan.json").read_bytes())
    payload, _, _ = unpack(golden)
    assert pin_of(read_capsule(read_statement(payload)["predicate"])) == ContentPin()
