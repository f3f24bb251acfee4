"""Shelves: what was asked for lately has sandboxes, and nothing on them is used twice or forgotten."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from sandtable.sandbox.job import DataRef, Job
from sandtable.sandbox.key import PresealKey
from sandtable.sandbox.shelves import Refills, Shelves
from sandtable.sandbox.wire import order_of


@dataclass(eq=False)
class _Sandbox:
    alive: bool = True
    disposed: bool = False

    def dispose(self) -> None:
        self.disposed = True


def _filled(*keys: str, most: int = 2) -> tuple[Shelves[str, _Sandbox], list[_Sandbox]]:
    shelves: Shelves[str, _Sandbox] = Shelves(most)
    sandboxes = [_Sandbox() for _ in keys]
    for key, sandbox in zip(keys, sandboxes, strict=True):
        shelves.expect(key)
        shelves.put(key, sandbox)
    return shelves, sandboxes


def test_each_is_handed_out_once() -> None:
    shelves, (first, second) = _filled("a", "a")
    assert {id(shelves.take("a")), id(shelves.take("a"))} == {id(first), id(second)}
    assert shelves.take("a") is None


def test_the_dead_are_cleared_away() -> None:
    shelves, (dead,) = _filled("a")
    dead.alive = False
    assert shelves.take("a") is None
    assert dead.disposed


def test_the_dead_are_replaced() -> None:
    shelves, (dead, living) = _filled("a", "a")
    dead.alive = False
    assert shelves.lacking("a", 2) == 1
    assert dead.disposed and not living.disposed


def test_the_kind_that_was_not_used_for_longest_is_given_up() -> None:
    shelves, (first, second, third) = _filled("a", "b", "c")
    assert (first.disposed, second.disposed, third.disposed) == (True, False, False)
    assert shelves.lacking("a", 2) == 0, "nobody would take from it"


def test_use_keeps_a_kind() -> None:
    shelves, (first, second) = _filled("a", "b")
    shelves.expect("a")
    shelves.expect("c")
    assert (first.disposed, second.disposed) == (False, True)


def test_one_for_a_kind_that_was_given_up_is_disposed_of() -> None:
    shelves, _ = _filled("a")
    late = _Sandbox()
    shelves.put("never asked for", late)
    assert late.disposed


def test_closing_disposes_of_all() -> None:
    shelves, sandboxes = _filled("a", "b")
    shelves.close()
    assert all(sandbox.disposed for sandbox in sandboxes)
    assert shelves.lacking("a", 1) == 0


def test_sandboxes_made_for_data_that_were_touched_since_are_given_up() -> None:
    def job(stamp: str, version: str = "sha256:a") -> Job:
        data = (DataRef(table="t", path="t.parquet", stamp=stamp),)
        return Job(id="j", mode="sql", dataset_version=version, data=data)

    shelves: Shelves[PresealKey, _Sandbox] = Shelves(8, PresealKey.outdates)
    before, other = _Sandbox(), _Sandbox()
    for key, sandbox in (
        (PresealKey.of(job("before")), before),
        (PresealKey.of(job("before", "sha256:b")), other),
    ):
        shelves.expect(key)
        shelves.put(key, sandbox)
    assert shelves.take(PresealKey.of(job("after"))) is None
    assert before.disposed and not other.disposed
    assert shelves.take(PresealKey.of(job("before", "sha256:b"))) is other


def test_the_stamp_of_a_file_stays_in_its_process() -> None:
    job = Job(id="j", mode="sql", data=(DataRef(table="t", path="t.parquet", stamp="1 2 3"),))
    assert "1 2 3" not in str(job.model_dump()) + str(order_of(job)) + job.model_dump_json()


async def test_filling_stops_at_the_target_or_when_none_can_be_made() -> None:
    shelves, (first,) = _filled("a")
    made: list[_Sandbox] = []

    async def make() -> _Sandbox | None:
        if len(made) == 3:
            return None
        made.append(_Sandbox())
        return made[-1]

    await shelves.fill("a", 3, make)
    assert (len(made), shelves.lacking("a", 3)) == (2, 0)
    await shelves.fill("a", 9, make)
    assert (len(made), shelves.lacking("a", 9)) == (3, 5)
    assert not any(sandbox.disposed for sandbox in (first, *made))


async def test_filling_ends_for_a_kind_that_was_given_up_meanwhile() -> None:
    shelves, _ = _filled("a", most=1)
    made: list[_Sandbox] = []

    async def make() -> _Sandbox:
        shelves.expect("b")
        made.append(_Sandbox())
        return made[-1]

    await shelves.fill("a", 5, make)
    assert [sandbox.disposed for sandbox in made] == [True]


async def test_one_task_refills_a_kind() -> None:
    refills: Refills[str] = Refills()
    begun: list[str] = []
    release = asyncio.Event()

    async def refill(key: str) -> None:
        begun.append(key)
        await release.wait()

    first = refills.start("a", lambda: refill("a"))
    assert refills.start("a", lambda: refill("a")) is first
    assert refills.start("b", lambda: refill("b")) is not first
    release.set()
    await refills.settle()
    assert sorted(begun) == ["a", "b"]
    assert refills.start("a", lambda: refill("a")) is not first
    await refills.settle()


async def test_refills_end_with_their_owner() -> None:
    refills: Refills[str] = Refills()
    task = refills.start("a", lambda: asyncio.sleep(3600))
    await refills.aclose()
    assert task.cancelled()
