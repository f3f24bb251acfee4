"""Cells of a session: what the gate knows when it judges them, and how they are verified."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from sandtable.capsule.bounds import BEFORE_BYTES
from sandtable.capsule.canonical import digest
from sandtable.capsule.verify_code import NOT_KEPT
from sandtable.catalog.model import Dataset
from sandtable.errors import ErrorCode
from sandtable.policy.verdict import Approved, Refused, Verdict
from sandtable.runs.code import seed_of
from sandtable.runs.desk import Runs
from tests.capsule.samples import VERSION
from tests.runs.cells import before, cell, script_cells
from tests.runs.test_code import capsule_of, ended, verified
from tests.runs.world import World


@pytest.fixture(autouse=True)
def _scripts(world: World) -> None:
    script_cells(world)


async def test_the_gate_knows_the_names_of_earlier_cells(world: World) -> None:
    heard: list[tuple[str, set[str]]] = []

    async def judge(text: str, dataset: Dataset, names: Collection[str]) -> Verdict:
        heard.append((text, set(names)))
        return Approved(text, tables=("orders",))

    async def bound(text: str) -> frozenset[str]:
        return frozenset({f"from_{text}"})

    parts = world.parts(judge_python=judge, bound_names=bound)
    async with world.opened(parts=parts) as runs:
        *_, run = [await ended(runs, cell(text, names={"n": "orders"})) for text in "abc"]
        expected = [("a", {"n"}), ("b", {"n", "from_a"}), ("c", {"n", "from_a", "from_b"})]
        assert heard == expected
        heard.clear()
        links = await verified(world, runs, run, judge_python=judge, bound_names=bound)
        assert {status for status, _ in links.values()} == {"ok"}, links
        assert heard == expected, "verified with the names that each of them found"


async def test_a_cell_is_verified_after_those_before_it(runs: Runs, world: World) -> None:
    for text in ("a", "fails"):
        await ended(runs, cell(text))
    run = await ended(runs, cell("b"))
    assert {status for status, _ in (await verified(world, runs, run)).values()} == {"ok"}
    [job] = world.executor.jobs
    assert (job.mode, job.text) == ("python", "b")
    assert job.options["before"] == [
        {"code": "a", "seed": seed_of("a", VERSION)},
        {"code": "fails", "seed": seed_of("fails", VERSION)},
    ]
    assert job.limits.wall_ms == 3 * run.limits.wall_ms


async def test_an_earlier_cell_that_reads_the_clock_cannot_be_compared(runs: Runs, world: World) -> None:
    await ended(runs, cell("datetime.now()"))
    links = await verified(world, runs, await ended(runs, cell("a")))
    why = "cell 1 of its session, on which it depends, uses datetime.now, whose value differs from run to run"
    assert links["result"] == ("not_checked", why)


async def test_an_earlier_cell_that_is_refused_now_is_not_run(runs: Runs, world: World) -> None:
    async def strict(text: str, dataset: Dataset, names: Collection[str]) -> Verdict:
        if text == "a":
            return Refused(ErrorCode.PYTHON_POLICY_VIOLATION, "a", "`a` is forbidden now", "Leave it out.")
        return Approved(text, tables=("orders",))

    await ended(runs, cell("a"))
    links = await verified(world, runs, await ended(runs, cell("b")), judge_python=strict)
    why = "cell 1 of its session, on which it depends, is not approved now: `a` is forbidden now"
    assert links["result"] == ("not_checked", why)
    assert world.executor.jobs == []


async def test_a_long_past_is_in_the_capsule_by_its_digest(runs: Runs, world: World) -> None:
    long = "#" * (BEFORE_BYTES // 2)
    _, second = [await ended(runs, cell(long)) for _ in range(2)]
    assert await before(runs, second) == [(long, False)]
    run = await ended(runs, cell("a"))
    made = await capsule_of(runs, run)
    assert made.before is None
    assert made.digests.before == digest([{"python": long, "interrupted": False}] * 2)
    links = await verified(world, runs, run)
    assert links["digests"][0] == "ok"
    assert links["verdict"] == ("not_checked", NOT_KEPT)
    assert links["result"][0] == "not_checked"
