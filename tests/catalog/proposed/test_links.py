"""The rule by which tables of files are linked, on rows small enough to count here."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandtable.catalog.convert import ColumnPlace, Comparison, Counts
from sandtable.catalog.model import Column, Relationship, Table
from sandtable.catalog.proposed.links import (
    LONGEST_KEY,
    MOST_CANDIDATES,
    MOST_KEYS,
    MOST_ROWS,
    MOST_TABLES,
    candidates,
    links,
    ones_of,
    said,
)
from sandtable.engines.duckdb.types import column_type

Rows = Mapping[str, Sequence[Any]]
_TYPES = {int: "BIGINT", str: "VARCHAR", float: "DOUBLE", bool: "BOOLEAN", dt.date: "DATE"}

CUSTOMERS: Rows = {"customer_id": ["a", "b", "c"], "city": ["Bonn", "Cork", "Bonn"]}
ORDERS: Rows = {
    "order_id": [1, 2, 3, 4],
    "customer_id": ["a", "a", "b", None],
    "revenue": [1.5, 2.0, 3.0, 4.0],
}


def table(name: str, rows: Rows) -> Table:
    columns: list[Column] = []
    for column, values in rows.items():
        sql_type = _TYPES[type(next((v for v in values if v is not None), ""))]
        columns.append(Column(name=column, type=column_type(sql_type), sql_type=sql_type))
    length = len(next(iter(rows.values())))
    return Table(name=name, file=f"{name}.csv", sha256="0" * 64, rows=length, columns=tuple(columns))


def linked(*declared: str, **tables: Rows) -> list[str]:
    """As `many.column one.column`, by what the rows hold. `declared`: by the file, written in the same way."""
    made = [table(name, rows) for name, rows in tables.items()]
    places = [[ColumnPlace(*place.split(".")) for place in each.split()] for each in declared]
    proposed = candidates(made, {(many, one) for many, one in places})

    def values(place: ColumnPlace) -> list[Any]:
        return [value for value in tables[place.table][place.column] if value is not None]

    def counts(place: ColumnPlace) -> Counts:
        filled = values(place)
        longest = max((len(str(value).encode()) for value in filled), default=0)
        return Counts(len(tables[place.table][place.column]), len(filled), len({*map(str, filled)}), longest)

    pairs = tuple(
        (len(values(c.many)), sum(value not in values(c.one) for value in values(c.many))) for c in proposed
    )
    found = links(made, proposed, Comparison(tuple(map(counts, ones_of(proposed))), pairs))
    return [f"{r.many_table}.{r.many_column} {r.one_table}.{r.one_column}" for r in found]


def with_column(rows: Rows, old: str, name: str | None = None, values: Sequence[Any] | None = None) -> Rows:
    """The same rows with one column called otherwise, or holding other values."""
    return {
        (name or column if column == old else column): (values or held if column == old else held)
        for column, held in rows.items()
    }


def test_a_key_of_the_same_name_that_is_unique_and_complete_is_a_link() -> None:
    assert linked(orders=ORDERS, customers=CUSTOMERS) == ["orders.customer_id customers.customer_id"]


@pytest.mark.parametrize("name", ["CustomerID", "Customer id", "customer-id", "CUSTOMER_ID", "customerid"])
def test_names_differ_in_case_spaces_and_marks_only(name: str) -> None:
    named = with_column(CUSTOMERS, "customer_id", name)
    assert linked(orders=ORDERS, customers=named) == [f"orders.customer_id customers.{name}"]


@pytest.mark.parametrize(
    ("owner", "bare", "elsewhere"),
    [
        ("customers", "id", "customer_id"),
        ("customers", "ID", "CustomersId"),
        ("customer", "id", "customer_id"),
        ("wards", "code", "ward_code"),
        ("wards", "name", "ward_name"),
        ("categories", "key", "CategoryKey"),
        ("order_items", "no", "order item no"),
        ("OrderItems", "number", "order_item_number"),
    ],
)
def test_a_bare_key_is_called_after_its_table_elsewhere(owner: str, bare: str, elsewhere: str) -> None:
    tables: dict[str, Rows] = {
        owner: {"city": ["x", "y", "x"], bare: ["a", "b", "c"]},
        "visits": {elsewhere: ["a", "b", "a", "c"]},
    }
    assert linked(**tables) == [f"visits.{elsewhere} {owner}.{bare}"]


@pytest.mark.parametrize(
    ("orders", "customers"),
    [
        pytest.param(with_column(ORDERS, "customer_id", values=["a", "b", "c", "d"]), CUSTOMERS, id="one row missing"),
        pytest.param(ORDERS, with_column(CUSTOMERS, "customer_id", values=["a", "b", "b"]), id="not unique"),
        pytest.param(ORDERS, with_column(CUSTOMERS, "customer_id", values=["a", "b", None]), id="null on the one side"),
        pytest.param(with_column(ORDERS, "customer_id", "client_id"), CUSTOMERS, id="other name"),
        pytest.param(with_column(ORDERS, "customer_id", "customer_ids"), CUSTOMERS, id="name only similar"),
        pytest.param(with_column(ORDERS, "customer_id", values=[None] * 4), CUSTOMERS, id="no value at all"),
        pytest.param(
            with_column(ORDERS, "customer_id", values=[1, 1, 2, 2]),
            with_column(CUSTOMERS, "customer_id", values=["1", "2", "3"]),
            id="integers and texts",
        ),
        pytest.param(
            with_column(ORDERS, "customer_id", values=[1.0, 1.0, 2.0, 2.0]),
            with_column(CUSTOMERS, "customer_id", values=[1.0, 2.0, 3.0]),
            id="floats",
        ),
        pytest.param(
            with_column(ORDERS, "customer_id", values=[1.0, 1.0, 2.0, 2.0]),
            with_column(CUSTOMERS, "customer_id", values=[1, 2, 3]),
            id="floats and integers",
        ),
        pytest.param(
            with_column(ORDERS, "customer_id", values=[True, False, True, True]),
            {"customer_id": [True, False], "city": ["x", "y"]},
            id="booleans",
        ),
        pytest.param(
            with_column(ORDERS, "customer_id", values=[dt.date(2025, 1, 1)] * 4),
            {"customer_id": [dt.date(2025, 1, 1)], "city": ["x"]},
            id="dates",
        ),
        pytest.param(
            with_column(ORDERS, "customer_id", values=["x" * (LONGEST_KEY + 1)] * 4),
            {"customer_id": ["x" * (LONGEST_KEY + 1)], "city": ["x"]},
            id="long texts",
        ),
    ],
)  # fmt: skip
def test_incomplete_evidence_is_no_link(orders: Rows, customers: Rows) -> None:
    assert linked(orders=orders, customers=customers) == []


@pytest.mark.parametrize(
    "name", ["id", "code", "number", "No.", "name", "rank", "row_id", "line no", "index", "column0"]
)
def test_a_name_that_every_table_has_links_nothing(name: str) -> None:
    assert linked(films={name: [1, 2, 3], "x": [1, 1, 1]}, songs={name: [1, 2], "y": [1, 1]}) == []
    assert linked(films={name: ["a", "b"]}, songs={name: ["a", "a"]}) == []


def test_a_measure_links_nothing_and_a_lookup_by_its_first_column_does() -> None:
    sales: Rows = {"sold": [1, 2, 1], "country": ["de", "fr", "de"]}
    assert linked(sales=sales, targets={"target": [9, 8, 7], "sold": [1, 2, 3]}) == []
    assert linked(sales=sales, targets={"sold": [1, 2, 3], "target": [9, 8, 7]}) == []
    assert linked(sales=sales, people={"people": [80, 60], "country": ["de", "fr"]}) == []
    assert linked(sales=sales, people={"country": ["de", "fr"], "people": [80, 60]}) == [
        "sales.country people.country"
    ]


def test_a_count_is_no_identifier() -> None:
    counted: Rows = {"class": ["x", "y"], "no_of_pupils": [1, 2], "number_of_rooms": [1, 2]}
    assert linked(classes=counted, schools={**counted, "class": ["v", "w"]}) == []


def test_a_year_is_a_key_where_it_is_the_first_column() -> None:
    films: Rows = {"film": ["x", "y", "z"], "year": [2001, 2001, 2002]}
    assert linked(films=films, weather={"year": [2001, 2002], "rain": [3, 4]}) == ["films.year weather.year"]


def test_a_table_named_after_the_key_is_referred_to_before_others() -> None:
    once = {"order_id": [1, 2, 3], "customer_id": ["a", "b", "c"]}
    tickets = {"ticket_id": [7, 8], "customer_id": ["a", "c"]}
    assert linked(orders=once, customers=CUSTOMERS, tickets=tickets) == [
        "orders.customer_id customers.customer_id",
        "tickets.customer_id customers.customer_id",
    ]


def test_two_tables_that_may_be_meant_alike_are_not_guessed_between() -> None:
    assert linked(
        visits={"visit": [1, 2], "member_no": [5, 6]},
        club={"member_no": [5, 6, 7], "x": [1, 1, 1]},
        team={"member_no": [5, 6, 8], "y": [1, 1, 1]},
    ) == []  # fmt: skip


def test_tables_with_the_same_keys_refer_in_one_direction_and_all_can_be_reached() -> None:
    by_country = {
        name: {"country": ["de", "fr"], name: [1.5, 2.5]} for name in ("population", "area", "income")
    }
    expected = [
        "income.country area.country",
        "population.country area.country",
        "population.country income.country",
        "sales.country area.country",
        "sales.country income.country",
        "sales.country population.country",
    ]
    assert linked(sales={"sold": [1, 2, 3], "country": ["de", "fr", "de"]}, **by_country) == expected


def test_one_to_one_refers_to_the_table_that_the_key_is_named_after() -> None:
    details = {"customer_id": ["a", "b", "c"], "phone": ["1", "2", "3"]}
    assert linked(customers=CUSTOMERS, details=details) == ["details.customer_id customers.customer_id"]
    assert linked(a_details=details, customers=CUSTOMERS) == ["a_details.customer_id customers.customer_id"]
    invoices = {"invoice": ["i", "j"], "order_id": [1, 2]}
    assert linked(orders={"id": [1, 2]}, invoices=invoices) == ["invoices.order_id orders.id"]


def test_two_tables_have_one_link_and_the_details_refer() -> None:
    staff = {"employee_id": [1, 2, 3], "department_id": [7, 7, 8]}
    departments = {"department_id": [7, 8], "employee_id": [1, 3]}
    assert linked(employees=staff, departments=departments) == [
        "employees.department_id departments.department_id"
    ]
    assert linked(employees={"employee_id": [1, 3], "department_id": [7, 8]}, departments=departments) == []


def test_two_keys_of_one_table_are_one_link_by_the_first() -> None:
    products = {"sku": ["x", "y"], "product_no": [1, 2], "price": [1.5, 2.5]}
    items = {"item": [1, 2, 3], "product_no": [1, 1, 2], "sku": ["x", "x", "y"]}
    assert linked(items=items, products=products) == ["items.product_no products.product_no"]
    assert linked(items=items, goods=products) == ["items.sku goods.sku"]


def test_three_tables_are_a_chain() -> None:
    items = {"order_id": [1, 1, 2], "product_code": ["x", "y", "x"], "quantity": [1, 1, 2]}
    products = {"code": ["x", "y"], "title": ["X", "Y"]}
    assert linked(items=items, orders=ORDERS, customers=CUSTOMERS, products=products) == [
        "items.order_id orders.order_id",
        "items.product_code products.code",
        "orders.customer_id customers.customer_id",
    ]


def test_files_of_the_same_form_are_not_linked() -> None:
    later = {**ORDERS, "order_id": [5, 6, 7, 8]}
    assert linked(orders_2024=ORDERS, orders_2025=later) == []


def test_no_circle_is_made() -> None:
    tables: dict[str, Rows] = {
        "alphas": {"alpha_id": [1, 2], "beta_id": [1, 2]},
        "betas": {"beta_id": [1, 2], "gamma_id": [1, 2]},
        "gammas": {"gamma_id": [1, 2], "alpha_id": [1, 2]},
    }
    assert len(linked(**tables)) == 2


@given(st.permutations(["orders", "customers", "items", "products", "regions"]))
def test_the_order_of_the_tables_changes_nothing(names: list[str]) -> None:
    tables: dict[str, Rows] = {
        "orders": ORDERS,
        "customers": {**CUSTOMERS, "region": ["n", "s", "n"]},
        "items": {"order_id": [1, 1, 2], "product_code": ["x", "y", "x"]},
        "products": {"code": ["x", "y"]},
        "regions": {"region": ["n", "s"]},
    }
    assert linked(**{name: tables[name] for name in names}) == [
        "customers.region regions.region",
        "items.order_id orders.order_id",
        "items.product_code products.code",
        "orders.customer_id customers.customer_id",
    ]


def test_few_columns_are_compared() -> None:
    wide = {f"thing_{number}_id": [number] for number in range(300)}
    assert len(candidates([table("a", wide), table("b", wide)])) == MOST_CANDIDATES
    same = {f"thing_{number}_id": [number] for number in range(10)}
    assert candidates([table(name, same) for name in "abcdefghijkl"]) == ()
    big, small = table("orders", ORDERS), table("cities", {"customer_id": ["a"], "city": ["Bonn"]})
    assert {c.many.table for c in candidates([big, small])} == {"orders", "cities"}
    large = big.model_copy(update={"rows": MOST_KEYS + 1})
    assert [c.many.table for c in candidates([large, small])] == ["orders"]
    assert candidates([big.model_copy(update={"rows": MOST_ROWS + 1}), small]) == ()
    assert candidates([big]) == ()
    others = [table(f"t{number}", {"x": [1]}) for number in range(MOST_TABLES - 2)]
    assert len(candidates([table("orders", ORDERS), table("customers", CUSTOMERS), *others])) == 1
    assert candidates([table("orders", ORDERS), table("customers", CUSTOMERS), *others, small]) == ()


def test_what_could_not_be_counted_is_no_link() -> None:
    tables = [table("orders", ORDERS), table("customers", CUSTOMERS)]
    proposed = candidates(tables)
    nothing = Comparison((None,) * len(ones_of(proposed)), ((0, None),) * len(proposed))
    assert proposed and links(tables, proposed, nothing) == ()


def test_it_is_said_by_which_columns_and_why() -> None:
    assert said(()) == ""
    link = Relationship(many_table="orders", many_column="c", one_table="customers", one_column="id")
    assert said([link]) == "orders.c refers to customers.id (unique there, no value is missing)"
    assert said([link] * 20).endswith("and 8 more (unique there, no value is missing)")


_CLIENTS: Rows = {"id": ["a", "b"], "parent": ["a", "a"], "old_no": ["b", "a"]}
_SALES: Rows = {"client": ["a", "b", "a"], "seller": ["b", "b", "x"], "n": [1, 2, 3]}


def test_what_the_file_declares_is_a_link_if_the_rows_say_the_same() -> None:
    assert linked(clients=_CLIENTS, sales=_SALES) == []
    declared = "sales.client clients.id"
    assert linked(declared, clients=_CLIENTS, sales=_SALES) == [declared]
    for wrong in ("sales.seller clients.id", "sales.n clients.id", "sales.client clients.parent"):
        assert linked(wrong, clients=_CLIENTS, sales=_SALES) == []
    assert linked("clients.parent clients.id", "sales.gone clients.id", "sales.client gone.id",
                  clients=_CLIENTS, sales=_SALES) == []  # fmt: skip


def test_what_the_file_declares_is_preferred_to_names() -> None:
    orders: Rows = {**ORDERS, "billed_to": ["b", "b", "a", "a"]}
    tables = {"customers": CUSTOMERS, "orders": orders}
    assert linked(**tables) == ["orders.customer_id customers.customer_id"]
    declared = "orders.billed_to customers.customer_id"
    assert linked(declared, **tables) == [declared]
    assert linked("orders.customer_id customers.customer_id", **tables) == linked(**tables)


def test_large_tables_are_not_compared_because_a_file_declares_it() -> None:
    place = (ColumnPlace("sales", "client"), ColumnPlace("clients", "id"))
    large = table("clients", _CLIENTS).model_copy(update={"rows": MOST_KEYS + 1})
    assert candidates([large, table("sales", _SALES)], {place}) == ()
    assert len(candidates([table("clients", _CLIENTS), table("sales", _SALES)], {place})) == 1
