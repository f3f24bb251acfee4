"""Apache Ossie: what a model says becomes the catalog, what has no use is kept, and an export has all of it again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sandtable.catalog.model import Dataset
from sandtable.catalog.registry import load_catalog, registry_folder
from sandtable.catalog.semantics.applying import described, with_version
from sandtable.catalog.semantics.exchange.importing import prepare, read_file, write
from sandtable.catalog.semantics.exchange.ossie_writing import write_ossie
from sandtable.catalog.semantics.model import Semantics
from sandtable.catalog.semantics.yaml_tree import write_values
from sandtable.engines.duckdb.types import column_type
from sandtable.errors import InvalidInput
from tests.catalog.semantics.exchange.shop import HERE, SHOP, brought, editions, reasons

MODEL = (HERE / "shop.ossie.yaml").read_text()


def test_what_a_model_says_becomes_the_catalog(tmp_path: Path) -> None:
    found = brought(editions(tmp_path), MODEL)
    made = described(SHOP, found.semantics)
    assert found.format == "ossie" and made.misfits == ()
    orders, customers = made.dataset.tables
    assert (orders.description, orders.key, orders.time_column) == ("One row per order", ("order_id",), "day")
    assert orders.synonyms == ("sales", "purchases") and customers.key == ("id",)
    amount = orders.column("amount")
    assert amount is not None and (amount.description, amount.synonyms) == (
        "What was paid",
        ("takings", "turnover"),
    )
    assert [(r.many_table, r.many_column, r.one_table) for r in made.dataset.relationships] == [
        ("orders", "customer_id", "customers")
    ]
    assert made.dataset.prompts == ("revenue by city",)
    assert {each.name: (each.table, each.numerator, each.denominator) for each in made.dataset.metrics} == {
        "revenue": ("orders", {"agg": "sum", "column": "Amount"}, None),
        "gross_revenue": (
            "orders",
            {"agg": "sum", "of": {"op": "*", "left": {"column": "Amount"}, "right": {"value": 1.19}}},
            None,
        ),
        "gold_share": (
            "orders",
            {
                "agg": "sum",
                "column": "Amount",
                "where": [{"column": "customers.tier", "op": "=", "value": "gold"}],
            },
            {"agg": "sum", "column": "Amount"},
        ),
        "buyers": ("orders", {"agg": "count_distinct", "column": "customer_id"}, None),
    }


def test_what_has_no_use_is_kept_with_its_reason(tmp_path: Path) -> None:
    found = reasons(brought(editions(tmp_path), MODEL))
    for name, reason in {
        "Ossie dataset stores": "no table `stores`",
        "Ossie field sales.gross": "a computed field is no column",
        "Ossie field sales.label_text": "the operator `||`",
        "Ossie relationship sales_store": "`sales.store_id` is not in the dataset",
        "Ossie relationship by_two": "several columns",
        "Ossie metric per_customer": "rows of `customers` and `orders`",
        "Ossie metric rows_of_something": "which table's rows",
        "Ossie metric in_mdx": "no expression in SQL, only in MDX",
        "Ossie metric text_sum": "sum",
        "Ossie metric store_count": "the table of `stores`",
    }.items():
        assert reason in found.pop(name)
    assert found == {}


def test_an_export_has_everything_again(tmp_path: Path) -> None:
    kept = editions(tmp_path)
    write(kept, SHOP, brought(kept, MODEL))
    exported = write_ossie(kept.whole(SHOP), kept.describe(SHOP).dataset)
    again = brought(kept, json.dumps(exported))
    assert again.changes == ()
    assert sorted(map(str, again.unused)) == sorted(map(str, kept.current("shop").unused))
    [model], [before] = exported["semantic_model"], read_file(MODEL).content["semantic_model"]
    assert model["name"] == "shop_model" and model["ai_context"] == before["ai_context"]
    for part in ("datasets", "relationships", "metrics"):
        assert {each["name"] for each in model[part]} == {each["name"] for each in before[part]}
    sales = model["datasets"][0]
    assert (sales["source"], sales["unique_keys"]) == ("warehouse.public.orders", [["id"]])
    assert {"vendor_name": "DBT", "data": '{"project_name": "shop"}'} in model["custom_extensions"]
    revenue = next(each for each in model["metrics"] if each["name"] == "revenue")
    assert [each["dialect"] for each in revenue["expression"]["dialects"]] == ["ANSI_SQL", "TABLEAU"]


def test_other_dialects_of_a_metric_go_when_it_is_changed(tmp_path: Path) -> None:
    kept = editions(tmp_path)
    write(kept, SHOP, brought(kept, MODEL))
    document = kept.current("shop").model_dump(mode="json")
    document["metrics"]["revenue"]["numerator"] = {"agg": "max", "column": "Amount"}
    kept.write(SHOP, Semantics.model_validate(document))
    exported = write_ossie(kept.whole(SHOP), kept.describe(SHOP).dataset)
    revenue = next(each for each in exported["semantic_model"][0]["metrics"] if each["name"] == "revenue")
    assert revenue["expression"]["dialects"] == [{"dialect": "ANSI_SQL", "expression": "MAX(sales.Amount)"}]


def bare(dataset: Dataset) -> Dataset:
    """With nothing said about it."""
    tables = tuple(
        table.model_copy(
            update={
                "description": "",
                "time_column": None,
                "columns": tuple(
                    column.model_copy(update={"description": "", "unit": "", "measure": None, "better": None})
                    for column in table.columns
                ),
            }
        )
        for table in dataset.tables
    )
    update: dict[str, Any] = {"title": "", "description": "", "metrics": (), "relationships": ()}
    return dataset.model_copy(update={**update, "tables": tables})


@pytest.mark.parametrize("dataset_id", ["ecommerce", "support", "sensors"])
@pytest.mark.parametrize("form", ["yaml", "json"])
def test_a_built_in_catalog_survives_the_round_trip(tmp_path: Path, dataset_id: str, form: str) -> None:
    dataset = load_catalog(registry_folder(), column_type).get(dataset_id)
    kept = editions(tmp_path)
    exported = write_ossie(kept.whole(dataset), kept.describe(dataset).dataset)
    text = write_values(exported) if form == "yaml" else json.dumps(exported)
    found = prepare(kept, bare(dataset), read_file(text))
    made = described(bare(dataset), found.semantics).dataset
    assert (made.metrics, made.relationships) == (dataset.metrics, dataset.relationships)
    assert found.catalog_version == with_version(dataset).catalog_version and found.unused == ()


def test_metrics_without_an_sql_form_survive_too(tmp_path: Path) -> None:
    kept = editions(tmp_path)
    text = (
        "metrics:\n  with_text:\n    table: orders\n    synonyms: [hits]\n    better: high\n"
        "    numerator:\n      agg: count\n      where:\n        - {column: status, op: contains, value: x}\n"
        "tables:\n  orders:\n    columns:\n      status: {masked: true, synonyms: [state]}\n"
    )
    write(kept, SHOP, brought(kept, text))
    exported = write_ossie(kept.whole(SHOP), kept.describe(SHOP).dataset)
    again = prepare(editions(tmp_path / "other"), SHOP, read_file(json.dumps(exported)))
    assert again.catalog_version == kept.describe(SHOP).dataset.catalog_version


def test_what_is_not_mentioned_stays(tmp_path: Path) -> None:
    kept = editions(tmp_path)
    text = (
        "week_start: sunday\ntables:\n  Orders:\n    columns:\n      TAX: {unit: EUR}\n      amount: {unit: EUR}\n"
        "metrics:\n  taxes: {table: orders, numerator: {agg: sum, column: tax}}\n"
        "  Revenue: {table: orders, numerator: {agg: max, column: tax}}\n"
    )
    write(kept, SHOP, brought(kept, text))
    made = described(SHOP, brought(kept, MODEL).semantics).dataset
    tax, amount = made.tables[0].column("tax"), made.tables[0].column("amount")
    assert made.week_start == "sunday" and tax and tax.unit == "EUR"
    assert amount and (amount.unit, amount.description) == ("EUR", "What was paid")
    assert {metric.name for metric in made.metrics} == {
        "taxes",
        "revenue",
        "gross_revenue",
        "gold_share",
        "buyers",
    }


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("semantic_model: 1", "`semantic_model`: a list must be there"),
        ("semantic_model: [1]", r"`semantic_model\[0\]`: fields must be there"),
        ("semantic_model: [{name: [1]}]", r"`semantic_model\[0\].name`: a text must be there"),
        ("semantic_model: [{name: a, datasets: [{source: x}]}]", r"datasets\[0\].name`: a text"),
        ('{"semantic_model": [], "semantic_model": []}', "a key twice"),
        ('{"semantic_model": [}', "line 1"),
        ('{"a":' * 100_000, "nested too deeply|levels deep"),
        ('{"semantic_model": [], "x": ' + "[" * 60 + "]" * 60 + "}", "more than 40 levels deep"),
        ('{"semantic_model": [], "x": NaN}', "`NaN` is not a number"),
        ('{"semantic_model": [], "x": 1e999}', "`1e999` is not a number"),
        ("ontology: []", "an ontology of Apache Ossie says nothing about tables"),
    ],
)
def test_what_is_not_a_model_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        brought(editions(tmp_path), text)
