"""Databases over REST, with a real PostgreSQL and real workers: connected, copied, refreshed, cancelled, forgotten."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from httpx import AsyncClient

from sandtable.sources.records import SourceRecords
from tests.own_logs import LogLines
from tests.server.databases.conftest import BIG, Opens, Serving, body
from tests.sources.conftest import SECRET, Database

pytestmark = pytest.mark.needs("postgres", "userns")


async def ended(client: AsyncClient, import_id: str, *states: str) -> dict[str, Any]:
    shown: dict[str, Any] = {}
    for _ in range(1200):
        shown = (await client.get(f"/imports/{import_id}")).json()
        if shown["state"] in (states or ("ready", "failed", "cancelled", "asks")):
            return shown
        await asyncio.sleep(0.05)
    raise AssertionError(shown)


async def far(client: AsyncClient, import_id: str) -> dict[str, Any]:
    """How far it has come when it has begun to copy."""
    for _ in range(1200):
        progress = (await client.get(f"/imports/{import_id}")).json()["progress"] or {}
        if progress.get("what") == "copying":
            return progress
        await asyncio.sleep(0.02)
    raise AssertionError(import_id)


async def copied(client: AsyncClient, name: str = "shop", **given: Any) -> dict[str, Any]:
    begun = await client.post(f"/database/{name}/snapshot", json=given)
    assert begun.status_code == 202, begun.text
    assert begun.headers["location"] == f"/imports/{begun.json()['id']}"
    return await ended(client, begun.json()["id"])


def keeps_the_secret(server: Serving, log_lines: LogLines, *answers: str) -> None:
    holding = [
        path for path in server.home.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()
    ]
    assert [path.name for path in holding if path.suffix != ".password"] == []
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in holding)
    assert SECRET not in json.dumps([*log_lines(), *answers])


async def test_tables_become_a_dataset_and_are_copied_again(
    database: Database, opens: Opens, log_lines: LogLines
) -> None:
    server = await opens()
    client = await server.client()
    made = await client.post("/database", json=body(database, schema="shop"))
    assert made.status_code == 201, made.text
    look = made.json()
    assert (look["name"], look["kind"], look["role"], look["overruled"]) == (
        "shop",
        "postgresql",
        "reader",
        [],
    )
    assert {t["name"]: (t["kind"], t["columns"]) for t in look["tables"]} == {
        "shop.customers": ("table", 3),
        "shop.orders": ("table", 4),
    }
    early = await client.post("/database/shop/snapshot", json={})
    assert (early.status_code, early.json()["error"]["details"]["field"]) == (422, "tables")

    first = await copied(client, tables=["shop.orders", "shop.customers"])
    assert (first["state"], first["dataset_id"], first["source"]) == ("ready", "shop", "shop"), first
    assert [(f["name"], f["bytes"] > 0) for f in first["files"]] == [
        ("shop.orders", True),
        ("shop.customers", True),
    ]
    run = {"dataset_id": "shop", "sql": "SELECT count(*) FROM orders JOIN customers ON buyer = id"}
    answer = (await client.post("/runs?wait=30", json=run)).json()
    assert (answer["status"], answer["rows"]) == ("succeeded", [[1000]]), answer

    again = await copied(client)
    assert (again["version"], again["notes"][0]) == (first["version"], "The data are the same as before.")
    database.execute("INSERT INTO shop.orders VALUES (5000, 1, 7.5, now())")
    newer = await copied(client)
    assert newer["version"] != first["version"] and newer["changes"], newer
    assert [f["name"] for f in newer["files"]] == ["shop.orders", "shop.customers"]

    listed = (await client.get("/database")).json()
    assert (listed["may_connect"], listed["hosts"]) == ("any", [])
    assert [(d["name"], d["dataset_id"], bool(d["copied_at"])) for d in listed["databases"]] == [
        ("shop", "shop", True)
    ]
    looked = await client.get("/database/shop")
    assert looked.json()["tables"] == look["tables"], looked.text
    keeps_the_secret(server, log_lines, made.text, looked.text, json.dumps([first, again, newer, listed]))
    assert list(server.home.rglob("*.password")) != []

    assert (await client.delete("/database/shop")).status_code == 204
    assert (await client.get("/database/shop")).status_code == 404
    assert (await client.get("/database")).json()["databases"] == []
    assert list(server.home.rglob("*.password")) == []
    assert (await client.get("/datasets/shop")).status_code == 200


async def test_a_role_that_can_write_is_refused_until_a_person_names_it(
    database: Database, opens: Opens, log_lines: LogLines
) -> None:
    server = await opens()
    client = await server.client()
    given = body(database, "writer")
    refused = await client.post("/database", json=given)
    problem = refused.json()["error"]
    assert (refused.status_code, problem["details"]["role"]) == (422, "writer")
    assert any("can change" in reason for reason in problem["details"]["reasons"])
    assert any(grant.startswith("GRANT SELECT") for grant in problem["details"]["grants"])
    assert "allow_writer" in problem["suggestion"] and "--" not in problem["suggestion"]
    other = await client.post("/database", json={**given, "allow_writer": "reader"})
    assert other.status_code == 422
    assert (await client.get("/database")).json()["databases"] == []
    made = await client.post("/database", json={**given, "allow_writer": "writer"})
    assert made.status_code == 201 and made.json()["overruled"], made.text
    assert (await copied(client, tables=["orders"]))["state"] == "ready"
    keeps_the_secret(server, log_lines, refused.text, other.text, made.text)


async def test_a_role_that_can_write_by_now_is_not_used(database: Database, opens: Opens) -> None:
    database.execute(f"CREATE ROLE growing LOGIN PASSWORD '{SECRET}'")
    database.execute("GRANT USAGE ON SCHEMA shop TO growing; GRANT SELECT ON shop.orders TO growing")
    client = await (await opens()).client()
    assert (await client.post("/database", json=body(database, "growing"))).status_code == 201
    assert (await copied(client, tables=["orders"]))["state"] == "ready"
    database.execute("GRANT DELETE ON shop.orders TO growing")
    failed = await copied(client)
    assert (failed["state"], failed["problem"]["details"]["role"]) == ("failed", "growing"), failed
    assert "allow_writer" in failed["problem"]["suggestion"] and "--" not in failed["problem"]["suggestion"]
    assert (await client.get("/database/shop")).status_code == 422


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        pytest.param({"url": "postgresql://r@/db?host=%2Fvar%2Frun%2Fpostgresql"}, "url", id="a-socket"),
        pytest.param({"url": "postgresql://r@db.test/db?sslrootcert=/etc/passwd"}, "url", id="a-file"),
        pytest.param({"url": f"postgresql://r:{SECRET}@db.test/db"}, "password", id="two-passwords"),
        pytest.param({"password_env": "HOME"}, "password_env", id="a-variable"),
        pytest.param({"name": "../shop"}, "name", id="a-path"),
        pytest.param({"password": [SECRET]}, "password", id="no-text"),
        pytest.param({"name": "ecommerce"}, "name", id="a-built-in-dataset"),
    ],
)
async def test_what_a_client_may_not_name(
    database: Database, opens: Opens, log_lines: LogLines, changes: dict[str, Any], field: str
) -> None:
    server = await opens()
    client = await server.client()
    refused = await client.post("/database", json=body(database, **changes))
    details = refused.json()["error"]["details"]
    named = details.get("field") or details["errors"][0]["field"]
    assert (refused.status_code, named) == (422, field), refused.text
    assert not SourceRecords(server.home).list()
    keeps_the_secret(server, log_lines, refused.text)


async def test_a_wrong_password_is_said_and_not_shown(
    database: Database, opens: Opens, log_lines: LogLines
) -> None:
    server = await opens()
    client = await server.client()
    wrong = {**body(database), "password": "not-" + SECRET}
    refused = await client.post("/database", json=wrong)
    assert refused.status_code == 422 and "authentication failed" in refused.text, refused.text
    inside = {**body(database), "url": body(database)["url"].replace("@", f":x{SECRET}@", 1)}
    del inside["password"]
    assert (await client.post("/database", json=inside)).status_code == 422
    keeps_the_secret(server, log_lines, refused.text)


async def test_a_copy_is_cancelled_and_leaves_nothing(database: Database, opens: Opens) -> None:
    database.execute(BIG)
    server = await opens()
    client = await server.client()
    assert (await client.post("/database", json=body(database))).status_code == 201
    begun = (await client.post("/database/shop/snapshot", json={"tables": ["shop.big"]})).json()
    assert (begun["state"], begun["files"]) == ("reading", [{"name": "shop.big", "bytes": 0}])
    second = await client.post("/database/shop/snapshot", json={"tables": ["shop.orders"]})
    assert (second.status_code, "being copied already" in second.text) == (422, True)
    assert (await far(client, begun["id"]))["done"] > 0
    assert (await client.delete(f"/imports/{begun['id']}")).status_code == 204
    assert (await ended(client, begun["id"]))["state"] == "cancelled"
    assert list(server.parts.uploads.all()) == []
    assert (await client.get("/datasets/shop")).status_code == 404
    assert (await copied(client, tables=["orders"]))["state"] == "ready"
