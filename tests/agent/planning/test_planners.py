"""Planner processes: they plan as this process does, questions outlive them, and they do not outlive their server."""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sandtable.agent.builtin import BuiltinProposer
from sandtable.agent.planning.planners import Planners, Unplanned
from sandtable.agent.planning.wire import Data, Question
from sandtable.agent.proposer import AskBack, Asked, Exchange, PlanProposal
from sandtable.planner.candidates.network.reader import Reader, the_reader
from sandtable.planner.outcome import EarlierTurn, Outcome, Understood
from sandtable.planner.planner import plan_question
from sandtable.planner.schema.index import SchemaIndex
from tests.agent.house import PROFILE, SHOP
from tests.sandbox.local.processes import family, gone

DATA = Data(SHOP.version, SHOP, PROFILE)
TOTAL = {"table": "orders", "select": [{"agg": "sum", "column": "amount", "as": "total"}]}
QUESTIONS = (
    Question(SHOP.version, "How many orders are there?", None),
    Question(SHOP.version, "total amount by region", None),
    Question(SHOP.version, "size of an order", None),
    Question(SHOP.version, "by region", EarlierTurn("total amount", TOTAL)),
    Question(SHOP.version, "only North", EarlierTurn("total amount", TOTAL)),
    Question(SHOP.version, "how many zorps per blarg", None),
    Question(SHOP.version, "", None),
)
ONE = QUESTIONS[1]


@pytest.fixture
async def planners() -> AsyncIterator[Planners]:
    opened = Planners(2)
    yield opened
    await opened.aclose()


@pytest.fixture(scope="module")
def here() -> list[Outcome]:
    index = SchemaIndex.build(SHOP, PROFILE)
    return [plan_question(each.text, index, each.before, reader=the_reader()) for each in QUESTIONS]


def asked(question: str, **more: object) -> Asked:
    return Asked(question=question, dataset=SHOP, profile=PROFILE, **more)  # pyright: ignore[reportArgumentType] - forwarded


async def test_they_plan_as_this_process_does(planners: Planners, here: list[Outcome]) -> None:
    await planners.prepare(DATA)
    assert len(planners.pids) == 2
    for _ in range(2):
        assert await asyncio.gather(*(planners.plan(each, DATA) for each in QUESTIONS)) == here
    assert len(planners.pids) == 2


async def test_data_are_sent_when_a_process_does_not_know_them(planners: Planners) -> None:
    other = Data("another", SHOP, PROFILE)
    assert isinstance(await planners.plan(ONE, DATA), Understood)
    assert isinstance(await planners.plan(Question(other.key, ONE.text, None), other), Understood)
    assert len(planners.pids) == 1


@pytest.mark.parametrize("stopped", [False, True], ids=["idle", "at work"])
async def test_a_question_outlives_its_process(
    planners: Planners, here: list[Outcome], stopped: bool
) -> None:
    await planners.plan(ONE, DATA)
    (pid,) = planners.pids
    if stopped:
        os.kill(pid, signal.SIGSTOP)
    waiting = asyncio.create_task(planners.plan(ONE, DATA)) if stopped else None
    await asyncio.sleep(0.05)
    os.kill(pid, signal.SIGKILL)
    assert await (waiting or planners.plan(ONE, DATA)) == here[1]
    assert planners.pids and pid not in planners.pids


