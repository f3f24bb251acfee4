"""Yes or no: only where the rows decide it, and never against the numbers in the same sentence."""

from __future__ import annotations

import operator
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandtable.plan.validate import parse_plan
from sandtable.sql.compile import compile_plan
from sandtable.wording import answer_of
from tests.wording.running import CATALOG

SUPPORT = CATALOG.get("support")
Plan = dict[str, Any]
COUNTS = st.integers(0, 5_000)


def ask(question: str, plan: Plan, columns: list[tuple[str, str]], *rows: list[Any]) -> str:
    full = {"dataset_id": "support", "table": "tickets", **plan}
    assert compile_plan(parse_plan(full), SUPPORT).sql
    return answer_of(question, full, columns, list(rows), SUPPORT, row_count=len(rows))


def lead(text: str) -> str:
    found = re.match(r"(Yes|No), ", text)
    return found[1] if found else ""


def count(question: str, number: int, *filters: Plan) -> str:
    return ask(
        question, {"select": [{"agg": "count"}], "filters": list(filters)}, [("count", "BIGINT")], [number]
    )


def two(question: str, urgent: int, low: int) -> str:
    plan = {
        "select": [{"column": "priority"}, {"agg": "count"}],
        "group_by": ["priority"],
        "filters": [{"column": "priority", "op": "in", "value": ["urgent", "low"]}],
        "order_by": [{"expr": "count", "dir": "desc"}],
    }
    rows = [["urgent", urgent], ["low", low]]
    return ask(
        question,
        plan,
        [("priority", "VARCHAR"), ("count", "BIGINT")],
        *(rows if urgent >= low else rows[::-1]),
    )


def share(question: str, part: float) -> str:
    over = [{"column": "csat", "op": ">=", "value": 3}]
    item = {"op": "/", "left": {"agg": "count", "where": over}, "right": {"agg": "count"}, "as": "share"}
    return ask(question, {"select": [item]}, [("share", "DOUBLE")], [part])


URGENT: Plan = {"column": "priority", "op": "=", "value": "urgent"}
SLOW: Plan = {"column": "first_response_minutes", "op": ">", "value": 240}


@pytest.mark.parametrize(
    ("question", "number", "said"),
    [
        ("Did any ticket wait more than 240 minutes?", 2, "Yes"),
        ("Did any ticket wait more than 240 minutes?", 0, "No"),
        ("Is anyone waiting longer than 240 minutes?", 3, "Yes"),
        ("Are there tickets that waited over 240 minutes?", 0, "No"),
        ("Does the queue hold a ticket above 240 minutes?", 1, "Yes"),
        ("Did more than 20 tickets wait over 240 minutes?", 30, "Yes"),
        ("Did more than 20 tickets wait over 240 minutes?", 20, "No"),
        ("Are there at least 20 tickets above 240 minutes?", 20, "Yes"),
        ("Are there fewer than 1k tickets above 240 minutes?", 999, "Yes"),
        ("Are there no more than 5 tickets above 240 minutes?", 6, "No"),
        ("Were tickets above 240 minutes?", 7, ""),
        ("Did the tickets wait more than 240 minutes?", 7, ""),
        ("Did all tickets wait more than 240 minutes?", 7, ""),
        ("Is every ticket above 240 minutes?", 0, ""),
        ("Do most tickets wait more than 240 minutes?", 7, ""),
        ("Are there no tickets above 240 minutes?", 0, ""),
        ("Is there nobody above 240 minutes?", 4, ""),
        ("Are there exactly 3 tickets above 240 minutes?", 3, ""),
        ("Are there more urgent tickets than low ones above 240 minutes?", 7, ""),
        ("How many tickets waited more than 240 minutes?", 7, ""),
    ],
)
def test_a_count(question: str, number: int, said: str) -> None:
    assert lead(count(question, number, SLOW)) == said


@pytest.mark.parametrize(
    ("question", "urgent", "low", "said"),
    [
        ("Are there more urgent tickets than low priority ones?", 1_470, 3_631, "No"),
        ("Are there more low tickets than urgent ones?", 1_470, 3_631, "Yes"),
        ("Are there fewer urgent than low tickets?", 1_470, 3_631, "Yes"),
        ("Are there no fewer urgent than low tickets?", 5, 5, "Yes"),
        ("Are there at least as many urgent tickets as low ones?", 5, 5, "Yes"),
        ("Are there at least as many urgent tickets as low ones?", 4, 5, "No"),
        ("Is urgent more common than low?", 5, 5, "No"),
        ("Are there more of one than of the other?", 5, 6, ""),
        ("Are there more lowest than urgently needed ones?", 5, 6, ""),
        ("Are there more urgent and low tickets than others?", 5, 6, ""),
        ("Are there any urgent or low tickets?", 5, 6, "Yes"),
    ],
)
def test_two_groups(question: str, urgent: int, low: int, said: str) -> None:
    assert lead(two(question, urgent, low)) == said


