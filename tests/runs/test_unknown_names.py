"""SQL with a column that its tables do not have, in the real sandbox: the error says where it is, or what it is."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from sandtable.assemble import Parts, assemble
from sandtable.capsule.query import SqlQuery
from sandtable.errors import Problem
from sandtable.runs.fixes import fixes_for
from sandtable.runs.model import RunRequest
from sandtable.runs.unknown_names import HELD_IN
from sandtable.settings import Settings

pytestmark = [pytest.mark.needs("userns"), pytest.mark.asyncio(loop_scope="module")]

ORDERS = "order_id,customer_id,revenue\n1,7,10.5\n2,8,20\n3,7,5\n4,9,7\n"
CUSTOMERS = "customer_id,name,city\n7,Ann,Berlin\n8,Bob,Cork\n9,Cy,Rome\n"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def parts(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Parts]:
    folder = tmp_path_factory.mktemp("files")
    for name, text in (("orders", ORDERS), ("customers", CUSTOMERS)):
        (folder / f"{name}.csv").write_text(text, encoding="utf-8")
    async with assemble(Settings(home=tmp_path_factory.mktemp("home"), standby=0, presealed=0)) as made:
        await made.datasets.add_files([folder / "orders.csv", folder / "customers.csv"])
        yield made


async def failed(parts: Parts, sql: str) -> tuple[Problem, list[str | None]]:
    """The error, and the corrections that are offered."""
    dataset = await parts.datasets.ready("orders")
    accepted = await parts.runs.submit(RunRequest(dataset_id=dataset.id, query=SqlQuery(sql)))
    run = await parts.runs.wait(accepted.id)
    assert run.status == "failed" and run.error is not None
    fixes = await fixes_for(parts.check, dataset, run, parts.rules_of(dataset))
    return run.error, [fix.text for fix in fixes]


async def test_the_table_that_has_the_column_is_named(parts: Parts) -> None:
    error, _ = await failed(parts, "SELECT city, sum(revenue) FROM orders GROUP BY 1")
    assert error.message == 'there is no column "city" in the tables of this query'
    assert error.suggestion.startswith(
        "Join `customers` by `orders.customer_id = customers.customer_id` to use `customers.city`."
    )


async def test_the_nearest_columns_are_named(parts: Parts) -> None:
    error, fixes = await failed(parts, "SELECT sum(revenu) FROM orders")
    assert "revenue" in error.suggestion and fixes == ["SELECT sum(revenue) FROM orders"]


@pytest.mark.parametrize("written", ['"Berlin"', "Berlin"])
async def test_a_value_in_place_of_a_name_is_recognised(parts: Parts, written: str) -> None:
    sql = f"SELECT name FROM customers WHERE city = {written}"
    error, fixes = await failed(parts, sql)
    assert error.suggestion == (
        "Write `Berlin`, which is a value of `customers.city`, in single quotes: `'Berlin'`."
    )
    assert error.details[HELD_IN] == ["customers.city"]
    assert fixes == [sql.replace(written, "'Berlin'")]


async def test_double_quotes_around_another_text(parts: Parts) -> None:
    error, fixes = await failed(parts, 'SELECT name FROM customers WHERE city IN ("Oslo")')
    assert error.suggestion == "Write a text in single quotes: `'Oslo'`. Double quotes are for names."
    assert HELD_IN not in error.details and fixes == ["SELECT name FROM customers WHERE city IN ('Oslo')"]
