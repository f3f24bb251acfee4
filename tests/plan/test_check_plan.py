"""A plan against a catalog: every name is found or the nearest one is offered, every type fits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sandtable.catalog.model import Dataset
from sandtable.catalog.names import nearest
from sandtable.errors import InvalidInput
from sandtable.plan.problems import MOST_PROBLEMS
from sandtable.plan.validate import check_plan, parse_plan, require_plan
from tests.plan.shop import SHOP


def problems(dataset: Dataset = SHOP, **fields: Any) -> list[tuple[str, str, str]]:
    plan = parse_plan({"dataset_id": "shop", "table": "order_items", "select": [{"agg": "count"}], **fields})
    return [(p.field, p.message, p.suggestion) for p in check_plan(plan, dataset)]


UNFIT = json.loads((Path(__file__).parent / "corpus" / "unfit.json").read_text())


@pytest.mark.parametrize("case", UNFIT, ids=[case["title"] for case in UNFIT])
def test_what_does_not_fit_is_explained(case: dict[str, Any]) -> None:
    (problem,) = check_plan(parse_plan(case["plan"]), SHOP)
    assert problem.field == case["field"]
    assert case["message"] in problem.message
    assert case["suggestion"] in problem.suggestion


def test_all_problems_at_once() -> None:
    found = problems(
        select=[{"column": "categry"}, {"agg": "sum", "column": "note"}],
        filters=[{"column": "quantity", "op": "=", "value": "x"}],
        order_by=[{"expr": "nothing"}],
    )
    assert [f for f, _, _ in found] == [
        "select[0].column", "select[1].column", "filters[0].value", "order_by[0].expr",
    ]  # fmt: skip


_WRONG = [f"categry_{number}" for number in range(100)]
_WRONG_ITEMS = [{"column": name} for name in _WRONG]


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param({"select": _WRONG_ITEMS}, id="columns"),
        pytest.param({"filters": [{"column": n, "op": "=", "value": 1} for n in _WRONG]}, id="filters"),
        pytest.param(
            {"define": [{"name": "t", "plan": {"table": "order_items", "select": _WRONG_ITEMS}}]}, id="define"
        ),
        pytest.param(dict.fromkeys(_WRONG, 1), id="fields"),
        pytest.param({"select": [dict.fromkeys(_WRONG, 1)]}, id="shape"),
        pytest.param({"select": [{"agg": name, "column": "quantity"} for name in _WRONG]}, id="aggregates"),
    ],
)
def test_a_plan_that_is_wrong_all_over_is_not_explained_for_ever(
    wrong: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each explanation is a search among all names: a bounded number of them, and a bounded list."""
    searched: list[str] = []

    def counted(name: str, candidates: Any) -> str | None:
        searched.append(name)
        return nearest(name, candidates)

    monkeypatch.setattr("sandtable.plan.problems.nearest", counted)
    plan = {"dataset_id": "shop", "table": "order_items", "select": [{"agg": "count"}], **wrong}
    with pytest.raises(InvalidInput) as caught:
        require_plan(parse_plan(plan), SHOP)
    errors = caught.value.problem.details["errors"]
    assert 1 <= len(errors) <= MOST_PROBLEMS and len(searched) <= MOST_PROBLEMS
    assert all(error["field"] for error in errors)


def test_relative_time_needs_an_anchor() -> None:
    """Without an as_of there is no answer: the clock is never asked."""
    undated = SHOP.model_copy(update={"as_of": None})
    window = {"table": "orders", "time": {"last": 7, "unit": "day"}}
    field, message, suggestion = problems(undated, **window)[0]
    assert field == "time.as_of"
    assert "neither the plan nor the dataset says what 'now' is" in message
    assert "2024-06-30" in suggestion
    assert problems(undated, table="orders", time={"last": 7, "unit": "day", "as_of": "2024-01-01"}) == []


def test_a_broken_metric_is_the_catalogs_fault() -> None:
    broken = SHOP.metrics[0].model_copy(update={"numerator": {"agg": "sum", "column": "gone"}})
    looping = SHOP.metrics[0].model_copy(update={"name": "loop", "numerator": {"metric": "loop"}})
    plain = SHOP.metrics[0].model_copy(update={"name": "plain", "numerator": {"column": "quantity"}})
    dataset = SHOP.model_copy(update={"metrics": (broken, looping, plain)})
    found = problems(dataset, select=[{"metric": name} for name in ("return_rate", "loop", "plain")])
    assert [message for _, message, _ in found] == [
        "metric `return_rate` cannot be used here: no column `gone` in order_items",
        "metric `loop` cannot be used here: the catalog's metric refers to another metric, `loop`, "
        "which is not possible",
        "metric `plain` cannot be used here: it is not an aggregate",
    ]


def test_the_raising_variant_carries_every_problem() -> None:
    plan = parse_plan({"dataset_id": "shop", "table": "orders", "select": [{"column": "x"}, {"column": "y"}]})
    with pytest.raises(InvalidInput) as caught:
        require_plan(plan, SHOP)
    assert [e["field"] for e in caught.value.details["errors"]] == ["select[0].column", "select[1].column"]
