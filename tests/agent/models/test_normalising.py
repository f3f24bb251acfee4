"""Replies as small chat models write them: each becomes the plan that it means, or a problem that names its fault."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandtable.agent.model_proposer import in_plan_language
from sandtable.agent.model_reply import ModelReply, read_reply
from sandtable.agent.normalising import Known, normalised, table_problem
from sandtable.agent.proposer import AskBack, Asked, PlanProposal, Proposal
from sandtable.catalog.model import Dataset
from sandtable.catalog.profile import ColumnProfile, Profile, TableProfile, ValueCount
from sandtable.catalog.registry import load_catalog
from sandtable.engines.duckdb.types import column_type
from sandtable.errors import InvalidInput, Problem
from sandtable.plan.validate import check_plan, parse_plan, require_plan
from tests.agent.models.registry_plans import PROMPTS

ROOT = Path(__file__).resolve().parents[3]
REPLIES: list[dict[str, Any]] = json.loads((ROOT / "tests/agent/corpus/replies.json").read_text())
VALUES = {
    ("orders", "region"): ["Europe", "North America", "Asia Pacific"],
    ("orders", "status"): ["delivered", "cancelled", "returned"],
    ("orders", "channel"): ["web", "email", "store"],
}


@cache
def _dataset(name: str) -> Dataset:
    return load_catalog(ROOT / "datasets", column_type).get(name)


def _profile(dataset: Dataset) -> Profile:
    def seen(table: str, column: str) -> ColumnProfile:
        values = VALUES.get((table, column), [])
        counted = tuple(ValueCount(value=value, count=1) for value in values)
        return ColumnProfile(
            name=column, nulls=0, distinct=len(values), values=counted, complete=bool(values)
        )

    tables = (
        TableProfile(name=t.name, rows=1, columns=tuple(seen(t.name, c.name) for c in t.columns))
        for t in dataset.tables
    )
    return Profile(version=dataset.version, tables=tuple(tables))


def _read(case: dict[str, Any]) -> Proposal | Problem:
    dataset = _dataset(case["dataset"])
    text = case["reply"] if isinstance(case["reply"], str) else json.dumps(case["reply"])
    asked = Asked(case["question"], dataset, _profile(dataset))
    return in_plan_language(read_reply(ModelReply(text), dataset.id), asked)


def _named(kind: str) -> list[Any]:
    return [pytest.param(case, id=case["id"]) for case in REPLIES if kind in case]


@pytest.mark.parametrize("case", _named("plan"))
def test_a_reply_becomes_the_plan_that_it_means(case: dict[str, Any]) -> None:
    dataset = _dataset(case["dataset"])
    read = _read(case)
    assert isinstance(read, PlanProposal), read
    meant = parse_plan({"dataset_id": dataset.id, **case["plan"]})
    assert parse_plan(read.plan).to_json() == meant.to_json()
    assert check_plan(meant, dataset) == []


@pytest.mark.parametrize("case", _named("refused"))
def test_a_reply_with_more_than_one_meaning_goes_back_with_what_is_wrong(case: dict[str, Any]) -> None:
    read = _read(case)
    if isinstance(read, PlanProposal):
        read = _refusal(read.plan, _dataset(case["dataset"]))
    assert isinstance(read, Problem)
    assert case["refused"] in f"{read.message} {read.details}" and "`table` is missing." not in read.message


def _refusal(plan: dict[str, Any], dataset: Dataset) -> Problem:
    """As the conversation refuses it."""
    unknown = table_problem(plan, Known(dataset))
    if unknown is not None:
        return unknown
    with pytest.raises(InvalidInput) as refused:
        require_plan(parse_plan(plan), dataset)
    return refused.value.problem


@pytest.mark.parametrize("case", _named("asked"))
def test_a_question_back_is_read_as_one(case: dict[str, Any]) -> None:
    read = _read(case)
    assert isinstance(read, AskBack) and read.reason == case["asked"] and read.suggestions


@pytest.mark.parametrize("prompt", PROMPTS, ids=lambda prompt: prompt.text)
def test_a_valid_plan_stays_as_it_is(prompt: Any) -> None:
    plan = {"dataset_id": prompt.dataset, **prompt.plan}
    assert normalised(plan, Known(_dataset(prompt.dataset))) == plan


def test_the_corpus_has_many_forms() -> None:
    ids = [case["id"] for case in REPLIES]
    assert len(set(ids)) == len(ids) >= 80


_NAMES = st.sampled_from(
    "table select column agg metric bucket as filters time last unit period order_by expr dir group_by op value left "
    "right where any all not name type of region revenue count sum orders derive define plan having limit".split()
)
_LEAVES = (
    _NAMES
    | st.none()
    | st.booleans()
    | st.integers(-3, 3000)
    | st.floats(allow_nan=False)
    | st.text(max_size=4)
)
_LEVEL = st.lists(_LEAVES, max_size=3) | st.dictionaries(_NAMES, _LEAVES, max_size=4)
_JSON = _LEAVES | _LEVEL | st.lists(_LEVEL, max_size=3) | st.dictionaries(_NAMES, _LEVEL, max_size=3)


@given(st.dictionaries(_NAMES, _JSON, max_size=6))
def test_no_plan_raises(plan: dict[str, Any]) -> None:
    dataset = _dataset("ecommerce")
    read = in_plan_language(PlanProposal(plan), Asked("?", dataset, _profile(dataset)))
    assert isinstance(read, PlanProposal | Problem)
