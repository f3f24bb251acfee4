"""The catalog in the real product: proposals are counted, an edition changes answers, and earlier answers verify."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from sandtable.assemble import Parts, assemble
from sandtable.capsule.query import PlanQuery
from sandtable.catalog.semantics.model import Semantics
from sandtable.errors import InvalidInput
from sandtable.runs.model import Run, RunRequest
from sandtable.settings import Settings

pytestmark = [pytest.mark.needs("userns"), pytest.mark.asyncio(loop_scope="module")]

ORDERS = "order_id,kunde,amount,returned\n" + "".join(
    f"{number},K{number % 21},{number}.50,{'yes' if number % 4 == 0 else 'no'}\n" for number in range(1, 41)
)
KUNDEN = "nr,email,city\n" + "".join(
    f"K{number},k{number}@example.org,{'Bonn' if number % 2 else 'Ulm'}\n" for number in range(20)
)
METRIC = {"select": [{"metric": "sales", "as": "sales"}], "table": "orders"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def parts(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Parts]:
    async with assemble(Settings(home=tmp_path_factory.mktemp("home"), standby=0, presealed=0)) as made:
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shop(parts: Parts, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("files")
    for name, text in (("orders", ORDERS), ("kunden", KUNDEN)):
        (folder / f"{name}.csv").write_text(text)
    added = await parts.datasets.add_own([folder / "orders.csv", folder / "kunden.csv"], dataset_id="shop")
    return added.record.id


async def run(parts: Parts, plan: dict[str, Any]) -> Run:
    request = RunRequest(dataset_id="shop", query=PlanQuery({"dataset_id": "shop", **plan}))
    return await parts.runs.wait((await parts.runs.submit(request)).id)


def write(parts: Parts, **document: Any) -> None:
    datasets = parts.datasets
    datasets.editions.write(datasets.as_found("shop"), Semantics.model_validate(document))


def sales(*, column: str, agg: str) -> dict[str, Any]:
    return {"sales": {"table": "orders", "numerator": {"agg": agg, "column": column}}}


async def links(parts: Parts, run_id: str) -> dict[str, str]:
    report = await parts.verify(await parts.runs.capsule(run_id))
    return {link.name: link.status for link in report.links}


async def test_what_is_proposed_is_counted_in_the_sandbox(parts: Parts, shop: str) -> None:
    dataset = await parts.datasets.ready(shop)
    assert dataset.relationships == ()
    found = await parts.datasets.proposals(dataset)
    (join,) = found.joins
    assert (join.join.many, join.join.one) == ("orders.kunde", "kunden.nr")
    assert join.matched + join.missing == 40 and join.missing == 1
    assert [(each.table, each.columns) for each in found.keys] == [
        ("orders", ("order_id",)),
        ("kunden", ("nr",)),
    ]
    assert [each.name for each in found.metrics] == ["total_amount", "returned_rate"]
    assert [(each.table, each.column) for each in found.masks] == [("kunden", "email")]


async def test_a_confirmed_join_is_used(parts: Parts, shop: str) -> None:
    plan = {"table": "orders", "select": [{"column": "kunden.city"}, {"agg": "count", "as": "orders"}]}
    assert (await run(parts, plan)).status == "rejected"
    write(parts, joins=[{"many": "orders.kunde", "one": "kunden.nr"}])
    joined = await run(parts, plan)
    assert joined.status == "succeeded" and sum(row[1] for row in joined.rows or ()) == 40
    assert set((await links(parts, joined.id)).values()) == {"ok"}
    assert (await parts.datasets.proposals(await parts.datasets.ready(shop))).joins == ()


async def test_an_answer_verifies_by_the_catalog_with_which_it_was_made(parts: Parts, shop: str) -> None:
    write(parts, metrics=sales(column="amount", agg="sum"))
    first = await run(parts, METRIC)
    write(parts, metrics=sales(column="amount", agg="avg"))
    second = await run(parts, METRIC)
    assert (first.rows, second.rows) == (((840.0,),), ((21.0,),))
    assert first.catalog_version != second.catalog_version
    assert first.dataset_version == second.dataset_version
    for each in (first, second):
        assert set((await links(parts, each.id)).values()) == {"ok"}


async def test_without_that_catalog_the_plan_is_not_checked_and_the_result_is(
    parts: Parts, shop: str
) -> None:
    write(parts, metrics=sales(column="amount", agg="max"))
    made = await run(parts, METRIC)
    parts.datasets.editions.remove(shop)
    found = await links(parts, made.id)
    assert found["plan"] == "not_checked" and found["result"] == found["verdict"] == found["data"] == "ok"
    # Imported again, as from an export.
    write(parts, metrics=sales(column="amount", agg="max"))
    assert set((await links(parts, made.id)).values()) == {"ok"}


async def test_a_metric_that_cannot_be_computed_is_refused(parts: Parts, shop: str) -> None:
    with pytest.raises(InvalidInput, match="does not fit"):
        write(parts, metrics=sales(column="kunde", agg="sum"))


async def test_a_catalog_goes_with_its_dataset(parts: Parts, shop: str, tmp_path: Path) -> None:
    write(parts, title="Ours")
    await parts.datasets.own.remove(shop)
    (tmp_path / "shop.csv").write_text("a,b\n1,2\n")
    again = await parts.datasets.add_own([tmp_path / "shop.csv"], dataset_id="shop")
    assert parts.datasets.get(again.record.id).title == "shop"
