"""Who gets what: every route and protocol × anonymous, another user, a team member, the owner, an administrator."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from tests.server.access.matrix import ALLOWED, CASES, EXPECTED, HIDDEN, REFUSED, WHO, Case, Ids, routes
from tests.server.access.world import SECRET, World, peopled

of_one_world = pytest.mark.asyncio(loop_scope="module")

MISSING = {
    "dataset": "annas_fugires_9", "run": "run_019a83f0c1d2000000a1b2c3d4e5f607", "upload": "0" * 32,
    "thread_run": "run_019a83f0c1d2000000a1b2c3d4e5f608", "import": f"imp_{'0' * 32}", "thread": "no-thread",
    "file": f"file_{'0' * 32}", "turn": "00000000-0000-4000-8000-000000000000",
}  # fmt: skip


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    async with peopled(tmp_path_factory.mktemp("peopled")) as made:
        yield made


def test_every_route_is_in_the_matrix() -> None:
    assert {case.route for case in CASES} == routes()


@of_one_world
async def test_what_each_gets(world: World) -> None:
    wrong: list[str] = []
    for who in WHO[:3]:
        wrong += [text for case in CASES for text in await _tried(world, case, who)]
    await world.share(recipient="team", name="sales")
    wrong += [text for case in CASES for text in await _tried(world, case, "team, shared")]
    dataset = world.things.ids["dataset"]
    async with world.client("owner") as anna:
        body = {"recipient": "team", "name": "sales", "right": "edit"}
        assert (await anna.put(f"/shares/dataset/{dataset}", json=body)).status_code == 200
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
    ids = {**world.things.ids, "catalog_version": f"sha256:{'0' * 64}"}
    different: list[str] = []
    for case in CASES:
        if EXPECTED[case.rule][1] != HIDDEN or case.method == "WS":
            continue
        hidden, missing = [await _sent(world, case, "other", given) for given in (ids, {**ids, **MISSING})]
        if _without(hidden[1], ids) != _without(missing[1], MISSING) or hidden[0] != missing[0]:
            different.append(f"{case.route}: {hidden} {missing}")
    assert not different, "\n".join(different)


async def _tried(world: World, case: Case, who: str) -> list[str]:
    """What is wrong with the answer."""
    expected = EXPECTED[case.rule][WHO.index(who)]
    ids = {**world.things.ids, "catalog_version": f"sha256:{'0' * 64}"}
    if "catalog/restore" in case.route or "PATCH /datasets/{dataset_id}/catalog" in case.route:
        async with world.client("owner") as anna:
            catalog = (await anna.get(f"/datasets/{ids['dataset']}/catalog")).json()
            ids["catalog_version"] = catalog["catalog_version"]
    if case.method == "DELETE" and "/shares" in case.route and expected == ALLOWED:
        async with world.client("owner") as anna:
            address = case.address(ids).partition("?")[0]
            await anna.put(address, json={"recipient": "person", "name": "dora"})
    status, text = await _sent(world, case, who, ids)
    wrong: list[str] = []
    got = REFUSED if status in (401, 403) else HIDDEN if status in (404, 4404) else ALLOWED
    if "/chat/{path" in case.route:
        # Not built here: nobody gets the file.
        got = ALLOWED if got == HIDDEN else got
    # The scripted sandbox writes no Parquet file.
    broken = status in (500, 1011) and "no Parquet file" not in text
    if got != expected or broken:
        wrong.append(f"{who}: {case.method} {case.address(ids)}: {status}, expected {expected}: {text[:200]}")
    if who in WHO[:3]:
        named = [*world.things.ids.values(), SECRET]
        asked = case.address(ids) + json.dumps(case.body(ids) if case.body else "")
        leaked = [each for each in named if each in text and each not in asked]
        wrong += [f"{who}: {case.route} says {leaked}: {text[:200]}"] if leaked else []
    elif case.lists and ids[case.lists] not in text:
        wrong.append(f"{who}: {case.route} lacks the {case.lists}")
    return wrong


async def _sent(world: World, case: Case, who: str, ids: Ids) -> tuple[int, str]:
    person = who.partition(",")[0]
    if case.method == "WS":
        return await world.listens(person, case.address(ids)), ""
    given: dict[str, Any] = {} if case.body is None else {"json": case.body(ids)}
    async with world.client(person) as client:
        answer = await client.request(
            case.method, case.address(ids), headers=dict(case.headers), content=case.content, **given
        )
    return answer.status_code, answer.text


def _without(text: str, ids: Ids) -> str:
    said = json.loads(text)["error"]
    shown = json.dumps(said)
    for name, each in sorted(ids.items(), key=lambda pair: -len(pair[1])):
        shown = shown.replace(each, f"<{name.removeprefix('thread_')}>")
    return shown
