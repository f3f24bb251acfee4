"""The shelves: what is on them is alive, what leaves them is disposed of, whatever happens meanwhile."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from sandtable.sandbox.job import Job, Limits
from sandtable.sandbox.key import PresealKey
from sandtable.sandbox.local import pool as pool_module
from sandtable.sandbox.local.executor import LocalExecutor
from sandtable.sandbox.local.pool import Pool
from sandtable.sandbox.local.sandbox import Garbled


class _Sandbox:
    def __init__(self, template: _Template) -> None:
        self._template = template
        self.alive = True
        self.disposed = False

    async def receive(self, limit: int) -> dict[str, Any]:
        await self._template.ready.wait()
        if self._template.garbled:
            raise Garbled("nothing came")
        return {"ready": True}

    def dispose(self) -> None:
        self.disposed = True
        self.alive = False


class _Template:
    alive = True

    def __init__(self) -> None:
        self.ready = asyncio.Event()
        self.ready.set()
        self.garbled = False
        self.made: list[_Sandbox] = []

    def spawn(self, order: dict[str, Any]) -> _Sandbox:
        self.made.append(_Sandbox(self))
        return self.made[-1]

    @property
    def kept(self) -> int:
        return sum(not sandbox.disposed for sandbox in self.made)


def _job(number: int = 0) -> Job:
    return Job(id=str(number), mode="sql", limits=Limits(memory_mb=64 + number))


def _pool(template: _Template) -> Pool:
    return Pool(template, standby=2, presealed=2)  # pyright: ignore[reportArgumentType] a double


async def test_shelves_are_filled_to_their_targets() -> None:
    template = _Template()
    pool = _pool(template)
    pool.expect(PresealKey.of(_job()))
    await pool.refill(_job())
    await pool.refill(_job())
    assert template.kept == 4
    assert [pool.take(_job())[1] for _ in range(5)] == ["presealed"] * 2 + ["standby"] * 2 + ["fresh"]


async def test_the_dead_are_not_handed_out() -> None:
    template = _Template()
    pool = _pool(template)
    pool.expect(PresealKey.of(_job()))
    await pool.refill(_job())
    for sandbox in template.made:
        sandbox.alive = False
    assert pool.take(_job())[1] == "fresh"


async def test_a_key_that_is_given_up_gives_its_sandboxes_up() -> None:
    template = _Template()
    pool = _pool(template)
    for number in range(20):
        pool.expect(PresealKey.of(_job(number)))
        await pool.refill(_job(number))
    assert template.kept <= 8 * 2 + 2


async def test_a_key_given_up_during_its_refill_leaves_nothing() -> None:
    template = _Template()
    pool = _pool(template)
    pool.expect(PresealKey.of(_job()))
    template.ready.clear()
    refill = asyncio.create_task(pool.refill(_job()))
    await asyncio.sleep(0)
    for number in range(1, 12):
        pool.expect(PresealKey.of(_job(number)))
    template.ready.set()
    await refill
    assert template.kept == 2, "only the standbys can still be taken"


@pytest.mark.parametrize("end", ["close", "cancel", "garble"])
async def test_whatever_ends_a_refill_nothing_is_left(end: str) -> None:
    template = _Template()
    pool = _pool(template)
    pool.expect(PresealKey.of(_job()))
    template.ready.clear()
    refill = asyncio.create_task(pool.refill(_job()))
    await asyncio.sleep(0)
    if end == "cancel":
        refill.cancel()
    template.garbled = end == "garble"
    template.alive = False
    pool.close()
    template.ready.set()
    await asyncio.gather(refill, return_exceptions=True)
    assert template.made
    assert template.kept == 0


async def test_a_sandbox_that_never_gets_ready_does_not_block_the_shelves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pool_module, "_READY_S", 0.01)
    template = _Template()
    template.ready.clear()
    pool = _pool(template)
    pool.expect(PresealKey.of(_job()))
    async with asyncio.timeout(15):
        await pool.refill(_job())
    assert template.kept == 0


async def test_what_is_taken_during_a_refill_is_replaced_too(tmp_path: Path) -> None:
    executor = LocalExecutor(tmp_path)

    class Busy:
        refills = 0

        async def refill(self, job: Job) -> None:
            self.refills += 1
            if self.refills == 1:
                executor._refill(pool, job)  # pyright: ignore[reportArgumentType] a double

    pool = Busy()
    executor._refill(pool, _job())  # pyright: ignore[reportArgumentType] a double
    await executor.settle()
    assert pool.refills == 2
