"""Whose databases are, who may connect one, and what others learn of it."""

from __future__ import annotations

import pytest

from sandtable.assemble.sources import LoadedCopies
from sandtable.errors import NotFound
from sandtable.sources.records import SourceRecords
from tests.server.databases.conftest import Opens, Serving, body
from tests.server.databases.test_databases import copied
from tests.server.house import THIS_MACHINE
from tests.sources.conftest import Database

pytestmark = pytest.mark.needs("postgres", "userns")


async def test_a_database_and_its_dataset_belong_to_who_connected_it(
    database: Database, people: Serving
) -> None:
    anna, bob, olga = (
        await people.person("anna"),
        await people.person("bob"),
        await people.person("olga", "operators"),
    )
    assert (await anna.post("/database", json=body(database))).json()["owner"] == "anna"
    assert (await copied(anna, tables=["orders"], title="Secret shop"))["dataset_id"] == "shop"
    for path, method in (
        ("/database/shop", "GET"),
        ("/database/shop", "DELETE"),
        ("/database/shop/snapshot", "POST"),
    ):
        refused = await bob.request(method, path, json={"tables": ["orders"]} if method == "POST" else None)
        assert refused.status_code == 404 and "127.0.0.1" not in refused.text, refused.text
    assert (await bob.get("/database")).json()["databases"] == []
    assert (await bob.get("/datasets/shop")).status_code == 404
    # The name is taken by what Bob may not see.
    theirs = (await bob.post("/database", json=body(database))).json()
    assert (theirs["name"], theirs["dataset_id"], theirs["owner"]) == ("shop_2", None, "bob")
    assert (await copied(bob, "shop_2", tables=["customers"]))["dataset_id"] == "shop_2"
    assert (await bob.get("/datasets/shop_2")).json()["title"] == "shop_2"
    assert {d["name"] for d in (await olga.get("/database")).json()["databases"]} == {"shop", "shop_2"}
    # What an administrator copies again stays Anna's.
    assert (await copied(olga))["state"] == "ready"
    assert (await anna.get("/datasets/shop")).status_code == 200
    taken = await olga.post("/database", json=body(database))
    assert (taken.status_code, taken.json()["error"]["details"]["field"]) == (422, "name")
    # The same again is the same database; another dataset of one's own is not replaced.
    assert (await anna.post("/database", json=body(database))).json()["name"] == "shop"


async def test_only_administrators_choose_any_host(database: Database, opens: Opens) -> None:
    server = await opens(
        trusted_proxies=THIS_MACHINE,
        groups_header="X-Sandtable-Groups",
        admin_groups=("operators",),
        database_hosts=(".example.org", "db.test:5433"),
    )
    anna, olga = await server.person("anna"), await server.person("olga", "operators")
    refused = await anna.post("/database", json=body(database))
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "UNAUTHORIZED"), refused.text
    other = "postgresql://r@db.test/x"
    assert (await anna.post("/database", json={"url": other, "name": "shop"})).status_code == 403
    listed = await anna.post("/database", json={"url": other.replace("test", "test:5433"), "name": "shop"})
    assert listed.status_code == 422 and "cannot be reached" in listed.text, listed.text
    assert (await anna.get("/database")).json()["may_connect"] == "listed"
    assert (await olga.get("/database")).json()["may_connect"] == "any"
    assert (await olga.post("/database", json=body(database))).status_code == 201
    # Where the operator takes the host from the list, or she is no administrator any more.
    records = SourceRecords(server.home)
    records.write(records.get("shop").model_copy(update={"owner": "anna"}), None)
    assert (await anna.get("/database/shop")).status_code == 403
    assert (await anna.post("/database/shop/snapshot", json={"tables": ["orders"]})).status_code == 403
    assert (await anna.delete("/database/shop")).status_code == 204
    assert not SourceRecords(server.home).list()


async def test_one_of_the_command_line_is_an_administrators(database: Database, people: Serving) -> None:
    anna, olga = await people.person("anna"), await people.person("olga", "operators")
    assert (await olga.post("/database", json=body(database))).status_code == 201
    records = SourceRecords(people.home)
    made = records.get("shop")
    records.write(made.model_copy(update={"owner": ""}), records.password(made))
    assert (await anna.get("/database")).json()["databases"] == []
    assert (await anna.get("/database/shop")).status_code == 404
    assert (await olga.get("/database/shop")).status_code == 200
    # A person whom the proxy let through without a name owns nothing.
    nameless = await people.client(**{"X-Forwarded-For": "10.0.0.9"})
    assert (await nameless.post("/database", json=body(database, name="mine"))).status_code == 403


async def test_a_copy_that_was_ordered_of_another_owners_database_is_not_made(
    database: Database, people: Serving
) -> None:
    anna = await people.person("anna")
    assert (await anna.post("/database", json=body(database))).status_code == 201
    own, uploads = people.parts.datasets.own, people.parts.uploads
    copies = LoadedCopies(people.parts.settings, own, uploads)
    with pytest.raises(NotFound, match="no source"):
        async with copies.copied("shop", "bob", ["orders"], lambda *_: None):
            pass
    assert list(uploads.all()) == []


async def test_without_accounts_only_this_machine_connects(database: Database, opens: Opens) -> None:
    server = await opens(insecure=True)
    far, here = await server.client("192.168.1.9"), await server.client()
    assert (await far.post("/database", json=body(database))).status_code == 403
    assert (await here.post("/database", json=body(database))).status_code == 201
    assert (await far.get("/database/shop")).status_code == 403
