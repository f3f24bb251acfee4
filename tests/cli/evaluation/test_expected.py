"""Which results are the expected answer: a table of cases, and laws."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandtable.cli.evaluation.expected import Expected, check_expected, same
from sandtable.errors import InvalidInput

_SAME: dict[str, tuple[Any, Any, bool]] = {
    "equal integers": (42, 42, True),
    "neighbours": (42, 43, False),
    "large neighbours": (10_000_001, 10_000_002, False),
    "large integers as text": (9007199254740993, "9007199254740993", True),
    "large text neighbours": (9007199254740993, "9007199254740992", False),
    "integer and float": (42, 42.0, True),
    "a whole number is exact": (42, 42.4, False),
    "the last bits of a sum": (0.1 + 0.2, 0.3, True),
    "a millionth": (1_000_000.5, 1_000_000.9, True),
    "more than a millionth": (1000.5, 1000.6, False),
    "rounded to its decimals": (14.2, 14.2341, True),
    "rounded the other way": (14.2, 14.26, False),
    "rounded up": (14.3, 14.25, True),
    "two decimals": (3.14, 3.14159, True),
    "two decimals, wrong": (3.14, 3.146, False),
    "rounded by the result": (3.14159, 3.14, True),
    "rounded by the result, wrong": (3.14159, 3.15, False),
    "rounded too coarsely by the result": (3.14159, 3.1, False),
    "zero": (0, 0.0, True),
    "zero and a speck": (0, 1e-12, True),
    "zero and a little": (0, 0.001, False),
    "signs": (5, -5, False),
    "negative decimals": (-2.5, -2.4999, True),
    "an exponent has no decimals": (1e-7, 1.4e-7, False),
    "number as text": ("42", 42, True),
    "number found as text": (42, "42", True),
    "thousands": ("1,234", 1234, True),
    "thousands found": (1234, "1,234", True),
    "not thousands": ("1,23", 123, False),
    "decimal text": ("3.50", 3.5, True),
    "percent as it is": ("14.2%", 14.2, True),
    "percent as a fraction": ("14.2 %", 0.142, True),
    "percent of a fraction, rounded": ("14.2 %", 0.14234, True),
    "percent, wrong": ("14.2 %", 0.152, False),
    "a plain number is no percentage": (14.2, 0.142, False),
    "text": ("Germany", "Germany", True),
    "case and spaces": ("  new   york ", "New York", True),
    "width and composition": ("ｃａｆe\u0301", "café", True),
    "a part": ("York", "New York", False),
    "another": ("Germany", "France", False),
    "the German s": ("STRASSE", "straße", True),
    "a day": ("2024-03-01", "2024-03-01T00:00:00", True),
    "a day, zoned": ("2024-03-01", "2024-03-01T00:00:00+00:00", True),
    "a moment of that day": ("2024-03-01", "2024-03-01T10:00:00", False),
    "moments": ("2024-03-01 00:00", "2024-03-01T00:00:00", True),
    "true": (True, True, True),
    "true and false": (True, False, False),
    "true is not one": (True, 1, False),
    "one is not true": (1, True, False),
    "yes is true": ("Yes", True, True),
    "no is true": ("no", True, False),
    "true as a word": (True, "yes", True),
    "text against a boolean": ("Germany", True, False),
    "an empty cell": ("x", None, False),
    "nothing and nothing": (None, None, True),
    "nothing and zero": (None, 0, False),
    "not a number": ("NaN", "NaN", True),
    "a number against not a number": (1.5, "NaN", False),
    "a list in a cell": ("['a']", ["a"], True),
    "a huge number": (10**400, 10**400, True),
    "huge numbers": (10**400, 10**400 + 1, False),
    "a huge float": (1e308, 1e308, True),
    "a month by name": ("2025-03-01", "March 2025", True),
    "a month in short": ("Mar 2025", "2025-03-01T00:00:00", True),
    "a month by number": ("2025-03-01", "2025-03", True),
    "a quarter by name": ("2025-04-01T00:00:00", "2025-Q2", True),
    "a year": ("2025-01-01", 2025, True),
    "a day is not its month": ("2025-03-02", "March 2025", False),
    "another month": ("2025-03-01", "April 2025", False),
    "the letter y is true": (True, "y", True),
}


@pytest.mark.parametrize(("expected", "found", "right"), _SAME.values(), ids=list(_SAME))
def test_one_value(expected: Any, found: Any, right: bool) -> None:
    assert same(expected, found, rounded=True) is right


@pytest.mark.parametrize(
    ("expected", "found", "right"),
    [
        pytest.param(0.5, 0.54, False, id="near is not the same"),
        pytest.param(3.14, 3.14159, False, id="more decimals"),
        pytest.param(0.123456, 0.12, True, id="rounded by the result"),
        pytest.param(1_000_000.5, 1_000_000.9, True, id="a millionth"),
    ],
)
def test_one_exact_value(expected: Any, found: Any, right: bool) -> None:
    assert same(expected, found) is right


ROWS = [["b", 2], ["a", 1]]
_RESULTS: dict[str, tuple[Any, list[list[Any]] | None, str, bool]] = {
    "a scalar": (42, [[42]], "", True),
    "a wrong scalar": (42, [[41]], "", False),
    "no rows": (42, [], "", False),
    "no result": (42, None, "It is 42.", False),
    "words are no result": ("Germany", None, "Germany has the most.", False),
    "beside its measure": ("Electronics", [["Electronics", 0.142]], "", True),
    "beside its key": (0.142, [["Electronics", 0.142]], "", True),
    "in the third column": (7, [["a", "b", 7]], "", True),
    "in a wide row": (7, [["a", "b", "c", 7]], "", False),
    "a needle in SELECT *": ("x", [["x", *range(20)]], "", False),
    "the first of several rows": ("Germany", [["Germany", 3], ["France", 2]], "", False),
    "the same value twice": ("Germany", [["Germany"], ["Germany"]], "", False),
    "a list": (["a", "b"], [["a"], ["b"]], "", True),
    "a list in any order": (["b", "a"], [["a"], ["b"]], "", True),
    "a list beside measures": (["b", "a"], [["a", 1], ["b", 2]], "", True),
    "a list of measures": ([2, 1], [["a", 1], ["b", 2]], "", True),
    "a list, one too many": (["a"], [["a"], ["b"]], "", False),
    "a list, one too few": (["a", "b"], [["a"]], "", False),
    "a list, one twice": (["a", "a"], [["a"], ["b"]], "", False),
    "a list of one": (["a"], [["a"]], "", True),
    "a list across columns": (["a", "b"], [["a", "x"], ["y", "b"]], "", False),
    "a list in a wide result": (["a", "b"], [["a", 1, 2, 3], ["b", 1, 2, 3]], "", False),
    "an empty list": ([], [], "", True),
    "an empty list, something found": ([], [["a"]], "", False),
    "an empty list, no result": ([], None, "", False),
    "several values in one row": ([1, 9], [[9, 1]], "", True),
    "several values in one wide row": ([1, 2, 3, 4], [[1, 2, 3, 4]], "", True),
    "several values in one row beside others": ([1, 9], [[9, 1, 5]], "", True),
    "several values in one row beside too many": ([1, 9], [[9, 1, 5, 6, 7]], "", False),
    "tolerance within lists": ([0.33, 0.67], [[0.6666667], [0.3333333]], "", True),
    "rows": ([["a", 1], ["b", 2]], [["a", 1], ["b", 2]], "", True),
    "rows in another order": ([["b", 2], ["a", 1]], [["a", 1], ["b", 2]], "", True),
    "rows with columns in another order": ([["a", 1], ["b", 2]], [[2, "b"], [1, "a"]], "", True),
    "rows with values of other rows": ([["a", 2], ["b", 1]], [["a", 1], ["b", 2]], "", False),
    "rows beside another column": ([["a"], ["b"]], [["a", 1], ["b", 2]], "", True),
    "rows beside three columns": ([["a"], ["b"]], [["a", 1, 2, 3], ["b", 2, 3, 4]], "", False),
    "rows with a column too few": ([["a", 1], ["b", 2]], [["a"], ["b"]], "", False),
    "columns that are alike": ([["a", 1, 1], ["b", 2, 3]], [[1, "a", 1], [3, "b", 2]], "", True),
    "empty is not zero": ([["a", 1], ["b", None]], [["a", 1], ["b", 0]], "", False),
    "a wide row that is expected": ([[1, 2, 3, 4, 5]], [[1, 2, 3, 4, 5]], "", True),
    "rows with an empty cell": ([["a", None]], [["a", None]], "", True),
    "rows, one missing": ([["a", 1], ["b", 2]], [["a", 1]], "", False),
    "yes, a boolean": ("yes", [[True]], "", True),
    "yes, a false boolean that says yes": ("yes", [[False]], "Yes, there are.", False),
    "true, in words": (True, [[5]], "Yes, there are 5.", True),
    "true, other words": (True, [[5]], "No, there are none.", False),
    "no, without rows": ("no", [], "No: nothing matches.", True),
    "no, nobody said so": ("no", [], "There are none.", False),
    "no, not the start of a word": ("no", [[3]], "North has 3.", False),
    "yes, in bold": (True, [[3]], "**Yes**, 3 of them.", True),
    "yes, without a run": (True, None, "Yes.", True),
    "the word No in a cell": ("No", [["No"]], "The status is No.", True),
    "nothing": (None, [[None]], "", True),
    "nothing, but zero rows": (None, [], "", False),
    "nothing, but a value": (None, [[0]], "", False),
}


@pytest.mark.parametrize(("answer", "rows", "text", "right"), _RESULTS.values(), ids=list(_RESULTS))
def test_a_result(answer: Any, rows: list[list[Any]] | None, text: str, right: bool) -> None:
    check_expected(answer)
    assert Expected((answer,), rounded=True).accepts(rows, text) is right


@pytest.mark.parametrize(
    ("expected", "rows", "right"),
    [
        pytest.param(
            Expected((["a", "b"],), ordered=True), [["b"], ["a"]], False, id="list in the wrong order"
        ),
        pytest.param(Expected((["a", "b"],), ordered=True), [["a", 1], ["b", 2]], True, id="list in order"),
        pytest.param(
            Expected(([["a", 1], ["b", 2]],), ordered=True), ROWS, False, id="rows in the wrong order"
        ),
        pytest.param(Expected(([["b", 2], ["a", 1]],), ordered=True), ROWS, True, id="rows in order"),
        pytest.param(
            Expected((42,), beside=None), [["a", "b", "c", 42]], True, id="whole rows are an answer"
        ),
        pytest.param(Expected((41, 42)), [[42]], True, id="one of several"),
        pytest.param(Expected((41, 43)), [[42]], False, id="none of several"),
        pytest.param(Expected(()), [[42]], False, id="nothing expected"),
    ],
)
def test_what_else_is_expected(expected: Expected, rows: list[list[Any]], right: bool) -> None:
    assert expected.accepts(rows) is right


def test_columns_that_are_alike_are_soon_compared() -> None:
    many = [[n % 2] * 12 + [n] for n in range(40)]
    swapped = [[*row[:12], many[n ^ 1][12]] for n, row in enumerate(many)]
    assert Expected((many,)).accepts(many)
    assert not Expected((many,)).accepts(swapped)


@pytest.mark.parametrize(
    "answer",
    [
        {"a": 1},
        [["a"], "b"],
        [["a"], ["b", 1]],
        ["a", None],
        [[]],
        [[["a"]]],
        float("nan"),
        float("inf"),
        [{"a": 1}],
        [["a", {}]],
    ],
    ids=repr,
)
def test_what_nothing_can_be_compared_with(answer: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        check_expected(answer)
    assert caught.value.suggestion


_cells = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
)
_scalars = _cells.filter(lambda cell: cell is not None)


@given(_scalars)
def test_a_value_is_itself(value: Any) -> None:
    assert same(value, value)
    assert Expected((value,)).accepts([[value]])


@given(st.lists(_scalars, min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_order_is_nothing_to_a_list(values: list[Any], random: Any) -> None:
    shuffled = random.sample(values, len(values))
    assert Expected((values,)).accepts([[value] for value in shuffled])


@given(
    _scalars | st.lists(_scalars, max_size=4), st.lists(st.lists(_cells, min_size=2, max_size=2), max_size=4)
)
def test_any_result_is_judged(answer: Any, rows: list[list[Any]]) -> None:
    assert Expected((answer,)).accepts(rows, "some words") in (True, False)
