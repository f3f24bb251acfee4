"""What a question's words may stand for: values, numbers with a direction, columns."""

from __future__ import annotations

import pytest

from sandtable.planner.candidates.lookup.reading import read_question
from sandtable.planner.candidates.lookup.spans import Span
from tests.planner.candidates.lookup.small_tables import LAKES, ORDERS, STAFF, F, N, T, index_of


def _spans(question: str) -> tuple[Span, ...]:
    reading = read_question(question, STAFF, "staff")
    assert reading is not None
    return reading.spans


@pytest.mark.parametrize(
    ("question", "cue", "inclusive"),
    [
        ("salary more than 60000", ">", False),
        ("salary greater than 60000", ">", False),
        ("a salary of over 60000", ">", False),
        ("salary at least 60000", ">", True),
        ("salary of 60000 or more", ">", True),
        ("salary of 60000 and above", ">", True),
        ("no less than 60000", ">", True),
        ("salary below 60000", "<", False),
        ("fewer than 60000", "<", False),
        ("salary at most 60000", "<", True),
        ("salary no more than 60000", "<", True),
        ("salary up to 60000 or less", "<", True),
        ("hired after 2015", ">", False),
        ("the most for 60000", "", False),
        ("minimum salary and year 2015", "", False),
        ("salary 60000", "", False),
    ],
)
def test_words_beside_a_number_compare(question: str, cue: str, inclusive: bool) -> None:
    spans = [span for span in _spans(question) if span.number]
    if not cue:
        assert all(option.op == "=" for span in spans for option in span.options)
        return
    assert [(span.cue, span.inclusive) for span in spans] == [(cue, inclusive)]
    assert {option.column for option in spans[0].options if option.op == cue} == {3, 4}


@pytest.mark.parametrize(
    ("question", "column", "value"),
    [
        ("where is AIKO TANAKA", 0, "Aiko Tanaka"),
        ("aiko-tanaka's city", 0, "Aiko Tanaka"),
        ("all engineers", 1, "Engineer"),
        ("who earns 72,000", 3, 72000),
        ("hired in 2015", 4, 2015),
        ("the sales rep", 1, "Sales Rep"),
    ],
)
def test_a_value_is_found_as_the_data_has_it(question: str, column: int, value: str | int) -> None:
    assert [(o.column, o.op, o.value) for span in _spans(question) for o in span.options] == [
        (column, "=", value)
    ]


def test_the_longest_value_wins() -> None:
    index = index_of(
        "t", {"team": T, "city": T, "n": N}, [("New York Jets", "New York", 3), ("York", "Jets", 4)]
    )
    reading = read_question("how did the New York Jets do?", index, "t")
    assert reading is not None
    assert [span.text for span in reading.spans] == ["New York Jets"]


def test_a_number_that_no_column_could_hold_is_not_compared() -> None:
    index = index_of("t", {"name": T, "share": F}, [("a b", 0.5)])
    reading = read_question("name with share over 1e400 or over 99999999999999999999", index, "t")
    assert reading is not None
    assert all(abs(float(o.value)) < 1e16 for span in reading.spans for o in span.options)


@pytest.mark.parametrize(
    ("question", "column", "least"),
    [
        ("what is the job title", 1, 0.99),
        ("the max depth of it", -1, 0.0),
        ("which departments are there", 2, 0.99),
        ("tell me the departmnt", 2, 0.6),
        ("year of hire", 4, 0.9),
    ],
)
def test_a_column_is_mentioned(question: str, column: int, least: float) -> None:
    reading = read_question(question, STAFF, "staff")
    assert reading is not None
    if column < 0:
        assert not any(reading.mentions)
        return
    shares = [max((m.share for m in found), default=0.0) for found in reading.mentions]
    assert max(range(len(shares)), key=lambda at: shares[at]) == column
    assert shares[column] >= least


def test_what_stands_in_parentheses_may_be_left_out() -> None:
    reading = read_question("what is the max depth?", LAKES, "lakes")
    assert reading is not None
    assert reading.mentions[3][0].share > 0.8


def test_columns_know_what_they_hold() -> None:
    reading = read_question("orders", ORDERS, "orders")
    assert reading is not None
    kinds = [column.kind for column in reading.view.columns]
    assert kinds == ["n", "t1", "t1", "t2", "t1", "n", "n", "d"]
    units = reading.view.columns[5]
    assert units.allows(">", 19)
    assert not units.allows(">", 20)
    assert not units.allows("<", 1)
    assert not units.allows("=", 21)