@pytest.mark.parametrize(
    ("question", "values", "said"),
    [
        ("Are there more male than female patients?", {"Male": 14, "Female": 50}, "No"),
        ("Are there more women than men?", {"M": 14, "F": 50}, "Yes"),
    ],
)
def test_names_are_matched_as_whole_words(question: str, values: dict[str, int], said: str) -> None:
    columns = [("gender", "VARCHAR"), ("patients", "BIGINT")]
    rows = [list(pair) for pair in values.items()]
    assert lead(answer_of(question, None, columns, rows, SUPPORT, row_count=2)) == said


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Are there more tickets with a score of 1 than with a score of 5?", "No"),
        ("Are there fewer tickets with score 1 than with score 5?", "Yes"),
    ],
)
def test_groups_that_are_numbers(question: str, said: str) -> None:
    plan = {"select": [{"column": "csat"}, {"agg": "count"}], "group_by": ["csat"]}
    columns = [("csat", "BIGINT"), ("count", "BIGINT")]
    assert lead(ask(question, plan, columns, [1, 40], [5, 300])) == said


@pytest.mark.parametrize(
    ("question", "part", "said"),
    [
        ("Do all tickets have a score of at least 3?", 1.0, "Yes"),
        ("Do all tickets have a score of at least 3?", 0.9, "No"),
        ("Does every ticket score at least 3?", 0.0, "No"),
        ("Do most tickets score at least 3?", 0.51, "Yes"),
        ("Do most tickets score at least 3?", 0.5, "No"),
        ("Do more than half of the tickets score at least 3?", 0.4, "No"),
        ("Is the share of scores of at least 3 above 40 %?", 0.41, "Yes"),
        ("Is the share of scores of at least 3 above 40 %?", 0.4, "No"),
    ],
)
def test_a_share(question: str, part: float, said: str) -> None:
    assert lead(share(question, part)) == said


@pytest.mark.parametrize(
    ("average", "said"), [(29.0, "No"), (30.0, "No"), (31.5, "Yes")], ids=["below", "equal", "above"]
)
def test_a_value_against_a_number(average: float, said: str) -> None:
    item = {"agg": "avg", "column": "first_response_minutes", "as": "average"}
    text = ask(
        "Is the average first response above 30?", {"select": [item]}, [("average", "DOUBLE")], [average]
    )
    assert lead(text) == said


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Did any passenger pay more than 240?", ""),
        ("Are there passengers above 240?", ""),
        ("Is the average fare above 240?", "No"),
    ],
)
def test_without_a_plan_a_number_may_be_a_condition(question: str, said: str) -> None:
    assert lead(answer_of(question, None, [("n", "BIGINT")], [[2]], SUPPORT, row_count=1)) == said


def test_rows_without_names_are_no_sides() -> None:
    text = answer_of("Is one more than two?", None, [("n", "BIGINT")], [[2], [3]], SUPPORT, row_count=2)
    assert lead(text) == ""


@pytest.mark.parametrize(("fits", "said"), [(1, "Yes"), (0, "No")])
def test_the_first_row(fits: int, said: str) -> None:
    plan = {
        "select": [
            {"column": "ticket_id"},
            {"agg": "max", "column": "first_response_minutes", "as": "longest"},
            {"agg": "count", "where": [URGENT], "as": "fits"},
        ],
        "group_by": ["ticket_id"],
        "order_by": [{"expr": "longest", "dir": "desc"}],
        "limit": 1,
    }
    columns = [("ticket_id", "VARCHAR"), ("longest", "BIGINT"), ("fits", "BIGINT")]
    text = ask("Is the slowest ticket urgent?", plan, columns, ["T-7", 900, fits])
    assert lead(text) == said
    assert ("not so that priority is urgent" in text) is (fits == 0)


@given(
    COUNTS,
    COUNTS,
    st.sampled_from(
        [
            ("more {} than {} tickets", operator.gt),
            ("fewer {} than {} tickets", operator.lt),
            ("at least as many {} as {} tickets", operator.ge),
            ("no more {} than {} tickets", operator.le),
        ]
    ),
    st.booleans(),
)
def test_two_counts_are_never_contradicted(
    one: int, other: int, asked: tuple[str, Any], swapped: bool
) -> None:
    words, test = asked
    names, values = ("urgent", "low"), (one, other)
    if swapped:
        names, values = names[::-1], values[::-1]
    text = two(f"Are there {words.format(*names)}?", one, other)
    assert lead(text) == ("Yes" if test(*values) else "No")


@given(COUNTS, COUNTS, st.sampled_from([("more than", operator.gt), ("at least", operator.ge)]))
def test_a_count_against_a_number_is_never_contradicted(
    number: int, bound: int, asked: tuple[str, Any]
) -> None:
    words, test = asked
    text = count(f"Are there {words} {bound:,} urgent tickets?", number, URGENT)
    assert lead(text) == ("Yes" if test(number, bound) else "No")


@given(
    COUNTS,
    st.sampled_from(["Are there any {}?", "Is there a ticket that is {}?", "Was anyone {}?", "Is it {}?"]),
)
def test_some_is_yes_and_none_is_no(number: int, words: str) -> None:
    text = count(words.format("urgent"), number, URGENT)
    assert lead(text) == ("Yes" if number else "No")
    assert (" no tickets" in text) is (number == 0)
