"""Who gets what: every route and protocol × anonymous, another user, a team member, the owner, an administrator."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from fastapi import FastAPI

from tests.server.access.all_routes import routes
from tests.server.access.judging import NO_CATALOG, sent, tried
from tests.server.access.matrix import CASES, EXPECTED, HIDDEN, WHO, Case, Ids
from tests.server.access.world import World, peopled

of_one_world = pytest.mark.asyncio(loop_scope="module")

MISSING = {
    "dataset": "annas_fugires_9", "run": "run_019a83f0c1d2000000a1b2c3d4e5f607", "upload": "0" * 32,
    "thread_run": "run_019a83f0c1d2000000a1b2c3d4e5f608", "import": f"imp_{'0' * 32}", "thread": "no-thread",
    "file": f"file_{'0' * 32}", "database": "annas_bd_9", "turn": "00000000-0000-4000-8000-000000000000",
    "question": f"q_{'0' * 32}", "board": f"b_{'0' * 32}",
}  # fmt: skip


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    async with peopled(tmp_path_factory.mktemp("peopled")) as made:
        yield made


@of_one_world
async def test_every_route_is_in_the_matrix(world: World) -> None:
    assert {case.route for case in CASES} == routes(world.app)


def test_a_route_is_found_wherever_it_is_added() -> None:
    app, inner = FastAPI(openapi_url=None), FastAPI(openapi_url=None)

    async def nothing() -> None:
        return

    app.add_api_route("/new", nothing, methods=["GET", "DELETE"])
    app.add_api_websocket_route("/listen", nothing)
    app.mount("/inner", inner)
    assert routes(app) == {"GET /new", "DELETE /new", "WS /listen", "MOUNT /inner"}


@of_one_world
async def test_what_each_gets(world: World) -> None:
    wrong: list[str] = []
    for who in WHO[:3]:
        wrong += [text for case in CASES for text in await _tried(world, case, who)]
    await world.share(recipient="team", name="sales")
    wrong += [text for case in CASES for text in await _tried(world, case, "team, shared")]
    await world.let_edit("sales")
    for case in CASES:
        if "dataset" in case.rule:
            wrong += await _tried(world, case, "team, to edit")
    for who in WHO[5:]:
        for case in CASES:
            wrong += await _tried(world, case, who)
            if case.consumes:
                await world.make()
    assert not wrong, "\n".join(wrong)


@of_one_world
async def test_what_is_hidden_is_answered_as_what_is_not_there(world: World) -> None:
    ids = {**world.things.ids, "catalog_version": NO_CATALOG}
    different: list[str] = []
    for case in CASES:
        if EXPECTED[case.rule][1] != HIDDEN or case.method == "WS":
            continue
        hidden, missing = [await sent(world, case, "other", given) for given in (ids, {**ids, **MISSING})]
        same_words = _without(hidden.text, ids) == _without(missing.text, MISSING)
        if not same_words or hidden.status != missing.status:
            different.append(f"{case.route}: {hidden} {missing}")
    assert not different, "\n".join(different)


async def _tried(world: World, case: Case, who: str) -> list[str]:
    expected = EXPECTED[case.rule][WHO.index(who)]
    return await tried(world, case, who.partition(",")[0], expected, outsider=who in WHO[:3])


def _without(text: str, ids: Ids) -> str:
    said = json.loads(text)["error"]
    shown = json.dumps(said)
    for name, each in sorted(ids.items(), key=lambda pair: -len(pair[1])):
        shown = shown.replace(each, f"<{name.removeprefix('thread_')}>")
    return shown
