"""The reading of a question as parts: words, sources and choices that are plans which fit."""

from __future__ import annotations

from typing import Any

import pytest

from sandtable.agent.read_as.building import MOST_CHOICES, aligned, read_as
from sandtable.agent.read_as.model import ReadAs, ReadPart, Words
from sandtable.plan.validate import check_plan, parse_plan
from sandtable.planner.conscience import account
from sandtable.planner.language.reading import Reading
from sandtable.planner.outcome import EarlierTurn, Understood
from sandtable.planner.planner import plan_question
from tests.agent.reader import as_likely
from tests.planner.conscience.corpus import (
    COUNT,
    DATASET,
    INDEX,
    average,
    by,
    first,
    month_by,
    plan,
    total,
    where,
)
from tests.planner.conscience.test_account import BOUND, UNBOUND

PAIRS = [(question, made) for question, made in BOUND] + [(u[0], u[1]) for u in UNBOUND]


def _read(question: str, made: dict[str, Any], before: dict[str, Any] | None = None) -> ReadAs:
    found = read_as(made, INDEX, aligned(question, account(question, made, INDEX, before)), before)
    assert found is not None
    return found


def _part(read: ReadAs, kind: str) -> ReadPart:
    return next(part for part in read.parts if part.kind == kind)


@pytest.mark.parametrize(
    ("question", "made"), PAIRS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_every_word_is_somewhere_and_every_choice_is_a_plan_that_fits(
    question: str, made: dict[str, Any]
) -> None:
    read = _read(question, made)
    said = [*read.aside, *read.unread, *(words for part in read.parts for words in part.words)]
    assert all(question[each.start : each.end] == each.text for each in said)
    covered = {at for each in said for at in range(each.start, each.end)}
    for word in Reading.of(question).words:
        assert word.is_symbol or set(range(word.start, word.end)) <= covered, word
    for part in read.parts:
        assert (part.source == "words") == bool(part.words)
        assert len(part.choices) <= MOST_CHOICES
        labels = [choice.label for choice in part.choices]
        assert len(set(labels)) == len(labels) and part.label not in labels
        for choice in part.choices:
            assert not check_plan(parse_plan(choice.plan), DATASET), choice
            assert choice.plan != made and part.label in choice.message


PARTS: list[tuple[str, dict[str, Any], list[tuple[str, str, str, list[str]]]]] = [
    (
        "top 3 mechanics by total parts for brakes",
        {
            **first(by("mechanic", total("parts_eur")), "total_parts_eur", limit=3),
            "filters": [where("kind_of_job", "=", "brakes")],
        },
        [
            ("measure", "total parts EUR", "words", ["by total parts"]),
            ("by", "mechanic", "words", ["mechanics"]),
            ("where", "kind of job is brakes", "words", ["for brakes"]),
            ("order", "highest total parts EUR first", "words", ["top", "parts"]),
            ("limit", "the first 3", "words", ["3"]),
        ],
    ),
    (
        "average stars per month in 2025",
        month_by(average("stars"), time={"from": "2025-01-01", "to": "2025-12-31"}),
        [
            ("measure", "average stars", "words", ["average stars"]),
            ("by", "month", "words", ["per month"]),
            ("when", "in 2025", "words", ["in 2025"]),
        ],
    ),
    (
        "total parts by mechanic",
        {**by("mechanic", total("parts_eur")), "order_by": [{"expr": "total_parts_eur", "dir": "desc"}]},
        [
            ("measure", "total parts EUR", "words", ["total parts"]),
            ("by", "mechanic", "words", ["by mechanic"]),
            ("order", "highest total parts EUR first", "default", []),
        ],
    ),
    (
        "number of repairs",
        {**plan(), "limit": 5},
        [
            ("measure", "number of repairs", "words", ["number of repairs"]),
            ("limit", "at most 5 rows", "default", []),
        ],
    ),
]


@pytest.mark.parametrize(("question", "made", "wanted"), PARTS, ids=[p[0] for p in PARTS])
def test_parts_have_their_words(
    question: str, made: dict[str, Any], wanted: list[tuple[str, str, str, list[str]]]
) -> None:
    read = _read(question, made)
    got = [(part.kind, part.label, part.source, [w.text for w in part.words]) for part in read.parts]
    assert got == wanted


def test_words_that_join_belong_to_those_after_them_and_the_rest_is_left_aside() -> None:
    read = _read("please show me the total parts by mechanic", by("mechanic", total("parts_eur")))
    assert [words.text for words in read.aside] == ["please show me"]
    assert [[words.text for words in part.words] for part in read.parts] == [
        ["the total parts"],
        ["by mechanic"],
    ]


CHOICES: list[tuple[str, dict[str, Any], str, list[str]]] = [
    ("total parts by mechanic", by("mechanic", total("parts_eur")), "measure", ["average parts EUR"]),
    ("total parts by mechanic", by("mechanic", total("parts_eur")), "by", ["kind of job", "status"]),
    ("average stars by mechanic", by("mechanic", average("stars")), "measure", ["median stars"]),
    ("repairs per month", month_by(), "by", ["quarter", "week", "month of finished on"]),
    (
        "repairs with more than 3 stars",
        plan(filters=[where("stars", ">", 3)]),
        "where",
        ["stars is at least 3"],
    ),
    (
        "repairs for brakes",
        plan(filters=[where("kind_of_job", "=", "brakes")]),
        "where",
        ["kind of job is not brakes", "without this condition"],
    ),
    (
        "repairs this month",
        plan(time={"period": "this_month"}),
        "when",
        ["last month (May 2025)", "all time", "this month (June 2025) by finished on"],
    ),
    (
        "top 3 mechanics by repairs",
        first(by("mechanic"), "count", limit=3),
        "order",
        ["fewest repairs first"],
    ),
    (
        "top 3 mechanics by repairs",
        first(by("mechanic"), "count", limit=3),
        "limit",
        ["all rows", "the first 5"],
    ),
]


@pytest.mark.parametrize(
    ("question", "made", "kind", "wanted"), CHOICES, ids=[f"{c[0]}: {c[2]}" for c in CHOICES]
)
def test_a_part_offers_what_else_it_could_be(
    question: str, made: dict[str, Any], kind: str, wanted: list[str]
) -> None:
    offered = [choice.label for choice in _part(_read(question, made), kind).choices]
    assert set(wanted) <= set(offered), offered


def test_a_score_is_never_offered_as_a_sum() -> None:
    offered = _part(_read("average stars by mechanic", by("mechanic", average("stars"))), "measure").choices
    assert "total stars" not in [choice.label for choice in offered]


def test_what_the_plan_calls_a_column_changes_with_the_column() -> None:
    made = first(by("mechanic", total("parts_eur")), "total_parts_eur", limit=3)
    read = _read("top 3 mechanics by total parts", made)
    averaged = next(c.plan for c in _part(read, "measure").choices if c.label == "average parts EUR")
    assert averaged["order_by"] == [{"expr": "avg_parts_eur", "dir": "desc"}]
    by_status = next(c.plan for c in _part(read, "by").choices if c.label == "status")
    assert by_status["group_by"] == ["status"] and {"column": "status"} in by_status["select"]


def test_the_condition_that_is_left_out_is_the_one_that_was_meant() -> None:
    made = plan(filters=[where("kind_of_job", "=", "brakes"), where("stars", ">", 3)])
    read = _read("how many repairs for brakes with more than 3 stars", made)
    brakes = next(part for part in read.parts if part.label == "kind of job is brakes")
    without = next(c for c in brakes.choices if c.label == "without this condition")
    assert without.plan["filters"] == [where("stars", ">", 3)]
    assert without.message == "Leave out “kind of job is brakes”"


def test_words_that_no_part_means_are_named() -> None:
    read = _read("how many repairs without a coupon", plan())
    assert [each.text for each in read.unread] == ["without", "coupon"]


FOLLOW_UPS = [
    ("and by mechanic?", plan(), {"by": ("words", ["and by mechanic"]), "measure": ("kept", [])}),
    ("only for brakes", by("mechanic"), {"where": ("words", ["for brakes"]), "by": ("kept", [])}),
]


@pytest.mark.parametrize(("question", "before", "wanted"), FOLLOW_UPS, ids=[f[0] for f in FOLLOW_UPS])
def test_a_follow_up_says_what_it_kept(question: str, before: dict[str, Any], wanted: dict[str, Any]) -> None:
    outcome = plan_question(question, INDEX, EarlierTurn("repairs", before))
    assert isinstance(outcome, Understood) and outcome.account is not None
    read = read_as(outcome.plan, INDEX, aligned(question, outcome.account), before)
    assert read is not None and not read.unread
    for kind, (source, words) in wanted.items():
        part = _part(read, kind)
        assert (part.source, [w.text for w in part.words]) == (source, words)


def test_what_a_person_chose_is_said_to_be_chosen() -> None:
    before = by("mechanic", total("parts_eur"))
    read = read_as(by("mechanic", average("parts_eur")), INDEX, None, before)
    assert read is not None
    assert [(part.kind, part.source) for part in read.parts] == [("measure", "chosen"), ("by", "kept")]
    assert (read.aside, read.unread) == ((), ())


@pytest.mark.parametrize("made", [{}, {"table": "repairs"}, plan(filters=[where("nothing", "=", 1)])])
def test_a_plan_that_does_not_fit_has_no_reading(made: dict[str, Any]) -> None:
    assert read_as(made, INDEX) is None


LIKELY: list[tuple[str, str, dict[str, Any], str, list[tuple[str, str, list[str]]]]] = [
    (
        "spend by mechanic",
        "parts by mechanic",
        by("mechanic", total("parts_eur")),
        "spend",
        [("measure", "likely", ["spend"]), ("by", "words", ["by mechanic"])],
    ),
    (
        "the average spend per mechanic",
        "the average parts per mechanic",
        by("mechanic", average("parts_eur")),
        "spend",
        [("measure", "likely", ["the average spend"]), ("by", "words", ["per mechanic"])],
    ),
    (
        "top 3 mechanics by spend",
        "top 3 mechanics by parts",
        first(by("mechanic", total("parts_eur")), "total_parts_eur", limit=3),
        "spend",
        [
            ("measure", "likely", ["by spend"]),
            ("by", "words", ["mechanics"]),
            ("order", "likely", ["top", "by spend"]),
            ("limit", "words", ["3"]),
        ],
    ),
    (
        "show spend by mechanic",
        "show parts by mechanic",
        {**by("mechanic", total("parts_eur")), "order_by": [{"expr": "total_parts_eur", "dir": "desc"}]},
        "spend",
        [
            ("measure", "likely", ["spend"]),
            ("by", "words", ["by mechanic"]),
            ("order", "default", []),
        ],
    ),
]


@pytest.mark.parametrize(
    ("question", "named", "made", "word", "wanted"), LIKELY, ids=[each[0] for each in LIKELY]
)
def test_a_part_is_likely_when_any_of_its_words_is(
    question: str, named: str, made: dict[str, Any], word: str, wanted: list[tuple[str, str, list[str]]]
) -> None:
    words = Reading.of(question).words
    places = frozenset(at for at, each in enumerate(words) if each.lower == word)
    read = read_as(made, INDEX, aligned(question, as_likely(account(named, made, INDEX), places)))
    assert read is not None
    got = [(part.kind, part.source, [w.text for w in part.words]) for part in read.parts]
    assert got == wanted
    assert read.likely and all(part.choices for part in read.likely)


def test_an_earlier_likely_part_is_likely_while_it_is_kept() -> None:
    before = by("mechanic", total("parts_eur"))
    doubted = frozenset({("measure", "total parts EUR")})
    filtered = {**before, "filters": [where("kind_of_job", "=", "brakes")]}
    question = "only for brakes"
    alignment = aligned(question, account(question, filtered, INDEX, before))
    read = read_as(filtered, INDEX, alignment, before, doubted)
    assert read is not None
    assert [part.source for part in read.parts] == ["likely", "kept", "words"]
    assert read.line == "total parts EUR (likely) · by mechanic · kind of job is brakes"
    named = "total parts by mechanic"
    again = read_as(before, INDEX, aligned(named, account(named, before, INDEX, before)), before, doubted)
    assert again is not None and not again.likely


def test_words_in_the_line_do_nothing_in_markdown() -> None:
    words = (Words(text="<b>*spend*", start=0, end=10),)
    part = ReadPart(kind="measure", label="total parts EUR", source="likely", words=words)
    assert ReadAs(parts=(part,)).line == "total parts EUR (likely: “`<b>*spend*`”)"


def test_the_line_reads_as_parts() -> None:
    assert _read("repairs per mechanic", by("mechanic", COUNT)).line == "number of repairs · by mechanic"
