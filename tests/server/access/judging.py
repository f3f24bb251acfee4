"""One request of the matrix: sent by somebody, and judged by what came back."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from tests.server.access.matrix import ALLOWED, HIDDEN, REFUSED, Case, Ids
from tests.server.access.world import SECRET, World

ANSWERED = "answered"
"""Expected where a request is only not to be refused: what comes of it is another test's."""
NO_CATALOG = f"sha256:{'0' * 64}"


@dataclass(frozen=True)
class Answer:
    status: int
    text: str

    @property
    def outcome(self) -> str:
        return REFUSED if self.status in (401, 403) else HIDDEN if self.status in (404, 4404) else ALLOWED

    @property
    def broke(self) -> bool:
        # The scripted sandbox writes no Parquet file.
        return self.status in (500, 1011) and "no Parquet file" not in self.text


async def sent(world: World, case: Case, who: str, ids: Ids) -> Answer:
    if case.method == "WS":
        return Answer(await world.listens(who, case.address(ids)), "")
    given: dict[str, Any] = {} if case.body is None else {"json": case.body(ids)}
    async with world.client(who) as client:
        answer = await client.request(
            case.method, case.address(ids), headers=dict(case.headers), content=case.content, **given
        )
    return Answer(answer.status_code, answer.text)


async def ids_for(world: World, case: Case, *, allowed: bool) -> Ids:
    """Anna's things, with what an allowed request needs to find."""
    ids = {**world.things.ids, "catalog_version": NO_CATALOG}
    async with world.client("owner") as anna:
        if "catalog/restore" in case.route or "PATCH /datasets/{dataset_id}/catalog" in case.route:
            catalog = (await anna.get(f"/datasets/{ids['dataset']}/catalog")).json()
            ids["catalog_version"] = catalog["catalog_version"]
        if case.method == "DELETE" and "/shares" in case.route and allowed:
            address = case.address(ids).partition("?")[0]
            await anna.put(address, json={"recipient": "person", "name": "dora"})
    return ids


async def tried(world: World, case: Case, who: str, expected: str, *, outsider: bool) -> list[str]:
    """What is wrong with the answer. An outsider is one with whom nothing is shared."""
    ids = await ids_for(world, case, allowed=expected == ALLOWED)
    answer = await sent(world, case, who, ids)
    got = answer.outcome
    if "/chat/{path" in case.route and got == HIDDEN:
        # Not built here: nobody gets the file.
        got = ALLOWED
    said = f"{who}: {case.method} {case.address(ids)}: {answer.status}"
    wrong: list[str] = []
    as_expected = got != REFUSED if expected == ANSWERED else got == expected
    if not as_expected or answer.broke:
        wrong.append(f"{said}, expected {expected}: {answer.text[:200]}")
    if outsider:
        leaked = leaks(world, case, ids, answer)
        wrong += [f"{said} says {leaked}: {answer.text[:200]}"] if leaked else []
    elif case.lists and expected == ALLOWED and ids[case.lists] not in answer.text:
        wrong.append(f"{said} lacks the {case.lists}")
    return wrong


def leaks(world: World, case: Case, ids: Ids, answer: Answer) -> list[str]:
    """Anna's ids and words that the answer holds and the request did not."""
    asked = case.address(ids) + json.dumps(case.body(ids) if case.body else "")
    return [
        each for each in (*world.things.ids.values(), SECRET) if each in answer.text and each not in asked
    ]
