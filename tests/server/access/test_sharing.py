"""What people share, over REST, and what the log says of administrators."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from sandtable.accounts.asking import asking
from sandtable.errors import RunnerBroken
from tests.own_logs import logged
from tests.server.access.world import TUS, World, peopled
from tests.server.files.importing import SALES, imported

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    async with peopled(tmp_path_factory.mktemp("sharing")) as made:
        yield made


async def _status(world: World, who: str, path: str) -> int:
    async with world.client(who) as client:
        return (await client.get(path)).status_code


async def test_without_a_principal_nothing_is_shown(world: World) -> None:
    with pytest.raises(RunnerBroken, match="without an identity"):
        asking()
    with pytest.raises(RunnerBroken, match="without an identity"):
        world.app.state.parts.datasets.datasets()
    with pytest.raises(AttributeError, match="routes do not use `run_store`"):
        _ = world.app.state.parts.run_store


@pytest.mark.parametrize(
    ("recipient", "sees"),
    [
        ({"recipient": "person", "name": "bob"}, {"other"}),
        ({"recipient": "team", "name": "sales"}, {"team"}),
        ({"recipient": "everyone"}, {"anonymous", "other", "team"}),
    ],
)
async def test_a_share_begins_and_ends_at_once(
    world: World, recipient: dict[str, str], sees: set[str]
) -> None:
    ids = world.things.ids
    paths = [
        f"/langgraph/threads/{ids['thread']}",
        f"/runs/{ids['run']}",
        f"/runs/{ids['thread_run']}",
        f"/datasets/{ids['dataset']}",
    ]
    await world.share(**recipient)
    for who in ("anonymous", "other", "team"):
        expected = 200 if who in sees else 404
        assert [await _status(world, who, path) for path in paths] == [expected] * 4, who
    await world.unshare(**recipient)
    for who in ("anonymous", "other", "team"):
        assert [await _status(world, who, path) for path in paths] == [404] * 4, who


async def test_a_shared_thread_does_not_share_its_dataset(world: World) -> None:
    ids = world.things.ids
    async with world.client("owner") as anna, world.client("other") as bob:
        made = await anna.post("/runs?wait=10", json={"dataset_id": ids["dataset"], "sql": "SELECT 3"})
        run = made.json()["run_id"]
        await anna.put(f"/shares/run/{run}", json={"recipient": "person", "name": "bob"})
        assert (await bob.get(f"/runs/{run}")).status_code == 200
        assert (await bob.get(f"/datasets/{ids['dataset']}")).status_code == 404
        again = await bob.post("/runs", json={"dataset_id": ids["dataset"], "sql": "SELECT 3"})
        assert again.status_code == 404


async def test_those_it_is_shared_with_do_not_see_with_whom_else(world: World) -> None:
    path = f"/shares/thread/{world.things.ids['thread']}"
    async with world.client("owner") as anna, world.client("other") as bob:
        for name in ("bob", "carl"):
            await anna.put(path, json={"recipient": "person", "name": name})
        mine, his = (await anna.get(path)).json(), (await bob.get(path)).json()
        assert mine["may_share"] and [each["name"] for each in mine["shares"]] == ["bob", "carl"]
        assert (his["may_share"], his["owner"], his["shares"]) == (False, "anna", [])
        for name in ("bob", "carl"):
            await anna.delete(path, params={"recipient": "person", "name": name})


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("thread", {"recipient": "person"}),
        ("thread", {"recipient": "everyone", "name": "bob"}),
        ("thread", {"recipient": "person", "name": "bob", "right": "edit"}),
        ("thread", {"recipient": "person", "name": "anna"}),
        ("thread", {"recipient": "person", "name": "a b"}),
        ("thread", {"recipient": "nobody", "name": "bob"}),
    ],
)
async def test_what_makes_no_sense_is_refused(world: World, kind: str, body: dict[str, str]) -> None:
    async with world.client("owner") as anna:
        answer = await anna.put(f"/shares/{kind}/{world.things.ids[kind]}", json=body)
        assert answer.status_code == 422, answer.text


async def test_a_built_in_dataset_belongs_to_everyone_already(world: World) -> None:
    async with world.client("admin") as olga, world.client("owner") as anna:
        answer = await anna.put("/shares/dataset/shop", json={"recipient": "everyone"})
        assert (answer.status_code, "belongs to everyone here" in answer.text) == (422, True)
        body = {"fiscal_year_start": "april"}
        refused = await anna.put("/datasets/shop/catalog", json=body)
        assert (refused.status_code, "only an administrator" in refused.text) == (403, True)
        assert (await olga.put("/datasets/shop/catalog", json=body)).status_code == 200


async def test_a_file_of_the_same_name_is_a_dataset_of_ones_own(world: World) -> None:
    name = world.things.ids["dataset"]
    async with world.client("owner") as anna, world.client("other") as bob:
        before = (await anna.get(f"/datasets/{name}/reading")).json()
        other = SALES + b"2025-01-03,3\n"
        made = await imported(bob, (f"{name}.csv", other))
        assert made["dataset_id"] == f"{name}_2"
        assert name not in str(made["notes"]).replace(f"{name}_2", "")
        assert (await anna.get(f"/datasets/{name}/reading")).json() == before
        assert (await bob.delete(f"/datasets/{name}_2")).status_code == 204


async def test_a_removed_dataset_is_not_shared_when_its_name_returns(world: World) -> None:
    async with world.client("owner") as anna, world.client("other") as bob:
        await imported(anna, ("brief.csv", SALES))
        await anna.put("/shares/dataset/brief", json={"recipient": "person", "name": "bob"})
        assert (await bob.get("/datasets/brief")).status_code == 200
        assert (await anna.delete("/datasets/brief")).status_code == 204
        await imported(anna, ("brief.csv", SALES))
        assert (await bob.get("/datasets/brief")).status_code == 404


async def test_one_result_serves_two_people_without_naming_either_or_a_run(world: World) -> None:
    body = {"dataset_id": "shop", "sql": "SELECT 11", "question": "annas own words"}
    async with world.client("owner") as anna, world.client("other") as bob:
        first = (await anna.post("/runs?wait=10", json=body)).json()
        second = (await bob.post("/runs?wait=10", json={**body, "question": ""})).json()
        assert (second["cached_from"], second["rows"]) == ("hidden", first["rows"])
        assert (second["question"], second["asked_by"]["name"]) == ("", "bob")
        for path in ("/runs", f"/runs/{second['run_id']}", f"/runs/{second['run_id']}/capsule"):
            said = (await bob.get(path)).text
            assert first["run_id"] not in said and "annas own words" not in said, path
        assert (await bob.get(f"/runs/{first['run_id']}")).status_code == 404
        again = (await anna.post("/runs?wait=10", json=body)).json()
        assert again["cached_from"] == first["run_id"], "one's own is named"


async def test_a_shared_run_names_no_run_that_is_not_shared(world: World) -> None:
    """Over REST. Its capsule is what its owner signed and shared."""
    body = {"dataset_id": "shop", "sql": "SELECT 12"}
    async with world.client("owner") as anna, world.client("other") as bob:
        first, second = [(await anna.post("/runs?wait=10", json=body)).json()["run_id"] for _ in range(2)]

        async def named() -> list[str]:
            alone = (await bob.get(f"/runs/{second}")).json()
            waited = (await bob.get(f"/runs/{second}?wait=1")).json()
            listed = (await bob.get("/runs")).json()["runs"]
            [in_list] = [run for run in listed if run["run_id"] == second]
            return [run["cached_from"] for run in (alone, waited, in_list)]

        await anna.put(f"/shares/run/{second}", json={"recipient": "person", "name": "bob"})
        assert await named() == ["hidden"] * 3
        await anna.put(f"/shares/run/{first}", json={"recipient": "person", "name": "bob"})
        assert await named() == [first] * 3
    async with world.client("admin") as olga:
        assert (await olga.get(f"/runs/{second}")).json()["cached_from"] == first


async def test_equal_data_of_two_people_share_no_result(world: World) -> None:
    async with world.client("owner") as anna, world.client("other") as bob:
        runs: list[Any] = []
        for client, name in ((anna, "equal"), (bob, "alike")):
            await imported(client, (f"{name}.csv", SALES))
            world.house.world.datasets.current[name] = world.house.datasets.get(name)
            answer = await client.post("/runs?wait=10", json={"dataset_id": name, "sql": "SELECT 5"})
            runs.append(answer.json())
        assert [run["cached_from"] for run in runs] == [None, None]


async def test_an_upload_of_somebody_else_cannot_be_imported(world: World) -> None:
    async with world.client("owner") as anna, world.client("other") as bob:
        metadata = {"Upload-Length": "0", "Upload-Metadata": "filename YS5jc3Y="}
        begun = await anna.post("/uploads", headers={**TUS, **metadata})
        upload = begun.headers["location"].rpartition("/")[2]
        taken = await bob.post("/imports", json={"uploads": [upload]})
        assert (taken.status_code, taken.json()["error"]["code"]) == (404, "NOT_FOUND")


async def test_a_thread_that_somebody_else_has_cannot_be_taken(world: World) -> None:
    thread = world.things.ids["thread"]
    async with world.client("other") as bob:
        body = {"thread_id": thread, "if_exists": "do_nothing"}
        assert (await bob.post("/langgraph/threads", json=body)).status_code == 404
        turn = {
            "assistant_id": "shop",
            "input": {"messages": [{"type": "human", "content": "hm"}]},
            "if_not_exists": "create",
        }
        answer = await bob.post(f"/langgraph/threads/{thread}/runs/wait", json=turn)
        assert answer.status_code == 404


async def test_names_of_hidden_datasets_are_in_no_error(world: World) -> None:
    name = world.things.ids["dataset"]
    async with world.client("other") as bob:
        for answer in (
            await bob.get(f"/datasets/{name[:-1]}9"),
            await bob.post("/runs", json={"dataset_id": f"{name}x", "sql": "SELECT 1"}),
            await bob.post("/v2/query", json={"dataset_name": f"{name[:-1]}9", "query": "hm"}),
            await bob.post("/chat", json={"message": "hm"}),
            await bob.post("/imports", json={"text": "a\n1\n", "dataset_id": f"{name[:-1]}9"}),
        ):
            assert answer.status_code in (404, 422)
            said = answer.text.replace(f"{name}x", "")
            assert f"{name}" not in said, answer.text


async def test_an_administrators_looks_are_in_the_log(world: World) -> None:
    ids = world.things.ids
    with logged() as lines:
        async with world.client("admin") as olga, world.client("owner") as anna:
            await olga.get(f"/runs/{ids['run']}")
            await olga.get(f"/langgraph/threads/{ids['thread']}/state")
            await olga.get(f"/datasets/{ids['dataset']}")
            await olga.get("/runs")
            await anna.get(f"/runs/{ids['run']}")
    looks = [line for line in lines() if line["event"].startswith("admin_")]
    assert [(each["who"], each["kind"], each.get("whose")) for each in looks] == [
        ("olga", "run", "anna"),
        ("olga", "thread", "anna"),
        ("olga", "dataset", "anna"),
        ("olga", "run", None),
    ]
    assert [each["id"] for each in looks[:3]] == [ids["run"], ids["thread"], ids["dataset"]]


async def test_pages_of_runs_are_full(world: World) -> None:
    """What may not be seen is left out before pages are made."""
    async with world.client("owner") as anna, world.client("team") as carl:
        for number in range(3):
            for client in (anna, carl):
                sql = f"SELECT {100 + number}"
                await client.post("/runs?wait=10", json={"dataset_id": "shop", "sql": sql})
        page = (await carl.get("/runs", params={"limit": 2})).json()
        rest = (await carl.get("/runs", params={"limit": 2, "before": page["next"]})).json()
    assert (len(page["runs"]), len(rest["runs"]), rest["next"]) == (2, 1, None)
    assert {run["asked_by"]["name"] for run in page["runs"] + rest["runs"]} == {"carl"}
