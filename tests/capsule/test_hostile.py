"""Hostile capsules against `verify` itself: the right link is broken, and no one's text is judged or run for a liar."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from sandtable.assemble.compiling import compile_checked
from sandtable.capsule.report import VerifyReport
from sandtable.capsule.verify import Rederive, verify
from sandtable.catalog.model import Dataset
from sandtable.errors import NotFound
from tests.capsule.forging import Ground
from tests.capsule.hostile import CORPUS, NOTHING, Hostile
from tests.capsule.samples import SHOP, world

STEPS = ("dataset", "rehash", "compile", "judge", "judge_python", "run", "draw")
UNREADABLE = ("413", "422")
NOT_IN_ORDER = ("envelope", "signature", "signer", "digests", *UNREADABLE)


def broken(report: VerifyReport) -> list[str]:
    return [link.name for link in report.links if link.status == "broken"]


def counted() -> tuple[Rederive, Counter[str]]:
    """A world in which every step that is taken counts."""
    calls: Counter[str] = Counter()

    def compiled(plan: dict[str, Any], dataset: Dataset, rows: int) -> str:
        return compile_checked(plan, dataset, rows).sql

    async def dataset(dataset_id: str, version: str, catalog_version: str | None) -> Dataset:
        if version != SHOP.version:
            raise NotFound("no such version here")
        return SHOP

    honest = world(compile=compiled, dataset=dataset)

    def counting(name: str) -> Any:
        def call(*given: Any) -> Any:
            calls[name] += 1
            return getattr(honest, name)(*given)

        return call

    return Rederive(keys=honest.keys, **{name: counting(name) for name in STEPS}), calls


@pytest.mark.parametrize("hostile", [pytest.param(one, id=name) for name, one in CORPUS.items()])
async def test_the_right_link_is_broken_and_nothing_is_done_for_a_liar(hostile: Hostile) -> None:
    parts, calls = counted()
    report = await verify(hostile.make(Ground()), parts)
    link = "envelope" if hostile.expected in UNREADABLE else hostile.expected
    assert broken(report) == ([] if link == NOTHING else [link]), report
    assert all(len(one.detail) < 1000 for one in report.links)
    if hostile.expected in NOT_IN_ORDER:
        assert not calls
        assert {one.status for one in report.links[4:]} == {"not_checked"}


async def test_an_honest_one_is_derived_again() -> None:
    """Else nothing above would mean anything."""
    parts, calls = counted()
    assert (await verify(CORPUS["unknown key: a capsule like any other"].make(Ground()), parts)).keyid
    assert not calls
    honest = CORPUS["right key: rows without a limit"].make(Ground())
    assert (await verify(honest, parts)).ok
    assert calls == {"dataset": 1, "rehash": 1, "judge": 1, "run": 1}


def test_there_are_many() -> None:
    assert len(CORPUS) >= 100
    assert sum(hostile.expected == "signer" for hostile in CORPUS.values()) >= 15
