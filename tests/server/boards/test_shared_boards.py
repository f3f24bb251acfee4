"""What a shared board shows, and what it does not give away."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from httpx import AsyncClient

from tests.server.access.world import World, peopled
from tests.server.boards.test_boards import board, kept, results, tile

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    async with peopled(tmp_path_factory.mktemp("boards")) as made:
        yield made


async def share(owner: AsyncClient, kind: str, thing: dict[str, Any], name: str, right: str = "see") -> None:
    body = {"recipient": "person", "name": name, "right": right}
    answer = await owner.put(f"/shares/{kind}/{thing['id']}", json=body)
    assert answer.status_code == 200, answer.text


async def test_a_shared_board_shows_its_questions_and_their_runs(world: World) -> None:
    async with world.client("owner") as anna, world.client("other") as bob:
        made = await kept(anna)
        shown = await board(anna, tile(made))
        run = f"/runs/{made['kept_run']}"
        assert (await bob.get(run)).status_code == 404
        await share(anna, "board", shown, "bob")
        assert shown["id"] in [each["id"] for each in (await bob.get("/boards")).json()]
        [result] = await results(bob, shown)
        assert result["run"]["rows"] == [[42]]
        assert (await bob.get(run)).status_code == 200
        # Bob's own run answers him, and Anna's tile goes on showing hers.
        ran = (await bob.post(f"/boards/{shown['id']}/tiles/t/run", json={})).json()
        assert ran["run"]["asked_by"]["name"] == "bob"
        assert (await results(anna, shown))[0]["run"]["run_id"] == made["kept_run"]
        await anna.delete(f"/shares/board/{shown['id']}?recipient=person&name=bob")
        assert (await bob.get(run)).status_code == 404
        assert (await bob.get(f"/questions/{made['id']}")).status_code == 404


async def test_an_editor_changes_a_board_and_does_not_delete_it(world: World) -> None:
    async with world.client("owner") as anna, world.client("other") as bob:
        shown = await board(anna)
        await share(anna, "board", shown, "bob", "edit")
        body = {"before": 1, "name": "Bob was here"}
        assert (await bob.put(f"/boards/{shown['id']}", json=body)).json()["right"] == "edit"
        assert (await bob.delete(f"/boards/{shown['id']}")).status_code == 403


async def test_nobody_gives_away_what_was_shared_with_them(world: World) -> None:
    async with world.client("owner") as anna, world.client("other") as bob, world.client("team") as carl:
        made = await kept(anna)
        await share(anna, "question", made, "bob")
        bobs = await board(bob, tile(made))
        await share(bob, "board", bobs, "carl")
        assert (await results(bob, bobs))[0]["missing"] == ""
        assert (await results(carl, bobs))[0]["missing"] == "question"
        assert (await carl.get(f"/runs/{made['kept_run']}")).status_code == 404


async def test_a_run_of_the_question_needs_the_dataset(world: World) -> None:
    async with world.client("owner") as anna, world.client("other") as bob:
        made = await kept(anna, sql="SELECT 3", dataset_id=world.things.ids["dataset"])
        await share(anna, "question", made, "bob")
        assert (await bob.get(f"/questions/{made['id']}")).status_code == 200
        assert (await bob.post(f"/questions/{made['id']}/run", json={})).status_code == 404
