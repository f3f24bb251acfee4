"""Reading a plan: what is well formed is kept, what is not is explained all at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandtable.catalog.model import Dataset, Metric
from sandtable.catalog.registry import load_catalog
from sandtable.engines.duckdb.types import column_type
from sandtable.errors import ErrorCode, InvalidInput
from sandtable.plan.model import EXAMPLES
from sandtable.plan.schema import plan_schema_text
from sandtable.plan.validate import check_plan, parse_plan
from tests.plan.shop import SHOP
from tests.plan.strategies import plans

BUILT_IN = load_catalog(Path(__file__).parents[2] / "datasets", column_type)
MINIMAL: dict[str, Any] = {"dataset_id": "shop", "table": "orders", "select": [{"column": "region"}]}


def errors_of(obj: object) -> list[dict[str, str]]:
    with pytest.raises(InvalidInput) as caught:
        parse_plan(obj)
    assert caught.value.code is ErrorCode.VALIDATION_ERROR
    return caught.value.details["errors"]


def nested(condition: dict[str, Any], times: int) -> dict[str, Any]:
    for _ in range(times):
        condition = {"not": condition}
    return condition


LEAF = {"column": "region", "op": "=", "value": "North"}


def select(*items: Any) -> dict[str, Any]:
    return {**MINIMAL, "select": list(items)}


def filters(*items: Any) -> dict[str, Any]:
    return {**MINIMAL, "filters": list(items)}


MALFORMED = json.loads((Path(__file__).parent / "corpus" / "malformed.json").read_text())

# What a JSON file cannot hold, or only at length.
UNWRITABLE: dict[str, tuple[Any, str, str]] = {
    "long text": (filters({**LEAF, "value": "x" * 10_001}), "filters[0].value", "at most 10000 characters"),
    "long list": (
        filters({**LEAF, "op": "in", "value": [1] * 1001}),
        "filters[0].value",
        "at most 1000 items",
    ),
    "deep filters": (filters(nested(LEAF, 8)), "filters[0]", "filters nest too deeply"),
    "not a number": (filters({**LEAF, "value": float("nan")}), "", "a number out of range"),
    "a huge number": (filters({**LEAF, "value": 10**400}), "", "a number out of range"),
    "broken Unicode": (filters({**LEAF, "value": "\ud800"}), "", "broken Unicode"),
    "not JSON": (filters({**LEAF, "value": b"x"}), "", "which JSON cannot carry"),
    "keys that are not text": ({**MINIMAL, 1: 2}, "", "keys are not all text"),
}


@pytest.mark.parametrize("case", MALFORMED, ids=[case["title"] for case in MALFORMED])
def test_a_malformed_plan_is_explained(case: dict[str, Any]) -> None:
    errors = errors_of(case["plan"])
    assert [e["field"] for e in errors] == [case["field"]]
    assert case["message"] in errors[0]["message"]


@pytest.mark.parametrize(("obj", "field", "message"), UNWRITABLE.values(), ids=UNWRITABLE.keys())
def test_what_json_cannot_hold_is_explained(obj: object, field: str, message: str) -> None:
    errors = errors_of(obj)
    assert [e["field"] for e in errors] == [field]
    assert message in errors[0]["message"]


def test_all_errors_at_once() -> None:
    errors = errors_of({"table": 1, "select": [{"agg": "men", "column": "a"}], "limit": 0, "x": 1})
    assert {e["field"] for e in errors} == {"dataset_id", "table", "select[0].agg", "limit", "x"}


def test_the_first_error_is_the_message_and_counts_the_rest() -> None:
    with pytest.raises(InvalidInput, match=r"^dataset_id: `dataset_id` is missing \(and 2 more problems\)$"):
        parse_plan({})


@pytest.mark.parametrize("depth", [50, 5_000])
def test_endless_nesting_is_refused_quickly(depth: int) -> None:
    assert (
        errors_of(filters(nested(LEAF, depth)))[0]["message"] == "the plan is too large or nested too deeply"
    )


def test_a_huge_plan_is_refused_quickly() -> None:
    assert "too large" in errors_of(select(*[{"column": "a"}] * 100_000))[0]["message"]


def test_a_flood_of_invisible_characters_is_refused() -> None:
    assert "too large" in errors_of(filters({**LEAF, "value": "\x01" * 1_001}))[0]["message"]


def test_a_plan_object_is_taken_as_it_is() -> None:
    plan = parse_plan(MINIMAL)
    assert parse_plan(plan) is plan


@pytest.mark.parametrize("example", EXAMPLES, ids=["return rate", "growth", "breaches", "named table"])
def test_published_examples_fit_the_built_in_datasets(example: object) -> None:
    plan = parse_plan(example)
    assert check_plan(plan, BUILT_IN.get(plan.dataset_id)) == []


@pytest.mark.parametrize(
    ("dataset", "metric"),
    [pytest.param(d, m, id=m.name) for d in BUILT_IN.values() for m in d.metrics],
)
def test_built_in_metrics_can_be_asked_for(dataset: Dataset, metric: Metric) -> None:
    plan = {"dataset_id": dataset.id, "table": metric.table, "select": [{"metric": metric.name}]}
    assert check_plan(parse_plan(plan), dataset) == []


def test_the_published_schema_is_up_to_date() -> None:
    published = Path(__file__).parents[2] / "docs" / "plan.schema.json"
    assert published.read_text() == plan_schema_text(), (
        "write it anew with sandtable.plan.schema.plan_schema_text()"
    )


@given(plans(SHOP))
def test_a_valid_plan_survives_a_round_trip(obj: dict[str, Any]) -> None:
    plan = parse_plan(obj)
    assert check_plan(plan, SHOP) == []
    assert parse_plan(json.loads(json.dumps(plan.to_json()))) == plan


WORDS = st.sampled_from(
    "dataset_id table select filters time group_by derive having top_per_group order_by limit notes column "
    "agg of as where q distinct metric bucket op left right value other_column any all not last unit from to "
    "period "
    "as_of share_of_total rank change running_total zscore along within kind n by expr dir nulls shop orders "
    "order_items region quantity sum count month = in between contains + / return_rate * asc".split()
)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), WORDS, st.text(max_size=5))
JSON = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(WORDS, inner, max_size=4)),
    max_leaves=12,
)


@given(st.one_of(JSON, st.dictionaries(WORDS, JSON).map(lambda extra: {**MINIMAL, **extra})))
def test_no_object_breaks_the_reader(obj: object) -> None:
    try:
        plan = parse_plan(obj)
    except InvalidInput as error:
        assert error.details["errors"]
        assert all(set(e) == {"field", "message", "suggestion"} for e in error.details["errors"])
    else:
        check_plan(plan, SHOP)


@st.composite
def mutated(draw: st.DrawFn) -> object:
    """A valid plan with one part of it replaced or removed."""
    plan = draw(plans(SHOP))
    node: Any = plan
    while True:
        key = draw(st.sampled_from(sorted(node) if isinstance(node, dict) else range(len(node))))
        if isinstance(node[key], dict | list) and node[key] and draw(st.integers(0, 3)):
            node = node[key]
            continue
        if draw(st.booleans()):
            node[key] = draw(JSON)
        else:
            del node[key]
        return plan


@given(mutated())
def test_no_mutation_of_a_plan_breaks_the_checks(obj: object) -> None:
    try:
        check_plan(parse_plan(obj), SHOP)
    except InvalidInput as error:
        assert error.details["errors"]
