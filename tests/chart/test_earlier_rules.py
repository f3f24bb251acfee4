"""Figures of earlier rules are drawn again byte for byte, so that the capsules that hold them still verify.

`earlier/figures.json` was written by the rules of that time. It is never written again: rules of today that become
earlier ones get further cases.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sandtable.capsule.canonical import canonical
from sandtable.chart.figure import chart_of
from sandtable.chart.rules import MAKERS
from sandtable.chart.shape import NO_WORDS, Words
from sandtable.plan.validate import parse_plan

CASES: list[dict[str, Any]] = json.loads((Path(__file__).parent / "earlier/figures.json").read_text("utf-8"))


def drawn(case: dict[str, Any], maker: str, units: tuple[str, ...] = ()) -> dict[str, Any] | None:
    said = case["words"]
    words = Words(tuple(said[0]), said[1], said[2], units) if said else Words(units=units)
    return chart_of(
        [tuple(column) for column in case["columns"]],
        case["rows"],
        question=case["question"],
        plan=parse_plan(case["plan"]) if case["plan"] else None,
        truncated=case["truncated"],
        words=words if units or said else NO_WORDS,
        maker=maker,
    )


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_each_figure_is_the_one_that_its_rules_drew(case: dict[str, Any]) -> None:
    assert set(case["figures"]) == set(MAKERS[:-1])
    for maker, figure in case["figures"].items():
        assert canonical(drawn(case, maker)) == canonical(figure), maker


def test_units_of_the_catalog_change_no_figure_of_earlier_rules() -> None:
    case = next(case for case in CASES if case["name"] == "bars")
    earlier = MAKERS[-2]
    assert canonical(drawn(case, earlier, ("", "EUR"))) == canonical(case["figures"][earlier])
    today = drawn(case, MAKERS[-1], ("", "EUR"))
    assert today is not None and today["layout"]["yaxis"]["tickprefix"] == "€"
