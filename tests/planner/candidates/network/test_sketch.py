"""The grammar of sketches: everything that it writes can be read, and gives a plan of the plan language."""

from __future__ import annotations

import random

import pytest

from sandtable.plan.model import QueryPlan
from sandtable.plan.reading import read_plan
from sandtable.planner.candidates.network.conditions import plain_number
from sandtable.planner.candidates.network.plans import plan_of
from sandtable.planner.candidates.network.sketch import (
    GRAMMAR,
    KINDS,
    LONGEST,
    WORDS,
    Item,
    Token,
    Writer,
    is_sketch,
)

TABLE = Item("table", "orders")
REGION, AMOUNT, DATE = (Item("column", "orders", name) for name in ("region", "amount", "order_date"))
EUROPE = Item("value", "orders", "region", "Europe")
YEAR = Item("window", value=(("from", "2024-01-01"), ("to", "2024-12-31")))
TWENTY = Item("number", value=20.0)
TWO_HOURS = Item("number", name="hours", value=2.0)
WAIT = Item("column", "orders", "wait")
UNITS = {("orders", "wait"): "minutes"}
ITEMS = {
    "table": TABLE,
    "column": AMOUNT,
    "metric": Item("metric", "orders", "revenue"),
    "value": EUROPE,
    "number": TWENTY,
    "window": YEAR,
    "text": Item("text", value="x"),
    "unit": Item("unit", value="hours"),
}


def written(seed: int) -> tuple[Token, ...]:
    """A sketch made by chance; short rules are taken when it grows long."""
    rng = random.Random(seed)
    writer, tokens = Writer(), list[Token]()
    while not writer.done:
        allowed = sorted(writer.allowed())
        if len(tokens) > LONGEST // 2:
            allowed = [
                a for a in allowed if a in {"end", "count", "<column>", "<value>", "<number>"}
            ] or allowed
        first = rng.choice(allowed)
        token: Token = ITEMS.get(first[1:-1], first)
        tokens.append(token)
        writer = writer.after(token)
    return tuple(tokens)


@pytest.mark.parametrize("seed", range(400))
def test_what_the_grammar_writes_is_a_sketch_and_its_plan_has_the_form_of_a_plan(seed: int) -> None:
    sketch = written(seed)
    assert is_sketch(sketch)
    plan = plan_of(sketch, "shop")
    if plan is not None:
        assert isinstance(read_plan(plan), QueryPlan)


def test_every_word_can_be_written() -> None:
    seen = {token for seed in range(4000) for token in written(seed) if isinstance(token, str)}
    assert set(WORDS) - seen == set()


def test_no_rule_is_ambiguous() -> None:
    """After any beginning, a token belongs to one rule: two nullable rules in a row never begin alike."""
    for rules in GRAMMAR.values():
        for made in rules.values():
            open_: set[str] = set()
            for part in made:
                first = {f for f in GRAMMAR.get(part, {part: ()}) if f}
                assert not (open_ & first), (made, part)
                open_ = open_ | first if "" in GRAMMAR.get(part, {}) else set()


def test_kinds_of_items_are_those_of_the_grammar() -> None:
    used = {
        part for rules in GRAMMAR.values() for made in rules.values() for part in made if part.startswith("<")
    }
    signs = {"<", "<="}
    assert used - signs == {f"<{kind}>" for kind in KINDS}


