"""What a question is asked for is put aside, and nothing of what it asks."""

from __future__ import annotations

import pytest

from sandtable.planner.conscience import account
from tests.planner.conscience.carrier import INDEX, by, of, plan

BY_CARRIER = by("carrier", of("sum", "fee_eur"))


@pytest.mark.parametrize(
    "question",
    [
        "One for the monthly report: total fee by carrier",
        "For the board meeting I need the total fee by carrier",
        "our auditors want to know the total fee by carrier",
        "quick question: total fee by carrier",
        "I'm preparing a slide on pricing: total fee by carrier",
    ],
)
def test_the_occasion_is_put_aside(question: str) -> None:
    assert account(question, BY_CARRIER, INDEX).clean


@pytest.mark.parametrize(
    ("question", "unbound"),
    [
        ("For the monthly fee report: total fee by carrier", "monthly"),  # it names the data
        ("total fee by carrier for the monthly report", "monthly"),
        ("For March 2025, the total fee by carrier", "March"),
        ("our drivers want to know the total fee in 2024 by carrier", "2024"),
    ],
)
def test_what_is_asked_stays(question: str, unbound: str) -> None:
    left = account(question, BY_CARRIER, INDEX).unbound
    assert any(unbound in each.text for each in left)


def test_a_plan_for_nothing_but_the_occasion_stays_unclean() -> None:
    assert not account("For the monthly report: total fee by carrier in Rome", plan(), INDEX).clean
