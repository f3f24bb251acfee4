"""Questions over several files, in the real sandbox: which are linked, what is answered, and what of it is kept."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from sandtable.assemble import Parts, assemble
from sandtable.capsule.query import PlanQuery, SqlQuery
from sandtable.catalog.model import Dataset
from sandtable.catalog.reading import ingest
from sandtable.catalog.reading.originals import originals
from sandtable.runs.model import Run, RunRequest
from sandtable.settings import Settings

pytestmark = [pytest.mark.needs("userns"), pytest.mark.asyncio(loop_scope="module")]

ORDERS = "order_id,customer_id,revenue\n1,7,10.5\n2,8,20\n3,7,5\n4,,7\n"
CUSTOMERS = "customer_id,name,city\n7,Ann,Bonn\n8,Bob,Cork\n9,Cy,Rome\n"
BARE = CUSTOMERS.replace("customer_id", "id")
BY_CITY = {
    "table": "orders",
    "select": [{"column": "customers.city"}, {"agg": "sum", "column": "revenue", "as": "total"}],
    "group_by": ["customers.city"],
    "order_by": [{"expr": "total", "dir": "desc"}],
}
TOTALS = (("Cork", 20), ("Bonn", 15.5), (None, 7))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def parts(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Parts]:
    async with assemble(Settings(home=tmp_path_factory.mktemp("home"), standby=0, presealed=0)) as made:
        yield made


def files(folder: Path, **texts: str) -> list[Path]:
    paths = [folder / f"{name}.csv" for name in texts]
    for path, text in zip(paths, texts.values(), strict=True):
        path.write_text(text, encoding="utf-8")
    return paths


async def linked(parts: Parts, folder: Path, **texts: str) -> list[str]:
    dataset = await parts.datasets.add_files(files(folder, **texts))
    return [f"{r.many_table}.{r.many_column} {r.one_table}.{r.one_column}" for r in dataset.relationships]


async def run(parts: Parts, dataset: Dataset) -> Run:
    request = RunRequest(dataset_id=dataset.id, query=PlanQuery({"dataset_id": dataset.id, **BY_CITY}))
    return await parts.runs.wait((await parts.runs.submit(request)).id)


async def states(parts: Parts, run_id: str) -> dict[str, str]:
    report = await parts.verify(await parts.runs.capsule(run_id))
    return {link.name: link.status for link in report.links}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param({}, ["orders.customer_id customers.customer_id"], id="complete"),
        pytest.param({"orders": ORDERS + "5,99,1\n"}, [], id="one row does not match"),
        pytest.param({"customers": CUSTOMERS + "7,Di,Oslo\n"}, [], id="not unique"),
        pytest.param({"customers": CUSTOMERS + ",Di,Oslo\n"}, [], id="a null in the key"),
        pytest.param({"customers": CUSTOMERS.replace("7,", "7.5,")}, [], id="floats"),
        pytest.param({"customers": CUSTOMERS.replace("7,", "x7,")}, [], id="a text and an integer"),
        pytest.param({"orders": ORDERS.replace("customer_id", "buyer_id")}, [], id="names differ"),
        pytest.param({"customers": BARE}, ["orders.customer_id customers.id"], id="bare"),
        pytest.param(
            {"customers": BARE, "orders": ORDERS.replace("customer_id", "CustomerId")},
            ["orders.CustomerId customers.id"],
            id="camel case",
        ),
        pytest.param(
            {"items": "order_id,sku\n1,'x y\n1,b\n3,'x y\n", "products": "sku,price\n'x y,1\nb,2\nc,3\n"},
            ["items.order_id orders.order_id", "items.sku products.sku", "orders.customer_id customers.customer_id"],
            id="four tables",
        ),
    ],
)  # fmt: skip
async def test_links_by_what_the_files_hold(
    parts: Parts, tmp_path: Path, changes: dict[str, str], expected: list[str]
) -> None:
    assert await linked(parts, tmp_path, **{"orders": ORDERS, "customers": CUSTOMERS, **changes}) == expected


async def test_a_plan_over_two_files_is_answered_and_verified_elsewhere(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home", standby=0, presealed=0)
    paths = files(tmp_path, orders=ORDERS, customers=CUSTOMERS)
    async with assemble(settings) as parts:
        dataset = await parts.datasets.add_files(paths)
        done = await run(parts, dataset)
        assert done.rows == TOTALS
    async with assemble(settings) as parts:
        # Here nobody has added the files: what is known of them is what lies with the version.
        assert (
            await parts.datasets.version("orders", dataset.version)
        ).relationships == dataset.relationships
        found = await states(parts, done.id)
        assert (found["plan"], found["result"]) == ("ok", "ok")


async def test_a_version_from_before_gets_its_links_and_its_capsules_stay_true(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = files(tmp_path, orders=ORDERS, customers=CUSTOMERS)
    async with assemble(Settings(home=tmp_path / "home", standby=0, presealed=0)) as parts:
        with monkeypatch.context() as before:
            before.setattr(ingest, "_LINKS_FORMAT", 0)
            before.setattr(ingest, "candidates", lambda *_: ())
            old = await parts.datasets.add_files(paths)
        request = RunRequest(dataset_id=old.id, query=SqlQuery("SELECT count(*) AS n FROM orders"))
        counted = await parts.runs.wait((await parts.runs.submit(request)).id)
        assert (await run(parts, old)).status == "rejected"
        new = await parts.datasets.add_files(paths)
        assert (new.version, len(new.relationships)) == (old.version, 1)
        assert (await run(parts, new)).rows == TOTALS
        assert (await states(parts, counted.id))["result"] == "ok"


@pytest.mark.parametrize("name", ["ecommerce", "sensors"])
async def test_the_files_of_a_built_in_dataset_are_linked_as_its_registry_declares(
    parts: Parts, tmp_path: Path, name: str
) -> None:
    declared = parts.datasets.catalog.get(name)
    assert parts.datasets.catalog.folder is not None
    async with originals(declared, parts.datasets.catalog.folder, tmp_path) as sources:
        dataset = await parts.datasets.add_files(list(sources.values()))
    assert set(dataset.relationships) == set(declared.relationships)
