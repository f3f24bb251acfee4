"""A parser serves one text, or the texts of one person; never those of two."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

from sandtable.catalog.registry import load_catalog, registry_folder
from sandtable.engines.duckdb.rules import RULES
from sandtable.engines.duckdb.types import column_type
from sandtable.errors import RunnerBroken, SandboxUnavailable
from sandtable.policy.verdict import Approved
from sandtable.sandbox.gate import Gate
from sandtable.sandbox.local.executor import LocalExecutor
from tests.sandbox.local.processes import family, gone
from tests.sandbox.stores import Store, sql_job

DATASET = load_catalog(registry_folder(), column_type).get("ecommerce")
SQL = "SELECT count(*) FROM orders"


async def _lasting(executor: LocalExecutor, before: set[int]) -> set[int]:
    """Processes that came after `before` and stay."""
    await executor.settle()
    await asyncio.sleep(0.1)
    return family((await executor.start()).pid) - before


@pytest.mark.parametrize("one_person", [True, False], ids=["one person", "many"])
async def test_a_parser_stays_for_one_person_only(store: Store, isolation: str, one_person: bool) -> None:
    executor = LocalExecutor(store.root, isolation=isolation, standby=0, presealed=0)
    before = family((await executor.start()).pid)
    gate = Gate(executor, RULES, max_bytes=10_000, one_person=one_person)
    assert isinstance(await gate(SQL, DATASET), Approved)
    first = await _lasting(executor, before)
    assert isinstance(await gate(SQL, DATASET), Approved)
    second = await _lasting(executor, before)
    assert first == second
    assert len(first) == (1 if one_person else 0)
    await executor.aclose()
    assert not await gone(before | first)


async def test_a_parser_that_died_is_replaced(store: Store, isolation: str) -> None:
    executor = LocalExecutor(store.root, isolation=isolation, standby=0, presealed=0)
    before = family((await executor.start()).pid)
    gate = Gate(executor, RULES, max_bytes=10_000, one_person=True)
    await gate(SQL, DATASET)
    (parser,) = await _lasting(executor, before)
    os.kill(parser, signal.SIGKILL)
    assert not await gone({parser})
    await asyncio.sleep(0.05)
    assert isinstance(await gate(SQL, DATASET), Approved)
    await executor.aclose()


async def test_a_parser_that_dies_at_work_is_said_and_replaced(store: Store, isolation: str) -> None:
    executor = LocalExecutor(store.root, isolation=isolation, standby=0, presealed=0)
    before = family((await executor.start()).pid)
    gate = Gate(executor, RULES, max_bytes=10_000, one_person=True)
    await gate(SQL, DATASET)
    (parser,) = await _lasting(executor, before)
    os.kill(parser, signal.SIGSTOP)
    judging = asyncio.create_task(gate(f"{SQL} -- at work", DATASET))
    await asyncio.sleep(0.1)
    assert not judging.done()
    os.kill(parser, signal.SIGKILL)
    with pytest.raises(RunnerBroken, match="killed from outside") as caught:
        await judging
    assert caught.value.suggestion == "Run it again"
    assert isinstance(await gate(f"{SQL} -- at work", DATASET), Approved)
    await executor.aclose()


async def test_nothing_is_started_after_the_end(store: Store, tmp_path: Path) -> None:
    executor = LocalExecutor(store.root)
    await executor.start()
    await executor.aclose()
    with pytest.raises(SandboxUnavailable):
        await executor.submit(sql_job(store, "late", "SELECT 1"))
