"""SQL over several tables as sketches, and Spider's form of questions as examples."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from evals.public.measure import is_tune
from sandtable.planner.candidates.network.sketch import Token
from training.reader.example import Example
from training.reader.from_spider import examples

DB = next(name for name in ("shop_1", "shop_2", "shop_3", "shop_4") if not is_tune(name))


def _table(name: str, *columns: tuple[str, str]) -> dict[str, Any]:
    named = [{"name": c.replace("_", " ").lower(), "original": c, "type": kind} for c, kind in columns]
    return {"name": name, "original": name, "columns": named}


SCHEMA = {
    "db": DB,
    "tables": [
        _table("customer", ("customer_id", "number"), ("name", "text"), ("city", "text"), ("age", "number")),
        _table(
            "orders",
            ("order_id", "number"),
            ("customer_id", "number"),
            ("amount", "number"),
            ("status", "text"),
            ("placed_on", "time"),
        ),
    ],
    "primary_keys": ["customer.customer_id", "orders.order_id"],
    "foreign_keys": [["orders.customer_id", "customer.customer_id"]],
}


def _read(folder: Path, *queries: str) -> tuple[list[Example], Counter[str]]:
    asked = [{"db": DB, "question": sql, "sql": sql} for sql in queries]
    for name, lines in (("schemas", [SCHEMA]), ("questions", asked)):
        with gzip.open(folder / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
    skipped: Counter[str] = Counter()
    return list(examples(folder, skipped)), skipped


def _written(token: Token) -> str:
    if isinstance(token, str):
        return token
    match token.kind:
        case "column":
            return f"{token.table}.{token.name}"
        case "value":
            return f"{token.name}={token.value}"
        case "number":
            return f"{token.value:g}"
        case "window":
            return "window"
        case _:
            return token.table or str(token.value)


CASES = {
    "SELECT count(*) FROM orders WHERE amount > 20": "orders count where > orders.amount 20 end",
    "SELECT city, avg(age) FROM customer GROUP BY city": "customer customer.city avg customer.age end",
    "SELECT name FROM customer ORDER BY age DESC LIMIT 3": "customer customer.name desc customer.age limit 3 end",
    "SELECT T1.name FROM customer AS T1 JOIN orders AS T2 ON T1.customer_id = T2.customer_id "
    "GROUP BY T1.customer_id ORDER BY count(*) DESC LIMIT 1": "orders customer.name count desc #2 limit 1 end",
    "SELECT T1.name FROM customer AS T1 JOIN orders AS T2 ON T1.customer_id = T2.customer_id "
    "GROUP BY T1.customer_id HAVING count(*) >= 2": "orders customer.name count having >= #2 2 end",
    "SELECT T1.name FROM customer AS T1 JOIN orders AS T2 ON T1.customer_id = T2.customer_id "
    "WHERE T2.status = 'open'": "customer customer.name where exists orders & status=open end",
    "SELECT name FROM customer WHERE customer_id NOT IN (SELECT customer_id FROM orders)": (
        "customer customer.name where not exists orders end"
    ),
    "SELECT name FROM customer WHERE age > (SELECT avg(age) FROM customer)": (
        "customer customer.name where whole> customer.age avg end"
    ),
    "SELECT name FROM customer WHERE city = 'Rome' OR city = 'Bern'": (
        "customer customer.name where either city=Rome or city=Bern end"
    ),
    "SELECT sum(amount) FROM orders WHERE amount BETWEEN 5 AND 30": (
        "orders sum orders.amount where between orders.amount 5 30 end"
    ),
    "SELECT name FROM customer WHERE name LIKE '%an%'": (
        "customer customer.name where contains customer.name an end"
    ),
    "SELECT count(DISTINCT city) FROM customer": "customer distinct customer.city end",
    "SELECT order_id FROM orders WHERE placed_on > '2018-03-01'": ("orders orders.order id time window end"),
    "SELECT name FROM customer EXCEPT SELECT T1.name FROM customer AS T1 JOIN orders AS T2 "
    "ON T1.customer_id = T2.customer_id WHERE T2.status = 'open'": (
        "customer customer.name where not exists orders & status=open end"
    ),
    "SELECT name, max(age) FROM customer": "customer customer.name customer.age desc #2 limit 1 end",
}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    kept, _ = _read(tmp_path_factory.mktemp("spider"), *CASES)
    return {one.question: " ".join(map(_written, one.sketch)) for one in kept}


@pytest.mark.parametrize("sql", CASES)
def test_a_query_becomes_a_sketch(found: dict[str, str], sql: str) -> None:
    assert found.get(sql) == CASES[sql]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT name FROM customer WHERE age > (SELECT avg(age) FROM customer WHERE city = 'Rome')",
        "SELECT T1.name FROM customer AS T1 JOIN customer AS T2 ON T1.customer_id = T2.customer_id",
        "SELECT T1.name FROM customer AS T1 JOIN orders AS T2 ON T1.age = T2.amount",
        "SELECT city FROM customer WHERE age > 30 INTERSECT SELECT city FROM customer WHERE age < 20",
    ],
)
def test_what_has_no_faithful_sketch_is_counted(tmp_path: Path, sql: str) -> None:
    kept, skipped = _read(tmp_path, sql)
    assert not kept
    assert skipped.total() == 1


def test_examples_share_the_dataset_and_are_for_training(tmp_path: Path) -> None:
    kept, _ = _read(tmp_path, "SELECT count(*) FROM orders", "SELECT name FROM customer")
    assert [one.tune for one in kept] == [False, False]
    assert kept[0].dataset is kept[1].dataset
