"""Lines of an evaluation: what each member means, and what cannot be used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sandtable.cli.evaluation.cases import BadCase, Case, Item, read_case
from sandtable.cli.evaluation.expected import Expected

FOLDER = Path("/questions")


def read(line: dict[str, Any]) -> Case:
    case = read_case(json.dumps({"id": "x", "dataset": "shop", **line}).encode(), 1, FOLDER)
    assert isinstance(case, Case), case
    return case


def item(line: dict[str, Any]) -> Item:
    [asking] = read({"question": "How many?", **line}).askings
    [found] = asking.items
    return found


@pytest.mark.parametrize(
    ("line", "expect", "expected", "graded"),
    [
        pytest.param({}, "answer", Expected((), rounded=True), False, id="not graded"),
        pytest.param({"answer": 42}, "answer", Expected((42,), rounded=True), True, id="a value"),
        pytest.param(
            {"answer": [["a", 1]]},
            "answer",
            Expected(([["a", 1]],), ordered=True, rounded=True),
            True,
            id="rows",
        ),
        pytest.param(
            {"answer": [["a", 1]], "ordered": False},
            "answer",
            Expected(([["a", 1]],), rounded=True),
            True,
            id="rows in any order",
        ),
        pytest.param(
            {"answer": None}, "decline", Expected((None,), rounded=True), True, id="nothing to tell"
        ),
        pytest.param(
            {"answers": [1, [["a", 2]]], "expect": "answer"},
            "answer",
            Expected((1, [["a", 2]])),
            True,
            id="several",
        ),
        pytest.param(
            {"answers": [[1, 2]], "ordered": True, "gold": ["SELECT 1"]},
            "answer",
            Expected(([1, 2],), ordered=True),
            True,
            id="in order",
        ),
        pytest.param({"expect": "ask", "answers": []}, "ask", Expected(()), True, id="to be asked about"),
        pytest.param({"expect": "decline"}, "decline", Expected((), rounded=True), True, id="to be declined"),
        pytest.param(
            {"answers": [1], "tags": ["lookup"]},
            "answer",
            Expected((1,), beside=None),
            True,
            id="whole rows will do",
        ),
    ],
)
def test_what_is_expected(line: dict[str, Any], expect: str, expected: Expected, graded: bool) -> None:
    found = item(line)
    assert (found.expect, found.expected, found.graded) == (expect, expected, graded)


def test_a_dialogue_has_an_item_for_each_turn_and_part() -> None:
    case = read(
        {
            "turns": [
                {"question": "How many?", "answers": [1], "expect": "answer", "tags": ["first"]},
                {
                    "question": "And a? And b?",
                    "expect": "answer",
                    "tags": ["several"],
                    "parts": [
                        {"question": "a?", "answers": [2]},
                        {"answers": [3], "tags": ["b"], "ordered": True},
                    ],
                },
            ]
        }
    )
    assert case.dialogue
    assert [asking.question for asking in case.askings] == ["How many?", "And a? And b?"]
    assert [
        [(i.id, i.question, i.expected.answers, i.tags) for i in asking.items] for asking in case.askings
    ] == [
        [("x.1", "How many?", (1,), ("first",))],
        [("x.2.1", "a?", (2,), ("several",)), ("x.2.2", "And a? And b?", (3,), ("b",))],
    ]


def test_the_source_is_named_by_its_files() -> None:
    case = read({"dataset": None, "data": ["tables/a.csv", "b.csv"], "question": "x?"})
    assert (case.source, case.data) == ("a, b", (FOLDER / "tables/a.csv", FOLDER / "b.csv"))


_BAD: dict[str, tuple[dict[str, Any], str]] = {
    "both kinds of answer": ({"answer": 1, "answers": [1]}, "both `answer` and `answers`"),
    "answers that are no list": ({"answers": 1}, "`answers` is not a list"),
    "an answer that is an object": ({"answers": [{}]}, "`answer` is neither"),
    "another expectation": ({"expect": "hope", "answer": 1}, "`expect` is `hope`"),
    "an expectation that is a list": ({"expect": ["answer"], "answer": 1}, "`expect` is"),
    "nothing to compare with": ({"expect": "answer", "answers": []}, "no answer to compare with"),
    "an order that is a number": ({"answer": 1, "ordered": 1}, "`ordered` is neither"),
    "tags that are a text": ({"tags": "a"}, "`tags` is not a list"),
    "tags that are numbers": ({"tags": [1]}, "`tags` is not a list"),
    "turns that are an object": ({"turns": {}}, "`turns` is not a list"),
    "no turns": ({"turns": []}, "`turns` is not a list"),
    "too many turns": ({"turns": [{"question": "x?"}] * 101}, "`turns` is not a list"),
    "a turn that is a text": ({"turns": ["x?"]}, "turn 1 is not a JSON object"),
    "a turn without a question": ({"turns": [{}]}, "`question` is missing"),
    "parts that are a text": ({"parts": "x"}, "`parts` is not a list"),
    "no parts": ({"parts": []}, "`parts` is not a list"),
}


@pytest.mark.parametrize(("line", "says"), _BAD.values(), ids=list(_BAD))
def test_what_cannot_be_used(line: dict[str, Any], says: str) -> None:
    case = read_case(json.dumps({"question": "x?", "dataset": "shop", **line}).encode(), 7, FOLDER)
    assert isinstance(case, BadCase)
    assert case.problem.message.startswith("line 7: ")
    assert says in case.problem.message
    assert case.problem.suggestion
