"""The built-in planner as a proposer: plans, asks back, never repeats itself."""

from __future__ import annotations

import pytest

from sandtable.agent import builtin
from sandtable.agent.builtin import BuiltinProposer, before_of
from sandtable.agent.named import mentions, with_named
from sandtable.agent.proposer import AskBack, Asked, Attempt, Exchange, PlanProposal
from sandtable.errors import ErrorCode, Problem
from sandtable.planner.outcome import EarlierTurn, Outcome, Understood, Unsure
from tests.agent.house import COUNT, PROFILE, SHOP


def asked(question: str, **more: object) -> Asked:
    return Asked(question=question, dataset=SHOP, profile=PROFILE, **more)  # pyright: ignore[reportArgumentType] - forwarded


@pytest.fixture
def planner(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, EarlierTurn | None]]:
    """Understands what holds "orders"; the list is what it was asked."""
    heard: list[tuple[str, EarlierTurn | None]] = []

    def plan_question(question: str, index: object, before: EarlierTurn | None) -> Outcome:
        heard.append((question, before))
        return (
            Understood(COUNT, 0.9, used=("a read as b",))
            if "orders" in question
            else Unsure("no", (), ("Try x",))
        )

    monkeypatch.setattr(builtin, "plan_question", plan_question)
    return heard


async def test_it_proposes_a_plan(planner: object) -> None:
    proposed = await BuiltinProposer().propose(asked("How many orders?"))
    assert proposed.what == PlanProposal(COUNT, ("a read as b",), 0.9)
    assert (proposed.usage.tokens_in, proposed.usage.prompts) == (0, ())


async def test_it_asks_back(planner: object) -> None:
    proposed = await BuiltinProposer().propose(asked("How many zorps?"))
    assert proposed.what == AskBack("no", ("Try x",))


@pytest.mark.parametrize(
    "question",
    [
        "Wie viele Kunden gibt es?",
        "¿Cuántos clientes hay por mes?",
        "Combien de clients par mois ?",
        "何人いますか",
    ],
)
async def test_it_says_which_language_it_reads(planner: object, question: str) -> None:
    proposed = await BuiltinProposer().propose(asked(question))
    assert isinstance(proposed.what, AskBack) and "English" in proposed.what.reason


async def test_it_does_not_say_the_same_again(planner: list[object]) -> None:
    attempt = Attempt(COUNT, None, Problem(code=ErrorCode.VALIDATION_ERROR, message="will not do"))
    proposed = await BuiltinProposer().propose(asked("How many orders?", attempts=(attempt,)))
    assert proposed.what == AskBack("will not do")
    assert not planner


async def test_a_follow_up_builds_on_the_newest_answered_plan(
    planner: list[tuple[str, EarlierTurn | None]],
) -> None:
    history = (
        Exchange("first", "", "answered", plan=COUNT),
        Exchange("second", "", "answered", plan={**COUNT, "limit": 1}),
        Exchange("third", "", "refused", plan={**COUNT, "limit": 2}),
        Exchange("hello", "", "conversed"),
    )
    await BuiltinProposer().propose(asked("and orders?", history=history))
    assert planner == [("and orders?", EarlierTurn("second", {**COUNT, "limit": 1}))]
    assert before_of(history[2:]) is None


def test_after_a_question_that_was_asked_back_there_is_no_plan_to_change() -> None:
    history = (Exchange("first", "", "answered", plan=COUNT), Exchange("second", "", "asked"))
    assert before_of(history) == EarlierTurn("second", {})


async def test_planning_that_takes_long_moves_to_a_thread_and_back(
    planner: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    spent = iter([1.0, 1.0, 0.0, 0.0])
    threads: list[str] = []
    clock = iter(range(100))

    async def to_thread(work: object, *arguments: object) -> object:
        threads.append(getattr(work, "__name__", ""))
        return work(*arguments)  # pyright: ignore[reportCallIssue] - what asyncio.to_thread was given

    def thread_time() -> float:
        return 0.0 if next(clock) % 2 == 0 else next(spent)

    monkeypatch.setattr(builtin.asyncio, "to_thread", to_thread)
    monkeypatch.setattr(builtin.time, "thread_time", thread_time)
    proposer = BuiltinProposer()
    for _ in range(4):
        await proposer.propose(asked("How many orders?"))
    assert threads == ["build", "_timed"]


async def test_it_knows_what_it_would_understand(planner: list[object]) -> None:
    proposer, before = BuiltinProposer(), EarlierTurn("q", COUNT)
    assert not proposer.understands("orders?", SHOP, before)
    await proposer.propose(asked("How many orders?"))
    assert proposer.understands("orders?", SHOP, before)
    assert proposer.understands("orders?", SHOP, before)
    assert not proposer.understands("zorps?", SHOP, before)
    assert len(planner) == 3


async def test_it_can_be_prepared(planner: object) -> None:
    proposer = BuiltinProposer()
    await proposer.prepare(SHOP, PROFILE)
    assert proposer.understands("orders?", SHOP, EarlierTurn("q", COUNT))


async def test_the_real_planner_is_behind_it() -> None:
    proposed = await BuiltinProposer().propose(asked("How many orders are there?"))
    assert isinstance(proposed.what, PlanProposal)
    assert proposed.what.plan["table"] == "orders"


NAMED = {
    "name": "top_regions",
    "plan": {"table": "orders", "select": [{"column": "region"}, {"metric": "revenue"}]},
}


@pytest.mark.parametrize(
    ("question", "table"),
    [
        ("How many rows are in top_regions?", "top_regions"),
        ("how many top regions are there", "top_regions"),
        ("How many orders are there?", "orders"),
    ],
)
async def test_named_tables_can_be_asked_about(question: str, table: str) -> None:
    proposed = await BuiltinProposer().propose(asked(question, defined=(NAMED,)))
    assert isinstance(proposed.what, PlanProposal), proposed.what
    assert proposed.what.plan["table"] == table
    assert "define" not in proposed.what.plan


async def test_a_follow_up_on_a_named_table_stays_with_it(
    planner: list[tuple[str, EarlierTurn | None]],
) -> None:
    plan = {"table": "top_regions", "define": [NAMED], "select": [{"agg": "count"}]}
    history = (Exchange("how many top_regions?", "", "answered", plan=plan),)
    await BuiltinProposer().propose(asked("only orders", history=history, defined=(NAMED,)))
    before = planner[0][1]
    assert before is not None and before.plan == {"table": "top_regions", "select": [{"agg": "count"}]}


def test_a_named_table_knows_the_values_of_its_columns() -> None:
    again = {"name": "again", "plan": {"table": "top_regions", "select": [{"column": "region"}]}}
    unfit = {"name": "unfit", "plan": {"table": "gone", "select": [{"agg": "count"}]}}
    dataset, profile = with_named(SHOP, PROFILE, (NAMED, again, unfit))
    assert [table.name for table in dataset.tables] == ["orders", "top_regions", "again"]
    assert [column.name for column in dataset.tables[1].columns] == ["region", "revenue"]
    seen = profile.table("again")
    region = seen.column("region") if seen else None
    assert region is not None and region.values[0].value == "North"


@pytest.mark.parametrize(
    ("text", "found"),
    [("in top_regions?", True), ("Top Regions by n", True), ("stop_regions", False), ("top_regions2", False)],
)
def test_a_name_is_recognised(text: str, found: bool) -> None:
    assert mentions(text, "top_regions") is found
