"""A follow-up changes one thing of the plan before and keeps the rest; what is not understood is asked."""

from __future__ import annotations

import copy
import csv
import datetime as dt
import json
from pathlib import Path

import pytest

from sandtable.planner.outcome import EarlierTurn, Outcome, Understood, Unsure
from sandtable.planner.planner import plan_question
from tests.planner.ground import World, csv_world

_DEPOTS = ("North Yard", "Harbour", "Mill Lane")
_CRATES = ("oak", "pine", "steel")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Shipments of a carrier: two years, three depots, three kinds of crate."""
    path: Path = tmp_path_factory.mktemp("dialogue") / "shipments.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["shipment_id", "sent_on", "depot", "crate", "weight_kg", "freight_eur", "lost"])
        for n in range(240):
            day = dt.date(2024, 1, 3) + dt.timedelta(days=3 * n)
            depot, crate = _DEPOTS[(n * n) % 5 % 3], _CRATES[(n // 2) % 3]
            lost = "true" if n % 7 == 0 else "false"
            writer.writerow([f"S{n:04d}", day, depot, crate, 10 + n % 13, 20 + n % 9 * 1.5, lost])
    return csv_world("shipments", path)


def _talk(world: World, *questions: str) -> Outcome:
    before: EarlierTurn | None = None
    outcome: Outcome | None = None
    for number, question in enumerate(questions, start=1):
        outcome = plan_question(question, world.index, before)
        if number < len(questions):
            assert isinstance(outcome, Understood), outcome
            before = EarlierTurn(question, outcome.plan)
    assert outcome is not None
    return outcome


_BY_DEPOT = "total freight_eur by depot"
_PER_MONTH = "total freight_eur per month"
RIGHT: list[tuple[tuple[str, ...], str]] = [
    ((_BY_DEPOT, "oak only"), "SELECT depot, sum(freight_eur) FROM shipments WHERE crate = 'oak' GROUP BY 1"),
    (
        (_BY_DEPOT, "without pine"),
        "SELECT depot, sum(freight_eur) FROM shipments WHERE crate <> 'pine' GROUP BY 1",
    ),
    (
        (_BY_DEPOT, "without pine", "with the pine ones again"),
        "SELECT depot, sum(freight_eur) FROM shipments GROUP BY 1",
    ),
    ((_BY_DEPOT, "only oak", "all crates again"), "SELECT depot, sum(freight_eur) FROM shipments GROUP BY 1"),
    ((_BY_DEPOT, "only oak", "not just oak"), "SELECT depot, sum(freight_eur) FROM shipments GROUP BY 1"),
    (
        (_BY_DEPOT, "only weekends"),
        "SELECT depot, sum(freight_eur) FROM shipments WHERE isodow(sent_on) IN (6, 7) GROUP BY 1",
    ),
    (
        (_BY_DEPOT, "only 2024"),
        "SELECT depot, sum(freight_eur) FROM shipments WHERE year(sent_on) = 2024 GROUP BY 1",
    ),
    ((_BY_DEPOT, "and overall?"), "SELECT sum(freight_eur) FROM shipments"),
    (
        (_BY_DEPOT, "split it by crate too", "remove crate"),
        "SELECT depot, sum(freight_eur) FROM shipments GROUP BY 1",
    ),
    (
        (_BY_DEPOT, "as percentages"),
        "SELECT depot, sum(freight_eur), sum(freight_eur) / sum(sum(freight_eur)) OVER () FROM shipments GROUP BY 1",
    ),
    (
        ("how many shipments have crate oak?", "what share is that?"),
        "SELECT count(*) FILTER (WHERE crate = 'oak') / count(*) FROM shipments",
    ),
    (
        (_BY_DEPOT, "which one is highest?"),
        "SELECT depot, sum(freight_eur) FROM shipments GROUP BY 1 ORDER BY 2 DESC LIMIT 1",
    ),
    (
        (_BY_DEPOT, "which one is highest?", "and the second one?"),
        "SELECT depot, sum(freight_eur), 2 FROM shipments GROUP BY 1 ORDER BY 2 DESC LIMIT 1 OFFSET 1",
    ),
    (
        (_BY_DEPOT, "the bottom two"),
        "SELECT depot, sum(freight_eur) FROM shipments GROUP BY 1 ORDER BY 2 LIMIT 2",
    ),
    (
        (_BY_DEPOT, "also the number of shipments"),
        "SELECT depot, sum(freight_eur), count(*) FROM shipments GROUP BY 1",
    ),
    ((_BY_DEPOT, "median instead"), "SELECT depot, median(freight_eur) FROM shipments GROUP BY 1"),
    (
        ("how many shipments have crate oak?", "of those, how many were lost?"),
        "SELECT count(*) FROM shipments WHERE crate = 'oak' AND lost",
    ),
    (("how many shipments have crate oak?", "list them"), "SELECT * FROM shipments WHERE crate = 'oak'"),
    (
        ("how many shipments have crate oak?", "and steel?"),
        "SELECT count(*) FROM shipments WHERE crate = 'steel'",
    ),
    (
        ("total freight_eur in march 2025", "compared with the month before"),
        "SELECT date_trunc('month', sent_on)::DATE, sum(freight_eur) FROM shipments "
        "WHERE sent_on >= '2025-02-01' AND sent_on < '2025-04-01' GROUP BY 1",
    ),
    (
        ("total freight_eur in march 2025", "and how does that compare to 2024?"),
        "SELECT date_trunc('month', sent_on)::DATE, sum(freight_eur) FROM shipments "
        "WHERE month(sent_on) = 3 GROUP BY 1",
    ),
    (
        ("total freight_eur in march 2025", "and in april?"),
        "SELECT sum(freight_eur) FROM shipments WHERE sent_on >= '2025-04-01' AND sent_on < '2025-05-01'",
    ),
    (
        ("total freight_eur of oak crates", "next to pine"),
        "SELECT crate, sum(freight_eur) FROM shipments WHERE crate IN ('oak', 'pine') GROUP BY 1",
    ),
    (
        (_PER_MONTH, "what's the change from month to month?"),
        "SELECT m, s, s - lag(s) OVER (ORDER BY m) FROM "
        "(SELECT date_trunc('month', sent_on)::DATE m, sum(freight_eur) s FROM shipments GROUP BY 1)",
    ),
]


@pytest.mark.parametrize(("talk", "sql"), RIGHT, ids=[" > ".join(talk) for talk, _ in RIGHT])
def test_one_thing_is_changed_and_the_rest_is_kept(world: World, talk: tuple[str, ...], sql: str) -> None:
    outcome = _talk(world, *talk)
    assert isinstance(outcome, Understood), outcome
    assert outcome.follow_up
    assert sorted(world.run_plan(outcome.plan), key=str) == sorted(world.run_sql(sql), key=str)


@pytest.mark.parametrize(
    ("wish", "chart"),
    [
        ("as a pie", "pie"),
        ("pie", "pie"),
        ("as a line chart", "line"),
        ("line chart please", "line"),
        ("make it a bar chart", "bar"),
        ("as a stacked bar chart", "stacked_bar"),
        ("as a stacked bar", "stacked_bar"),
        ("horizontal bars", "horizontal_bar"),
        ("show it as a table", "none"),
        ("no chart", "none"),
        ("no, as a pie", "pie"),
    ],
)
def test_a_request_about_the_chart_changes_the_chart_alone(world: World, wish: str, chart: str) -> None:
    first = _talk(world, _BY_DEPOT)
    after = _talk(world, _BY_DEPOT, wish)
    assert isinstance(first, Understood) and isinstance(after, Understood)
    assert after.follow_up and after.plan == {**first.plan, "chart": chart}
    back = plan_question("chart please", world.index, EarlierTurn(wish, after.plan))
    assert isinstance(back, Understood) and back.plan == first.plan


def test_what_follows_keeps_the_chart(world: World) -> None:
    after = _talk(world, _BY_DEPOT, "as a pie", "only oak")
    assert isinstance(after, Understood)
    assert after.plan["chart"] == "pie" and after.plan["filters"]


def test_rows_and_chart_are_changed_at_once(world: World) -> None:
    after = _talk(world, _BY_DEPOT, "by month as a line chart")
    assert isinstance(after, Understood) and after.follow_up
    assert (after.plan["chart"], after.plan["group_by"]) == ("line", ["month"])


def test_a_chart_that_is_not_drawn_here_is_remarked_on(world: World) -> None:
    first = _talk(world, _BY_DEPOT)
    after = _talk(world, _BY_DEPOT, "as a radar chart")
    assert isinstance(first, Understood) and isinstance(after, Understood)
    assert after.plan == first.plan and after.used == (
        "There is no radar chart here, so the chart is drawn without it",
    )


@pytest.mark.parametrize(
    "message",
    [
        "and the other one?",
        "and for him?",
        "and by eye colour?",
        "and the profit?",
        "of those, how many were blue?",
        "without the blue ones",
        "versus the other one",
        "only velvet",
        "to Valencia",
    ],
)
def test_what_is_not_understood_is_asked_and_never_starts_afresh(world: World, message: str) -> None:
    assert isinstance(_talk(world, "how many shipments have crate oak?", message), Unsure)


@pytest.mark.parametrize(
    "message", ["only oak", "and steel?", "as percentages", "to Harbour", "of those, how many were lost?"]
)
def test_after_a_question_that_was_not_answered_nothing_is_changed(world: World, message: str) -> None:
    assert isinstance(plan_question(message, world.index, EarlierTurn("how many were broken?", {})), Unsure)


@pytest.mark.parametrize(
    "message", ["and steel?", "as percentages", "how many of those were lost?", "the same for oak"]
)
def test_a_first_message_that_points_back_is_asked_about(world: World, message: str) -> None:
    outcome = plan_question(message, world.index)
    assert isinstance(outcome, Unsure) and "no answer yet" in outcome.reason


def test_a_whole_question_after_one_that_was_not_answered_is_answered(world: World) -> None:
    question = "total freight_eur by depot"
    after = plan_question(question, world.index, EarlierTurn("how many were broken?", {}))
    assert after == plan_question(question, world.index)


def test_the_share_of_an_average_is_asked_about(world: World) -> None:
    assert isinstance(_talk(world, "average weight_kg by depot", "as percentages"), Unsure)


def test_the_rows_of_a_top_few_are_asked_about(world: World) -> None:
    assert isinstance(_talk(world, _BY_DEPOT, "top 2 only", "list them"), Unsure)


@pytest.mark.parametrize(
    "question",
    ["how many shipments are there?", "average weight_kg per crate", "which depot has the most shipments?"],
)
def test_a_whole_question_keeps_no_earlier_condition(world: World, question: str) -> None:
    alone = _talk(world, question)
    after = _talk(world, "how many shipments have crate oak?", question)
    assert isinstance(alone, Understood) and isinstance(after, Understood)
    assert after.plan == alone.plan and not after.follow_up


@pytest.mark.parametrize("talk", [talk for talk, _ in RIGHT], ids=[" > ".join(talk) for talk, _ in RIGHT])
def test_the_plan_before_stays_as_it_was(world: World, talk: tuple[str, ...]) -> None:
    first = _talk(world, *talk[:-1])
    assert isinstance(first, Understood)
    kept = copy.deepcopy(first.plan)
    plan_question(talk[-1], world.index, EarlierTurn(talk[-2], first.plan))
    assert first.plan == kept


_PROMPTS = json.loads(
    (Path(__file__).parents[2] / "agent" / "corpus" / "prompts.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("dataset", sorted({case["dataset"] for case in _PROMPTS}))
def test_a_prompt_means_the_same_whatever_was_asked_before(worlds: dict[str, World], dataset: str) -> None:
    asked = [case["question"] for case in _PROMPTS if case["dataset"] == dataset]
    index = worlds[dataset].index
    alone = {question: plan_question(question, index) for question in asked}
    for first in asked:
        before = alone[first]
        assert isinstance(before, Understood)
        for question in asked:
            assert plan_question(question, index, EarlierTurn(first, before.plan)) == alone[question], (
                first,
                question,
            )
