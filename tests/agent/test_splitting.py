"""Which messages are several questions, and which are one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandtable.agent.splitting import leans, questions_in

SEVERAL: list[tuple[str, tuple[str, ...]]] = [
    (
        "How many orders in 2025? And which region sold most?",
        ("How many orders in 2025?", "And which region sold most?"),
    ),
    ("How many orders in 2025? And by month?", ("How many orders in 2025?", "And by month?")),
    ("Revenue in 2025? In 2024?", ("Revenue in 2025?", "In 2024?")),
    (
        "How many orders in 2025. And which region sold most.",
        ("How many orders in 2025.", "And which region sold most."),
    ),
    (
        "How many orders in 2025 and which region sold most?",
        ("How many orders in 2025", "and which region sold most?"),
    ),
    (
        "total revenue, and also the number of customers by region",
        ("total revenue", "the number of customers by region"),
    ),
    ("total revenue; number of customers by region", ("total revenue", "number of customers by region")),
    (
        "1. How many orders?\n2. Which region sold most?\n3. Revenue by month",
        ("How many orders?", "Which region sold most?", "Revenue by month"),
    ),
    ("1) total revenue 2) orders by month", ("total revenue", "orders by month")),
    (
        "Please answer these questions:\n- revenue by region\n- orders by month",
        ("revenue by region", "orders by month"),
    ),
    ("How many orders?\nWhich region sold most?", ("How many orders?", "Which region sold most?")),
    ("Revenue by region\n\nOrders by month", ("Revenue by region", "Orders by month")),
    ("Hi! How many orders in 2025? And by month? Thanks!", ("How many orders in 2025?", "And by month?")),
    ("Sales for St. Louis? And for Mt. Airy?", ("Sales for St. Louis?", "And for Mt. Airy?")),
]


@pytest.mark.parametrize(("message", "questions"), SEVERAL, ids=[message[:40] for message, _ in SEVERAL])
def test_several_questions(message: str, questions: tuple[str, ...]) -> None:
    assert questions_in(message) == questions


@pytest.mark.parametrize(
    "message",
    [
        "revenue and orders by region",
        "revenue by region, and also the number of orders",
        "revenue, and also orders, by region",
        "What is the total revenue and what is the average order value?",
        "which region and which product sold most?",
        "which product has the highest price and how many units were sold?",
        "list the customers and how many orders they have",
        "who are the top 5 customers and how much did they spend?",
        "How many orders were placed and how many were returned?",
        # What only says what is meant belongs to the question.
        "I only care about Germany. What was revenue by month?",
        "Which region sold most? I mean in 2025.",
        "For 2025:\n- revenue by region\n- orders by month",
        "Revenue by region\nfor the year 2025",
        "Which region had the highest\ntotal revenue by month?",
        "How many orders in 2025? Thanks!",
        'customers named "Who? Me?"',
        "orders over 1.5 and under 2.5",
        "",
    ],
)
def test_one_question(message: str) -> None:
    assert questions_in(message) == (message.strip(),)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("and by month?", True),
        ("in 2024?", True),
        ("how many of those are open?", True),
        ("total revenue", False),
    ],
)
def test_what_may_lean_on_the_question_before(question: str, expected: bool) -> None:
    assert leans(question) is expected


_PIECES = st.sampled_from(
    [
        "How many orders?",
        "And by month?",
        "Thanks!",
        "1. ",
        "2) ",
        "- ",
        "\n",
        "; ",
        ", and also ",
        "by region",
        "x",
        "“",
        '"',
        ":",
    ]
)


@given(st.lists(_PIECES, max_size=12).map(" ".join) | st.text(max_size=80))
def test_pieces_are_parts_of_the_message_in_its_order(message: str) -> None:
    at = 0
    for piece in questions_in(message):
        found = message.find(piece, at)
        assert found >= at
        at = found + len(piece)
