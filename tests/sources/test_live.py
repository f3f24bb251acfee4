"""Datasets whose rows stay in a database: asked there, proven as far as they can be, copied when they must last."""

from __future__ import annotations

import datetime as dt
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from sandtable.assemble import assemble
from sandtable.assemble.sources import sources_of
from sandtable.capsule.query import CodeQuery, PlanQuery, Query, SqlQuery
from sandtable.errors import ErrorCode, InvalidInput
from sandtable.runs.as_asked import dataset_as_asked
from sandtable.runs.model import Run, RunRequest
from sandtable.settings import Settings
from sandtable.sources.address import read_address
from sandtable.sources.records import source_of
from tests.sources.conftest import SECRET, Database, Shop

pytestmark = [pytest.mark.needs("userns", "postgres"), pytest.mark.asyncio(loop_scope="module")]

TOTAL: dict[str, Any] = {"table": "orders", "select": [{"agg": "sum", "column": "amount", "as": "total"}]}
BY_CITY: dict[str, Any] = {
    "table": "orders",
    "group_by": ["customers.city"],
    "select": [{"agg": "count", "as": "n"}, {"agg": "avg", "column": "amount", "as": "mean"}],
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shop(database: Database, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Shop]:
    settings = Settings(home=tmp_path_factory.mktemp("live") / "home", standby=0, presealed=0, python="on")
    async with assemble(settings) as parts:
        made = Shop(parts, sources_of(parts))
        await made.connect(database.url("reader"))
        yield made


@pytest_asyncio.fixture(loop_scope="module")
async def live(shop: Shop) -> str:
    """The dataset, which other tests may have copied."""
    added = await shop.sources.make_live("shop", ["shop.orders", "customers"])
    return added.record.id


async def run(shop: Shop, query: Query | dict[str, Any], dataset_id: str = "shop") -> Run:
    if isinstance(query, dict):
        query = PlanQuery({"dataset_id": dataset_id, **query})
    made = await shop.parts.runs.submit(RunRequest(dataset_id=dataset_id, query=query))
    return await shop.parts.runs.wait(made.id)


async def report(shop: Shop, run_id: str) -> dict[str, str]:
    found = await shop.parts.verify(await shop.parts.runs.capsule(run_id))
    assert found.ok, found
    return {link.name: link.status for link in found.links}


async def test_a_question_is_a_query_there_and_a_copy_pins_it(
    shop: Shop, live: str, database: Database
) -> None:
    before = await run(shop, TOTAL)
    assert before.rows == ((50000,),) and before.sql is not None and '"shop"."orders"' in before.sql
    assert (await report(shop, before.id))["data"] == "not_pinned"
    assert (await report(shop, before.id))["result"] == "ok"
    database.execute("INSERT INTO shop.orders VALUES (5000, 1, 7.25, now())")
    try:
        after = await run(shop, TOTAL)
        assert after.rows == ((50007.25,),) and after.cached_from is None
        assert after.dataset_version == before.dataset_version
        assert (await report(shop, before.id))["result"] == "not_pinned"
        # The same tables, copied: a version of the same dataset.
        await shop.snapshot()
        copied = await run(shop, TOTAL)
        assert copied.rows == after.rows and copied.dataset_version != after.dataset_version
        assert set((await report(shop, copied.id)).values()) == {"ok"}
        # The earlier version is still known, and asked where its rows are.
        assert (await report(shop, after.id))["data"] == "not_pinned"
        again = await shop.sources.make_live("shop")
        assert (again.outcome, again.record.dataset.version) == ("changed", before.dataset_version)
        assert len({v.dataset.version for v in again.record.versions}) == len(again.record.versions)
    finally:
        database.execute("DELETE FROM shop.orders WHERE no = 5000")


async def test_tables_are_joined_by_the_keys_of_the_database(shop: Shop, live: str) -> None:
    dataset = await shop.parts.datasets.ready(live)
    (join,) = dataset.relationships
    assert (join.many_table, join.many_column, join.one_table) == ("orders", "buyer", "customers")
    made = await run(shop, BY_CITY)
    assert made.status == "succeeded", made.error
    cities: dict[Any, Any] = {row[0]: row[1] for row in made.rows or ()}
    assert cities == {None: 250, "": 250, "Berlin": 250, "Köln": 250}


async def test_a_live_answer_is_that_of_the_copy(shop: Shop, live: str) -> None:
    there = await run(shop, BY_CITY)
    await shop.snapshot()
    here = await run(shop, BY_CITY)
    assert (there.columns, there.rows) == (here.columns, here.rows)


async def test_text_of_others_is_not_sent(shop: Shop, live: str) -> None:
    refused = await run(shop, SqlQuery("SELECT 1"))
    assert refused.status == "rejected" and refused.error is not None
    assert (
        refused.error.code is ErrorCode.SQL_POLICY_VIOLATION and "snapshot shop" in refused.error.suggestion
    )
    code = await run(shop, CodeQuery("print(1)", {}, check=True))
    assert code.status == "rejected" and code.error is not None and "copied" in code.error.message
    verdict = await shop.parts.check(await shop.parts.datasets.ready(live), SqlQuery("SELECT 1"))
    assert "sent no SQL" in getattr(verdict, "message", "")


async def test_the_profile_lists_values_and_ranges(shop: Shop, live: str) -> None:
    dataset = await shop.parts.datasets.ready(live)
    profile = await shop.parts.datasets.profile(dataset)
    orders, customers = profile.table("orders"), profile.table("customers")
    assert orders is not None and customers is not None and (orders.rows, customers.rows) == (1000, 40)
    amount, city, name = orders.column("amount"), customers.column("city"), customers.column("name")
    assert amount is not None and (amount.minimum, amount.maximum, amount.distinct) == (0.5, 99.5, 100)
    assert city is not None and city.complete and city.nulls == 10
    assert {(each.value, each.count) for each in city.values} == {("", 10), ("Berlin", 10), ("Köln", 10)}
    assert name is not None and len(name.values) == 40


async def test_now_is_the_day_of_the_question(shop: Shop, live: str, database: Database) -> None:
    database.execute("INSERT INTO shop.orders VALUES (6000, 1, 1, now() - interval '2 days')")
    try:
        recent = {**TOTAL, "select": [{"agg": "count", "as": "n"}], "time": {"last": 7, "unit": "day"}}
        made = await run(shop, recent)
        assert made.status == "succeeded" and made.rows == ((1,),), made.error
        tomorrow = dt.datetime.now(dt.UTC).date() + dt.timedelta(days=1)
        assert str(tomorrow) in (made.sql or "")
        assert (await report(shop, made.id))["plan"] == "ok"
        # What is said of the run later is about that day, too.
        earlier = made.model_copy(update={"created_at": "2026-03-01T10:00:00.000Z"})
        asked = await dataset_as_asked(shop.parts.datasets, earlier)
        assert asked is not None and asked.as_of == "2026-03-01"
    finally:
        database.execute("DELETE FROM shop.orders WHERE no = 6000")


async def test_other_columns_are_another_version(shop: Shop, live: str, database: Database) -> None:
    database.execute("CREATE TABLE shop.moods (id int PRIMARY KEY, mood text, weight int)")
    database.execute("GRANT SELECT ON shop.moods TO reader")
    first = (await shop.sources.make_live("shop", ["moods"])).record.dataset
    plan = {"table": "moods", "select": [{"agg": "sum", "column": "weight", "as": "w"}]}
    made = await run(shop, plan)
    assert made.status == "succeeded"
    database.execute("ALTER TABLE shop.moods DROP COLUMN weight")
    failed = await run(shop, plan)
    assert failed.status == "failed" and failed.error is not None and "refresh" in failed.error.suggestion
    assert (await report(shop, made.id))["data"] == "not_pinned"
    again = await shop.sources.make_live("shop")
    assert again.outcome == "changed" and again.record.dataset.version != first.version
    assert [change.in_words for change in [again.record.current.changes]] != [()]
    database.execute("DROP TABLE shop.moods")
    with pytest.raises(InvalidInput, match="no table"):
        await shop.sources.make_live("shop")


async def test_a_disconnected_database_is_not_asked(database: Database, tmp_path: Path) -> None:
    async with assemble(Settings(home=tmp_path / "home", standby=0, presealed=0)) as parts:
        shop = Shop(parts, sources_of(parts))
        await shop.connect(database.url("reader"))
        await shop.sources.make_live("shop", ["orders"])
        made = await run(shop, TOTAL)
        assert made.status == "succeeded"
        await shop.sources.disconnect("shop")
        gone = await run(shop, TOTAL)
        assert (
            gone.status == "failed" and gone.error is not None and "connect" in gone.error.suggestion.lower()
        )
        assert (await report(shop, made.id))["data"] == "not_checked"
        assert all(SECRET.encode() not in p.read_bytes() for p in shop.home.rglob("*") if p.is_file())


async def test_a_mariadb_is_copied(tmp_path: Path) -> None:
    async with assemble(Settings(home=tmp_path / "home", standby=0, presealed=0)) as parts:
        shop = Shop(parts, sources_of(parts))
        address = read_address(f"mysql://reader:{SECRET}@127.0.0.1/shop")
        source = source_of(address, "shop", only_schema="", password_env="", allowed_writer="")
        shop.sources.records.write(source, SECRET)
        with pytest.raises(InvalidInput, match="cannot stay there") as refused:
            await shop.sources.make_live("shop", ["orders"])
        assert "snapshot shop" in refused.value.suggestion
