"""A recipe is applied as it is; what no longer fits is refused."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from sandtable_runner.intake.bad_file import BadFile
from tests.runner.intake.cells import Bench


@pytest.fixture(scope="module")
def bench() -> Bench:
    return Bench()


def test_a_recipe_is_applied_as_it_is(bench: Bench) -> None:
    columns = bench.decide({"x": ["25/12/2024"], "n": ["N/A"]}).decision.columns
    typed = bench.decide({"n": ["NULL"], "x": ["03/04/2024"]}, given=columns)
    assert typed.values == {"n": ["NULL"], "x": [dt.date(2024, 4, 3)]}


def test_a_value_can_be_empty_by_a_recipe(bench: Bench) -> None:
    given = [{"header": "x", "name": "y", "read_as": "integer", "empty": ["", "9999"]}]
    typed = bench.decide({"x": ["9999", "1"]}, given=given)
    assert typed.values == {"y": [None, 1]}


def test_what_no_longer_fits_is_refused(bench: Bench) -> None:
    given = [{"header": "x", "name": "x", "read_as": "date", "format": "%d/%m/%Y"}]
    cells = {"x": ["25/12/2024", "12/25/2024", "13/31/2024"]}
    with pytest.raises(BadFile) as caught:
        bench.decide(cells, given=given)
    assert "row 2 of orders has '12/25/2024' in column x" in caught.value.message
    assert "1 other" in caught.value.message
    assert [repair["id"] for repair in caught.value.repairs] == ["misfits-empty:x"]
    typed = bench.decide(cells, given=given, repairs=["misfits-empty:x"])
    assert typed.values["x"] == [dt.date(2024, 12, 25), None, None]
    assert typed.decision.misfit_counts == {"x": 2}


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ([], "'x'"),
        ([{"header": "x", "name": "x"}, {"header": "y", "name": "y"}], "'y'"),
        ([{"header": "x", "name": "x", "read_as": "date", "format": "%Q"}], "%Q"),
        ([{"header": "x", "name": "x", "read_as": "money"}], "money"),
    ],
)
def test_a_recipe_for_something_else_is_refused(bench: Bench, given: list[dict[str, Any]], word: str) -> None:
    with pytest.raises(BadFile) as caught:
        bench.decide({"x": ["1"]}, given=given)
    assert word in caught.value.message
