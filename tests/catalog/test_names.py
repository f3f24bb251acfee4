from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandtable.catalog.names import _distance, nearest

COLUMNS = [
    "order_id", "order_date", "customer_id", "category", "quantity", "unit_price", "discount_rate",
    "line_total", "returned", "return_reason", "region", "country",
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param("categry", "category", id="letter missing"),
        pytest.param("cateogry", "category", id="letters swapped"),
        pytest.param("CATEGORY", "category", id="case"),
        pytest.param("categories", "category", id="plural"),
        pytest.param("regions", "region", id="plain plural"),
        pytest.param("countries", "country", id="plural of y"),
        pytest.param("orderid", "order_id", id="underscore missing"),
        pytest.param("orderDate", "order_date", id="camel case"),
        pytest.param("order date", "order_date", id="space"),
        pytest.param("discount", "discount_rate", id="one word of two"),
        pytest.param("discont", "discount_rate", id="one word of two, misspelt"),
        pytest.param("price", "unit_price", id="last word"),
        pytest.param("qty", "quantity", id="abbreviation"),
        pytest.param("return", "returned", id="prefix"),
        pytest.param("total", "line_total", id="word"),
        pytest.param("temperature", None, id="nothing like it"),
        pytest.param("", None, id="empty"),
        pytest.param("___", None, id="no word"),
        pytest.param("x" * 10_000, None, id="absurdly long"),
    ],
)
def test_nearest(name: str, expected: str | None) -> None:
    assert nearest(name, COLUMNS) == expected


def test_plural_table_name_finds_the_singular_and_back() -> None:
    assert nearest("order_item", ["orders", "order_items"]) == "order_items"
    assert nearest("order", ["order_items", "orders"]) == "orders"


def test_swapped_neighbours_are_one_mistake() -> None:
    assert nearest("nmae", ["mate", "name"]) == "name"


def test_nothing_is_near_without_candidates() -> None:
    assert nearest("orders", []) is None


names = st.text(alphabet="abcdeXY_ é1", min_size=1, max_size=12)


@given(names, st.lists(names, max_size=6))
def test_a_present_name_is_its_own_nearest(name: str, others: list[str]) -> None:
    assert nearest(name, [*others, name]) == name


@given(names, st.lists(names, max_size=6))
def test_the_answer_is_a_candidate(name: str, candidates: list[str]) -> None:
    found = nearest(name, candidates)
    assert found is None or found in candidates


def _by_table(a: str, b: str) -> int:
    """The same distance from its textbook table, one cell after the other."""
    rows = [list(range(len(b) + 1))]
    for i, x in enumerate(a, 1):
        row = [i]
        for j, y in enumerate(b, 1):
            least = min(rows[-1][j] + 1, row[j - 1] + 1, rows[-1][j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                least = min(least, rows[-2][j - 2] + 1)
            row.append(least)
        rows.append(row)
    return rows[-1][-1]


@given(st.text("abc", max_size=12), st.text("abcd", max_size=12))
def test_distances_are_those_of_the_table(a: str, b: str) -> None:
    assert _distance(a, b) == _by_table(a, b)


def test_a_wide_table_finds_its_column_all_the_same() -> None:
    wide = [f"measurement_{n}_{'abcdefghij'[n % 10] * 9}" for n in range(3_000)]
    assert nearest("custmer_regoin", [*wide, "customer_region"]) == "customer_region"
    assert nearest("qty", [*wide, "quantity"]) == "quantity"