CASES: list[tuple[str, tuple[Token, ...], dict[str, object]]] = [
    (
        "sum by group in a year, largest first",
        (TABLE, REGION, "sum", AMOUNT, "time", YEAR, "desc", "#2", "limit", "1", "end"),
        {
            "select": [{"column": "region"}, {"agg": "sum", "column": "amount", "as": "total_amount"}],
            "time": {"from": "2024-01-01", "to": "2024-12-31"},
            "order_by": [{"expr": "total_amount", "dir": "desc"}],
            "limit": 1,
        },
    ),
    (
        "not",
        (TABLE, "count", "where", "not", EUROPE, "end"),
        {
            "select": [{"agg": "count", "as": "count"}],
            "filters": [{"column": "region", "op": "!=", "value": "Europe"}],
        },
    ),
    (
        "a list of values",
        (TABLE, "count", "where", "either", EUROPE, "or", Item("value", "orders", "region", "Asia"), "end"),
        {
            "select": [{"agg": "count", "as": "count"}],
            "filters": [{"column": "region", "op": "in", "value": ["Europe", "Asia"]}],
        },
    ),
    (
        "a share with a percent limit",
        (TABLE, REGION, "share", EUROPE, "having", ">", "#2", Item("number", name="%", value=20.0), "end"),
        {
            "select": [
                {"column": "region"},
                {
                    "op": "/",
                    "left": {"agg": "count", "where": [{"column": "region", "op": "=", "value": "Europe"}]},
                    "right": {"agg": "count"},
                    "as": "share",
                },
            ],
            "having": [{"column": "share", "op": ">", "value": 0.2}],
        },
    ),
    (
        "growth",
        (TABLE, "month", DATE, "sum", AMOUNT, "growth", "#2", "end"),
        {
            "select": [
                {"bucket": "month", "column": "order_date", "as": "month"},
                {"agg": "sum", "column": "amount", "as": "total_amount"},
            ],
            "derive": [
                {
                    "change": "total_amount",
                    "along": "month",
                    "kind": "percent",
                    "as": "growth_of_total_amount",
                }
            ],
        },
    ),
    (
        "in another unit",
        (
            TABLE,
            REGION,
            "avg",
            WAIT,
            "in",
            Item("unit", value="hours"),
            "having",
            ">",
            "#2",
            TWO_HOURS,
            "end",
        ),
        {
            "select": [
                {"column": "region"},
                {"agg": "avg", "column": "wait", "unit": "hours", "as": "average_wait"},
            ],
            "having": [{"column": "average_wait", "op": ">", "value": 2}],
        },
    ),
    (
        "a number in another unit",
        (TABLE, "count", "where", ">", WAIT, TWO_HOURS, "where", "<", "days", DATE, "now", TWO_HOURS, "end"),
        {
            "select": [{"agg": "count", "as": "count"}],
            "filters": [
                {"column": "wait", "op": ">", "value": 120},
                {"of": {"elapsed": "day", "from": "order_date"}, "op": "<", "value": 2 / 24},
            ],
        },
    ),
    (
        "the rank of one",
        (TABLE, REGION, "sum", AMOUNT, "having", EUROPE, "rank", "#2", "end"),
        {
            "select": [{"column": "region"}, {"agg": "sum", "column": "amount", "as": "total_amount"}],
            "having": [{"column": "region", "op": "=", "value": "Europe"}],
            "derive": [{"rank": "total_amount", "as": "rank"}],
        },
    ),
    (
        "arithmetic of two columns",
        (TABLE, REGION, "less", AMOUNT, WAIT, "end"),
        {
            "select": [
                {"column": "region"},
                {
                    "op": "-",
                    "left": {"column": "amount"},
                    "right": {"column": "wait"},
                    "as": "amount_less_wait",
                },
            ],
        },
    ),
]
OVER_GROUPS: list[tuple[str, tuple[Token, ...], dict[str, object]]] = [
    ("how many groups", ("count",), {"agg": "count", "as": "groups"}),
    ("the mean of the groups", ("avg", "#2"), {"agg": "avg", "column": "count", "as": "average"}),
    (
        "the share of the groups",
        ("share", ">", "#2", "1"),
        {
            "op": "/",
            "left": {"agg": "count", "where": [{"column": "count", "op": ">", "value": 1}]},
            "right": {"agg": "count"},
            "as": "share",
        },
    ),
]


@pytest.mark.parametrize(("name", "sketch", "plan"), CASES, ids=[case[0] for case in CASES])
def test_sketches_as_plans(name: str, sketch: tuple[Token, ...], plan: dict[str, object]) -> None:
    assert plan_of(sketch, "shop", UNITS) == {"dataset_id": "shop", "table": "orders", **plan}


@pytest.mark.parametrize(("name", "over", "item"), OVER_GROUPS, ids=[case[0] for case in OVER_GROUPS])
def test_a_measure_over_groups_reads_them_as_a_table(
    name: str, over: tuple[Token, ...], item: dict[str, object]
) -> None:
    customer = Item("column", "orders", "customer_id")
    groups = {"table": "orders", "select": [{"column": "customer_id"}, {"agg": "count", "as": "count"}]}
    assert plan_of((TABLE, customer, "count", "then", *over, "end"), "shop") == {
        "dataset_id": "shop",
        "define": [{"name": "per_customer", "plan": groups}],
        "table": "per_customer",
        "select": [item],
    }


def test_a_sketch_that_means_nothing_gives_no_plan() -> None:
    assert plan_of(("none",), "shop") is None
    assert plan_of((TABLE, "count", "desc", "#4", "end"), "shop") is None
    assert plan_of((TABLE, "count"), "shop") is None
    assert plan_of((TABLE, "count", "having", EUROPE, "end"), "shop") is None


@pytest.mark.parametrize(
    ("said", "unit", "meant"),
    [
        (5_000_000.0, "millions", 5),
        (5.0, "millions", 5),
        (2_500_000.0, "millions", 2.5),
        (12_000.0, "thousands", 12),
        (5_000_000.0, "", 5_000_000),
    ],
)
def test_a_million_is_one_in_a_column_of_millions(said: float, unit: str, meant: float) -> None:
    assert plain_number(Item("number", value=said), unit) == meant
