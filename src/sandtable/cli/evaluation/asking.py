"""Asks the questions of evaluation files, several at a time, and judges the answers in order.

Invariant: every item of every line is judged exactly once. Single questions are independent; the turns of a dialogue
are asked one after the other in one thread, whatever the outcome of earlier turns. After a timeout the case is asked
once more from its beginning: a busy machine says nothing about the answer.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from pathlib import Path

from sandtable.assemble import Parts
from sandtable.cli.evaluation.cases import BadCase, Case, Shelf, read_case
from sandtable.cli.evaluation.outcome import Judged, judged, may_be_busy, unusable
from sandtable.cli.jsonl import in_order
from sandtable.cli.turn import Analyst, ShownAnswer, gather
from sandtable.errors import Problem, SandtableError


async def ask_all(
    parts: Parts, analyst: Analyst, sources: Sequence[str], jobs: int
) -> AsyncGenerator[Judged, None]:
    """The outcome of every item of the files; at most `jobs` questions at a time."""
    shelf, gate = Shelf(parts), asyncio.Semaphore(jobs)
    for source in sources:
        folder = Path() if source == "-" else Path(source).parent

        async def one(raw: bytes, number: int, folder: Path = folder) -> list[Judged]:
            case = read_case(raw, number, folder)
            if isinstance(case, BadCase):
                return [unusable(case)]
            async with gate:
                return await _ask(analyst, shelf, case)

        async with aclosing(in_order(source, one, jobs + 2)) as lines:
            async for line in lines:
                for each in line:
                    yield each


async def _ask(analyst: Analyst, shelf: Shelf, case: Case) -> list[Judged]:
    try:
        dataset = await shelf.get(case.dataset, case.data)
    except SandtableError as error:
        turn = _failed(error.problem)
        return [each for place in range(len(case.askings)) for each in judged(case, place, turn, None)]
    made = await _ask_once(analyst, dataset.id, case)
    if any(may_be_busy(one.turn) for one in made):
        return await _ask_once(analyst, dataset.id, case)
    return made


async def _ask_once(analyst: Analyst, dataset_id: str, case: Case) -> list[Judged]:
    thread = analyst.new_thread() if case.dialogue else None
    made: list[Judged] = []
    for place, asking in enumerate(case.askings):
        began = time.perf_counter()
        try:
            turn = await gather(analyst.ask(asking.question, dataset_id=dataset_id, thread_id=thread))
            made += judged(case, place, turn, (time.perf_counter() - began) * 1e3)
        except SandtableError as error:
            made += judged(case, place, _failed(error.problem), None)
    return made


def _failed(problem: Problem) -> ShownAnswer:
    return ShownAnswer("failed", problem.message, error=problem)
