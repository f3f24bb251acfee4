"""Which columns code can see. Reading too much costs time; reading too little would be a wrong answer."""

from __future__ import annotations

import ast

import pandas as pd
import pytest

from sandtable_runner.python.needs import family, needs

_COLUMNS = {"orders": ["id", "region", "amount", "count"], "people": ["name", "age"]}
_NAMES = {"orders": "orders", "df": "orders", "people": "people"}
_METHODS = frozenset(dir(pd.DataFrame))

_PRUNED = {
    "one column": ('orders["amount"].sum()', {"orders": {"amount"}}),
    "several columns": ('orders[["id", "amount"]].head()', {"orders": {"id", "amount"}}),
    "attribute": ("orders.amount.max()", {"orders": {"amount"}}),
    "group by a key": ('orders.groupby("region")["amount"].sum()', {"orders": {"region", "amount"}}),
    "group by keys": (
        'orders.groupby(["region", "id"], as_index=False)[["amount"]].sum()',
        {"orders": {"region", "id", "amount"}},
    ),
    "group and attribute": ('orders.groupby("region").amount.mean()', {"orders": {"region", "amount"}}),
    "an alias": ('df["id"] + orders.amount', {"orders": {"id", "amount"}}),
    "in a function": ('def f():\n    return orders["id"].sum()\nf()', {"orders": {"id"}}),
    "in a comprehension": ('[v for v in orders["id"]]', {"orders": {"id"}}),
    "in a string that is filled": ('f"{orders.amount.sum()}"', {"orders": {"amount"}}),
    "two tables": ('orders["id"].sum() + people["age"].sum()', {"orders": {"id"}, "people": {"age"}}),
    "none named": ("1 + 1", {}),
    "named in a text only": ('print("orders")', {}),
}
_WHOLE = {
    "itself": "orders",
    "a method": "orders.head()",
    "a method with a column's name": "orders.count()",
    "a filter": 'orders[orders["amount"] > 3]',
    "a new column": 'orders["x"] = orders["amount"]',
    "a column replaced": 'orders["amount"] = 3',
    "a column deleted": 'del orders["amount"]',
    "an attribute set": "orders.amount = 3",
    "bound anew": 'orders = orders["amount"]',
    "deleted": "del orders",
    "passed on": "len(orders)",
    "an unknown column": 'orders["amuont"]',
    "an unknown attribute": "orders.amuont",
    "a computed column": 'c = "amount"\norders[c]',
    "a slice": "orders[1:3]",
    "a text in a tuple": 'orders["a", "b"]',
    "group without a choice": 'orders.groupby("region").sum()',
    "group's own method": 'orders.groupby("region").ngroups',
    "group by an expression": 'orders.groupby(orders["id"] % 2)["amount"].sum()',
    "group along another axis": 'orders.groupby("region", level=0)["amount"].sum()',
    "group unused": 'g = orders.groupby("region")\ng["amount"].sum()',
    "a parameter of that name": 'def f(orders):\n    return orders["id"]',
    "in a formatted text": 'f"{orders}"',
    "reflection": 'globals()["orders"]',
    "evaluated": "eval('orders')",
    "pruned here, whole there": 'orders["id"].sum()\nprint(orders)',
    "whole here, pruned there": 'print(orders)\norders["id"].sum()',
    "global": 'def f():\n    global orders\n    orders = 1\norders["id"]',
}


def _needs(code: str) -> dict[str, object]:
    return dict(needs(family(ast.parse(code)), _NAMES, _COLUMNS, _METHODS))


@pytest.mark.parametrize(("code", "expected"), _PRUNED.values(), ids=list(_PRUNED))
def test_only_what_is_picked(code: str, expected: dict[str, set[str]]) -> None:
    assert _needs(code) == {table: frozenset(columns) for table, columns in expected.items()}


@pytest.mark.parametrize("code", _WHOLE.values(), ids=list(_WHOLE))
def test_the_whole_table(code: str) -> None:
    assert _needs(code)["orders"] is None
