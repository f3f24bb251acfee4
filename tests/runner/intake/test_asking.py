"""Two readings that differ: decided by another column or an answer, else asked."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest

from sandtable.catalog.recipe import FileQuestion
from sandtable_runner.intake.bad_file import BadFile
from tests.runner.intake.cells import Bench


@pytest.fixture(scope="module")
def bench() -> Bench:
    return Bench()


def _question(typed: Any) -> FileQuestion:
    (question,) = typed.decision.questions
    return FileQuestion.model_validate(question)


def test_day_or_month_is_asked(bench: Bench) -> None:
    question = _question(bench.decide({"ordered": ["01/01/2024", "03/04/2024", "05/06/2024"]}))
    assert question.id == "orders.ordered"
    assert question.text == "Is 03/04/2024 in column ordered 3 April 2024 or 4 March 2024?"
    assert [(choice.label, choice.answer) for choice in question.choices] == [
        ("3 April 2024 (day first)", "day-first"),
        ("4 March 2024 (month first)", "month-first"),
        ("03/04/2024 (keep as text)", "text"),
    ]


_ANSWERS = {
    "day-first": ("DATE", dt.date(2024, 4, 3), "%d/%m/%Y"),
    "month-first": ("DATE", dt.date(2024, 3, 4), "%m/%d/%Y"),
    "date:%m/%d/%Y": ("DATE", dt.date(2024, 3, 4), "%m/%d/%Y"),
    "text": ("VARCHAR", "03/04/2024", ""),
}


@pytest.mark.parametrize("answer", _ANSWERS)
def test_an_answer_decides(bench: Bench, answer: str) -> None:
    typed = bench.decide({"ordered": ["03/04/2024"]}, {"orders.ordered": answer})
    sql_type, value, form = _ANSWERS[answer]
    assert (typed.types["ordered"], typed.values["ordered"], typed.column("ordered")["format"]) == (
        sql_type, [value], form
    )  # fmt: skip
    assert typed.column("ordered")["reason"] == "chosen"
    assert not typed.decision.questions


def test_dates_that_are_the_same_either_way_are_not_asked(bench: Bench) -> None:
    typed = bench.decide({"ordered": ["01/01/2024", "02/02/2024"]})
    assert (typed.types["ordered"], typed.decision.questions) == ("DATE", [])


@pytest.mark.parametrize(
    ("cell", "answers"),
    {
        "1,234": {"thousands": 1234, "decimal-comma": 1.234},
        "1.234": {"thousands": 1234, "decimal-point": 1.234},
        "1,234 %": {"thousands": 1234.0, "decimal-comma": 1.234},
        "$1,234": {"thousands": Decimal(1234), "decimal-comma": Decimal("1.234")},
    }.items(),
)
def test_thousand_or_decimal_is_asked(bench: Bench, cell: str, answers: dict[str, Any]) -> None:
    cells = {"x": [cell]}
    question = _question(bench.decide(cells))
    assert {choice.answer for choice in question.choices} == {*answers, "text"}
    for answer, value in answers.items():
        assert bench.decide(cells, {"orders.x": answer}).values["x"] == [value]


def test_three_readings_of_a_date(bench: Bench) -> None:
    question = _question(bench.decide({"x": ["01-02-03"]}))
    assert [choice.label for choice in question.choices] == [
        "1 February 2003 (day first)",
        "2 January 2003 (month first)",
        "3 February 2001 (year first)",
        "01-02-03 (keep as text)",
    ]
    assert bench.decide({"x": ["01-02-03"]}, {"orders.x": "year-first"}).values["x"] == [dt.date(2001, 2, 3)]


def test_another_column_decides(bench: Bench) -> None:
    typed = bench.decide(
        {"ordered": ["03/04/2024"], "paid": ["25/12/2024 10:00"], "price": ["1,234"], "weight": ["0,5"]}
    )
    assert typed.values["ordered"] == [dt.date(2024, 4, 3)]
    assert typed.values["price"] == [1.234]
    assert typed.column("ordered")["reason"] == "as in column paid"
    assert typed.column("price")["reason"] == "as in column weight"


def test_columns_that_contradict_each_other_decide_nothing(bench: Bench) -> None:
    typed = bench.decide({"a": ["03/04/2024"], "b": ["25/12/2024"], "c": ["12/25/2024"]})
    assert [question["id"] for question in typed.decision.questions] == ["orders.a"]


def test_one_question_for_columns_in_the_same_doubt(bench: Bench) -> None:
    cells = {"a": ["03/04/2024"], "b": ["05/06/2024"], "c": ["1,234"]}
    first, second = bench.decide(cells).decision.questions
    assert (first["id"], second["id"]) == ("orders.a", "orders.c")
    assert "columns a and b" in first["text"]
    typed = bench.decide(cells, {"orders.a": "month-first", "orders.c": "thousands"})
    assert (typed.values["b"], typed.column("b")["reason"]) == ([dt.date(2024, 5, 6)], "as in column a")
    assert not typed.decision.questions
    kept = bench.decide(cells, {"orders.a": "text", "orders.c": "text"})
    assert set(kept.types.values()) == {"VARCHAR"} and not kept.decision.questions


def test_a_late_cell_decides(bench: Bench) -> None:
    """The sample cannot tell; all rows can."""
    cells = ["03/04/2024"] * 60_000 + ["25/04/2024"]
    typed = bench.decide({"x": cells})
    assert typed.column("x")["format"] == "%d/%m/%Y"


_OVERRIDES = {
    "text": (["1", "2"], "VARCHAR", "1"),
    "decimal": (["1", "2"], "DOUBLE", 1.0),
    "decimal:,": (["1", "2"], "DOUBLE", 1.0),
    "money:EUR": (["5 €", "1,50 €"], "DECIMAL(18,2)", Decimal("5.00")),
    "money": (["5 €", "1,50 €"], "DECIMAL(18,2)", Decimal("5.00")),
    "date:%Y%m%d": (["20240305", "20240306"], "DATE", dt.date(2024, 3, 5)),
    "date": (["2024-03-05", "2024-03-06"], "DATE", dt.date(2024, 3, 5)),
}


@pytest.mark.parametrize("answer", _OVERRIDES)
def test_any_column_can_be_corrected(bench: Bench, answer: str) -> None:
    cells, sql_type, value = _OVERRIDES[answer]
    typed = bench.decide({"x": cells}, {"orders.x": answer})
    assert (typed.types["x"], typed.values["x"][0]) == (sql_type, value)


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ({"orders.x": "day-last"}, ("'day-last'", "day-first", "month-first", "text")),
        ({"orders.n": "number"}, ("'number'", "integer", "money:EUR")),
        ({"orders.n": "date:%Q"}, ("'date:%Q'",)),
        ({"orders.n": "money:dollars"}, ("'money:dollars'",)),
        ({"orders.n": "money"}, ("currency", "money:EUR")),
        ({"orders.y": "text"}, ("'y'", "x, n")),
        ({"orders.n": "date"}, ("row 1", "'7'", "column n", "date")),
    ],
)
def test_an_unknown_answer_is_refused(bench: Bench, answers: dict[str, str], words: tuple[str, ...]) -> None:
    with pytest.raises(BadFile) as caught:
        bench.decide({"x": ["03/04/2024"], "n": ["7"]}, answers)
    said = f"{caught.value.message} {caught.value.suggestion}"
    for word in words:
        assert word in said
