"""What is said of a MariaDB over REST: its kind, its words, and what it does not let a client name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.server.databases.conftest import Opens
from tests.server.databases.test_databases import copied
from tests.sources.conftest import SECRET
from tests.sources.mariadb import MariaDatabase, shop_server

pytestmark = pytest.mark.needs("mariadb", "userns")


@pytest.fixture(scope="module")
def mariadb() -> Iterator[MariaDatabase]:
    with shop_server() as made:
        made.execute(f"CREATE USER writer@'%' IDENTIFIED BY '{SECRET}'")
        made.execute("GRANT SELECT, UPDATE ON shop.* TO writer@'%'")
        yield made


def body(database: MariaDatabase, user: str = "reader", **more: Any) -> dict[str, Any]:
    url = f"mysql://{user}@127.0.0.1:{database.server.port}/shop"
    return {"url": url, "name": "shop", "password": SECRET, **more}


async def test_tables_become_a_dataset(mariadb: MariaDatabase, opens: Opens) -> None:
    client = await (await opens()).client()
    made = await client.post("/database", json=body(mariadb))
    assert made.status_code == 201, made.text
    assert (made.json()["kind"], made.json()["role"]) == ("mysql", "reader")
    done = await copied(client, tables=["orders", "customers"])
    assert (done["state"], done["dataset_id"]) == ("ready", "shop"), done
    dataset = (await client.get("/datasets/shop/schema")).json()
    assert {table["name"]: table["rows"] for table in dataset["tables"]} == {"orders": 1000, "customers": 40}


async def test_a_writer_is_refused_with_statements_for_this_kind(
    mariadb: MariaDatabase, opens: Opens
) -> None:
    client = await (await opens()).client()
    refused = await client.post("/database", json=body(mariadb, "writer"))
    assert refused.status_code == 422
    details = refused.json()["error"]["details"]
    assert details["role"] == "writer"
    assert details["grants"] == [
        "CREATE USER `shop_reader`@'%' IDENTIFIED BY '…';",
        "GRANT SELECT ON `shop`.* TO `shop_reader`@'%';",
    ]
    overruled = await client.post("/database", json=body(mariadb, "writer", allow_writer="writer"))
    assert overruled.status_code == 201, overruled.text


async def test_a_socket_of_the_server_cannot_be_named(mariadb: MariaDatabase, opens: Opens) -> None:
    client = await (await opens()).client()
    url = mariadb.path_url("reader").replace(f":{SECRET}", "")
    refused = await client.post("/database", json={"url": url, "name": "shop", "password": SECRET})
    assert refused.status_code == 422
    assert "Unix socket" in refused.json()["error"]["message"]
