"""A run whose record would be too large keeps less of it, and its capsule verifies."""

from __future__ import annotations

import json

import pytest

from sandtable.capsule import verify_code
from sandtable.capsule.bounds import PAYLOAD_BYTES, TOKENS
from sandtable.capsule.canonical import digest
from sandtable.capsule.verify_code import NOT_KEPT
from sandtable.errors import ErrorCode, InvalidInput
from sandtable.runs import draft
from sandtable.runs.desk import Runs
from sandtable.runs.model import LONGEST_PYTHON, LONGEST_SQL
from sandtable.sandbox.fake import Script
from tests.runs.cells import before, cell, script_cells
from tests.runs.test_code import capsule_of, ended, verified
from tests.runs.world import World, ask, code

MANY = {
    "id": "plot-1",
    "kind": "plot",
    "title": "",
    "format": "plotly",
    "figure": {"data": [{"y": [0] * (TOKENS // 3)}] * 2, "layout": {}},
}


def size_of(envelope: dict[str, str]) -> int:
    return len(envelope["payload"]) * 3 // 4


async def test_rows_and_charts_are_left_out_before_the_run_fails(runs: Runs, world: World) -> None:
    names = [("category", "VARCHAR"), *((f"n{n}" + "x" * 30_000, "DOUBLE") for n in range(66))]
    world.executor.on("SELECT wide;", Script(columns=names, rows=[("a", *[1.5] * 66), ("b", *[2.5] * 66)]))
    run = await ended(runs, ask("SELECT wide", chart=True, question="q" * 16_000))
    assert run.status == "succeeded" and run.rows is not None and len(run.rows) == 2
    assert size_of(await runs.capsule(run.id)) <= PAYLOAD_BYTES
    assert {status for status, _ in (await verified(world, runs, run)).values()} <= {"ok", "reading"}


async def test_artifacts_are_kept_by_their_digests_alone(runs: Runs, world: World) -> None:
    """Together they fit into their room, and hold more values than a capsule may."""
    world.executor.on("many", Script(columns=(), rows=(), output={"artifacts": [MANY]}))
    assert len(json.dumps(MANY)) > TOKENS * 2 // 3
    run = await ended(runs, code("many"))
    assert run.status == "succeeded"
    made = await capsule_of(runs, run)
    assert [record.artifact for record in made.artifacts] == [None]
    assert {status for status, _ in (await verified(world, runs, run)).values()} <= {"ok", "reading"}


async def test_a_run_that_cannot_be_recorded_at_all_fails_and_says_so(runs: Runs, world: World) -> None:
    columns = [(f"{n}{'x' * 200_000}", "BIGINT") for n in range(25)]
    world.executor.on("SELECT wider;", Script(columns=columns, rows=[(1,) * 25]))
    run = await ended(runs, ask("SELECT wider"))
    assert run.status == "failed" and run.error is not None
    assert run.error.code == ErrorCode.RUNNER_RESOURCE_EXCEEDED and "4 MiB" in run.error.message
    assert {status for status, _ in (await verified(world, runs, run)).values()} <= {"ok", "not_checked"}


async def test_more_earlier_cells_than_are_run_again_are_kept_by_their_digest(
    runs: Runs, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    script_cells(world)
    for module in (draft, verify_code):
        monkeypatch.setattr(module, "BEFORE_CELLS", 3)
    done = [await ended(runs, cell("a")) for _ in range(4)]
    assert len(await before(runs, done[3]) or ()) == 3
    assert {status for status, _ in (await verified(world, runs, done[3])).values()} <= {"ok", "reading"}
    run = await ended(runs, cell("b"))
    made = await capsule_of(runs, run)
    assert made.before is None
    assert made.digests.before == digest([{"python": "a", "interrupted": False}] * 4)
    assert (await verified(world, runs, run))["verdict"] == ("not_checked", NOT_KEPT)


@pytest.mark.parametrize("letter", ["x", "\x01"], ids=ascii)
async def test_a_text_that_no_capsule_could_hold_is_refused_at_the_door(runs: Runs, letter: str) -> None:
    each = len(json.dumps(letter)) - 2
    for name, most in (("sql", LONGEST_SQL), ("python", LONGEST_PYTHON)):
        longest = (most - 2) // each
        with pytest.raises(InvalidInput, match=f"`{name}` has .* bytes as JSON, more than {most:,}"):
            ask(**{"sql": None, name: letter * (longest + 1)})
        run = await ended(runs, ask(**{"sql": None, name: letter * longest}))
        assert run.status == "succeeded", run.error
        assert size_of(await runs.capsule(run.id)) <= PAYLOAD_BYTES
