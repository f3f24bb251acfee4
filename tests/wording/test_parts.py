"""The parts of a plan in words, all of them and one by its place."""

from __future__ import annotations

from typing import Any

import pytest

from sandtable.wording.parts import parts_of, text_at
from tests.wording.corpus import Case, cases, dataset_of

PLANS = [case for case in cases("readings") if parts_of(case["plan"], dataset_of(case))]


@pytest.mark.parametrize("case", PLANS, ids=lambda case: case["title"])
def test_a_part_is_called_the_same_alone_and_among_all(case: Case) -> None:
    plan, dataset = case["plan"], dataset_of(case)
    texts = {part.path: part.text for part in parts_of(plan, dataset)}
    # A table that the plan defines is shown, and is no place where something else could be chosen.
    asked = [path for path in texts if path[0] != "define"]
    assert {path: text_at(plan, dataset, path) for path in asked} == {path: texts[path] for path in asked}


@pytest.mark.parametrize("path", [("limit",), ("time",), ("having", 7), ("select", 70), ("colour",)])
def test_a_place_without_a_part_has_an_empty_text(path: tuple[Any, ...]) -> None:
    case = next(case for case in PLANS if not {"limit", "time"} & case["plan"].keys())
    assert text_at(case["plan"], dataset_of(case), path) == ""
    assert text_at({**case["plan"], "table": "no such table"}, dataset_of(case), path) is None
