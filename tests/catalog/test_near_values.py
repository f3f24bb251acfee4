"""Values near a text that is none of them."""

from __future__ import annotations

import pytest

from sandtable.catalog.near_values import MOST_NEAR, held, near_values
from sandtable.catalog.profile import ColumnProfile, ValueCount

CITIES = ["Berlin", "Hamburg", "München", "Münster", "Frankfurt am Main", "Köln"]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        pytest.param("Munchen", "München", id="accents"),
        pytest.param("berlin", "Berlin", id="case"),
        pytest.param("Belrin", "Berlin", id="letters swapped"),
        pytest.param("Hambourg", "Hamburg", id="a letter too many"),
        pytest.param("Frankfurt", "Frankfurt am Main", id="some of its words"),
        pytest.param("Köln city", "Köln", id="further words"),
        pytest.param("Berlins", "Berlin", id="plural"),
    ],
)
def test_the_nearest_value_comes_first(text: str, first: str) -> None:
    assert near_values(text, CITIES)[0] == first


@pytest.mark.parametrize("text", ["Atlantis", "xyz", "M", " "])
def test_what_is_like_none_has_none(text: str) -> None:
    assert near_values(text, CITIES) == ()


def test_few_are_given_of_many() -> None:
    many = [f"customer {number}" for number in range(2_000)]
    found = near_values("custmer 1234", many)
    assert found[0] == "customer 1234" and len(found) == MOST_NEAR


def test_only_a_complete_profile_says_that_a_value_is_not_there() -> None:
    column = ColumnProfile(name="city", nulls=0, distinct=2, values=(ValueCount(value="Berlin", count=2),))
    assert (held(column, "Berlin"), held(column, "Bonn")) == (True, None)
    assert held(column.model_copy(update={"complete": True}), "Bonn") is False
    assert held(None, "Bonn") is None
