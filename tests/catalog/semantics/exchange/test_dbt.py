"""dbt's semantic manifest: entities, dimensions, measures and metrics become the catalog, the rest has a reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandtable.catalog.semantics.applying import described
from sandtable.catalog.semantics.exchange.importing import write
from sandtable.errors import InvalidInput
from tests.catalog.semantics.exchange.shop import HERE, SHOP, brought, editions, reasons

MANIFEST = (HERE / "semantic_manifest.json").read_text()
COUNT = {"agg": "count"}
SUM = {"agg": "sum", "column": "Amount"}
GOLD = {"column": "customers.tier", "op": "=", "value": "gold"}
LARGE = {"column": "Amount", "op": ">", "value": 100}


def test_what_a_manifest_says_becomes_the_catalog(tmp_path: Path) -> None:
    found = brought(editions(tmp_path), MANIFEST)
    made = described(SHOP, found.semantics)
    assert found.format == "dbt" and made.misfits == ()
    orders, customers = made.dataset.tables
    assert (orders.description, orders.key, orders.time_column) == (
        "One row per order.",
        ("order_id",),
        "day",
    )
    assert orders.synonyms == ("sale",) and customers.key == ("id",)
    status = orders.column("status")
    assert status is not None and status.synonyms == ("State of the order", "kind of order")
    assert [(r.many_table, r.many_column, r.one_table, r.one_column) for r in made.dataset.relationships] == [
        ("orders", "customer_id", "customers", "id")
    ]
    metrics = {each.name: (each.numerator, each.denominator) for each in made.dataset.metrics}
    assert metrics == {
        "revenue": (SUM, None),
        "orders": (COUNT, None),
        "paid": ({**SUM, "where": [{"column": "status", "op": "=", "value": "paid"}]}, None),
        "median_amount": ({"agg": "median", "column": "Amount"}, None),
        "amount_p90": ({"agg": "quantile", "column": "Amount", "q": 0.9}, None),
        "large_orders": ({**COUNT, "where": [LARGE]}, None),
        "gold_orders": ({**COUNT, "where": [GOLD]}, None),
        "orders_with_customer": ({**COUNT, "where": [{"column": "customer_id", "op": "not_null"}]}, None),
        "orders_since": (
            {**COUNT, "where": [{"column": "day", "op": ">=", "value": "2024-01-01"}]},
            None,
        ),
        "paid_share": ({**SUM, "where": [{"column": "status", "op": "=", "value": "paid"}]}, SUM),
        "gold_share": ({**SUM, "where": [GOLD]}, SUM),
        "average_order": (SUM, COUNT),
        "customer_count": ({"agg": "count_distinct", "column": "id"}, None),
        "newer_form": ({"agg": "avg", "column": "Amount"}, None),
    }
    revenue = made.dataset.metric("revenue")
    assert revenue and (revenue.description, revenue.synonyms) == ("All that was paid.", ("Takings",))


def test_what_has_no_use_is_kept_with_its_reason(tmp_path: Path) -> None:
    found = brought(editions(tmp_path), MANIFEST)
    whole = reasons(found)
    for name, reason in {
        "dbt semantic_model stores": "no table `stores`",
        "dbt dimension sale.is_large": "a computed dimension",
        "dbt metric orders_of_months": "a condition on periods",
        "dbt metric growth": "of another period",
        "dbt metric per_customer": "metrics of `customers` and `orders`",
        "dbt metric running": "cumulative metrics cannot be computed here",
        "dbt metric converted": "conversion metrics cannot be computed here",
        "dbt metric closing_balance": "add up in some dimensions only",
        "dbt metric store_count": "no table `stores`",
        "dbt metric round": "defined by itself",
        "dbt measure buyers": "no metric uses it",
        "dbt measure spare": "no metric uses it",
        "dbt saved_query monthly": "no saved queries",
    }.items():
        assert reason in whole.pop(name)
    assert whole == {}
    options = [each for each in found.unused if each.kind == "dbt metric option"]
    assert {each.name for each in options} == {"orders"} and options[0].content["fill_nulls_with"] == 0


def test_the_same_manifest_again_changes_nothing(tmp_path: Path) -> None:
    kept = editions(tmp_path)
    write(kept, SHOP, brought(kept, MANIFEST))
    again = brought(kept, MANIFEST)
    assert again.changes == () and again.semantics == kept.current("shop")
    write(kept, SHOP, again)
    assert len(kept.editions("shop")) == 1


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "semantic_models:\n  - name: a\n    model: ref('a')\n",
            "a source file of a dbt project",
        ),
        ('{"semantic_models": [{"name": "a", "node_relation": 1}], "metrics": []}', "node_relation`: fields"),
        ('{"semantic_models": [], "metrics": [{"type": "simple"}]}', "`metrics.0..name`: a text"),
    ],
)
def test_what_is_no_manifest_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        brought(editions(tmp_path), text)