async def test_one_that_ends_every_process_is_planned_here_by_rules_alone(
    planners: Planners, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[int] = []

    def reader() -> Reader | None:
        loaded.append(1)
        return the_reader()

    async def killing() -> None:
        while True:
            for pid in planners.pids:
                os.kill(pid, signal.SIGKILL)
            await asyncio.sleep(0.01)

    monkeypatch.setattr("sandtable.agent.planning.process.PlannerProcess.ready", lambda _: asyncio.sleep(0))
    killer = asyncio.create_task(killing())
    try:
        assert await planners.plan(ONE, DATA) is Unplanned.ENDED
        proposed = await BuiltinProposer(reader, planners).propose(asked(ONE.text))
    finally:
        killer.cancel()
    assert isinstance(proposed.what, PlanProposal) and not loaded


async def test_without_a_process_it_is_planned_here(
    planners: Planners, monkeypatch: pytest.MonkeyPatch, here: list[Outcome]
) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    proposer = BuiltinProposer(the_reader, planners)
    await proposer.prepare(SHOP, PROFILE)
    proposed = await proposer.propose(asked("size of an order"))
    expected = here[2]
    assert isinstance(proposed.what, AskBack) and not isinstance(expected, Understood)
    assert [each.plan for each in proposed.what.choices] == [each.plan for each in expected.choices]
    assert planners.pids == ()


async def test_the_reply_to_a_cancelled_turn_is_dropped(planners: Planners, here: list[Outcome]) -> None:
    await planners.plan(QUESTIONS[0], DATA)
    given_up = asyncio.create_task(planners.plan(QUESTIONS[0], DATA))
    await asyncio.sleep(0.002)
    given_up.cancel()
    assert await asyncio.gather(*(planners.plan(each, DATA) for each in QUESTIONS)) == here


async def test_a_message_that_cannot_be_sent_takes_no_place_away(
    planners: Planners, here: list[Outcome]
) -> None:
    unsendable = Question(SHOP.version, "by region", EarlierTurn("total amount", {"table": lambda: None}))
    for _ in range(3):
        with pytest.raises((AttributeError, TypeError, pickle.PicklingError)):
            await planners.plan(unsendable, DATA)
    assert await planners.plan(ONE, DATA) == here[1]


async def test_what_planning_raises_is_raised_here(planners: Planners, here: list[Outcome]) -> None:
    with pytest.raises(RuntimeError, match="a planner process failed"):
        await planners.plan(Question(SHOP.version, ONE.text, EarlierTurn("", {"define": 7})), DATA)
    assert await planners.plan(ONE, DATA) == here[1]
    assert len(planners.pids) == 1


async def test_the_proposer_has_them_plan(planners: Planners) -> None:
    history = (Exchange("total amount", "30", ending="answered", plan=TOTAL),)
    for question, before in (("total amount by region", ()), ("by region", history)):
        there = await BuiltinProposer(the_reader, planners).propose(asked(question, history=before))
        assert there == await BuiltinProposer(the_reader).propose(asked(question, history=before))


async def test_a_process_has_nothing_of_the_servers_environment(
    planners: Planners, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a-secret")
    await planners.plan(ONE, DATA)
    (pid,) = planners.pids
    assert b"a-secret" not in Path(f"/proc/{pid}/environ").read_bytes()
    opened = {str(fd.readlink()).partition(":")[0] for fd in Path(f"/proc/{pid}/fd").iterdir()}
    assert opened == {"/dev/null", "socket"}


async def test_closing_ends_them_also_while_they_start() -> None:
    planners = Planners(2)
    starting = asyncio.create_task(planners.plan(ONE, DATA))
    while not planners.pids:
        await asyncio.sleep(0.01)
    pids = set(planners.pids)
    await planners.aclose()
    assert await starting is Unplanned.NO_PROCESS
    assert not await gone(pids)
    assert await planners.plan(ONE, DATA) is Unplanned.NO_PROCESS


_SERVER = """
import asyncio
from sandtable.agent.planning.planners import Planners
from tests.agent.planning.test_planners import DATA, ONE

async def main():
    planners = Planners(2)
    await planners.prepare(DATA)
    print("ready", flush=True)
    while True:
        await asyncio.gather(*(planners.plan(ONE, DATA) for _ in range(4)))

asyncio.run(main())
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=lambda number: number.name)
@pytest.mark.parametrize("loading", [False, True], ids=["at work", "still loading"])
async def test_none_outlives_its_server(number: signal.Signals, loading: bool) -> None:
    root = Path(__file__).resolve().parents[3]
    server = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _SERVER, stdout=asyncio.subprocess.PIPE,
        env={"PYTHONPATH": f"{root / 'src'}{os.pathsep}{root}", "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    assert server.stdout is not None
    async with asyncio.timeout(60):
        if loading:
            while len(there := family(server.pid)) < 2:
                await asyncio.sleep(0.01)
        else:
            assert await server.stdout.readline() == b"ready\n"
            there = family(server.pid)
            assert len(there) == 3
    server.send_signal(number)
    await server.wait()
    left = await gone(there, 10)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert not left, "a planner process outlived its server"
