"""Names of columns as words."""

from __future__ import annotations

import pytest

from sandtable.wording.phrases import plural, words


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("downtime_min", "downtime minutes"),
        ("DurationMin", "duration minutes"),
        ("temp_min", "temperature min"),  # the least, or minutes: the name does not say
        ("min_temp", "minimum temperature"),
        ("max_speed", "maximum speed"),
        ("total_eur", "total EUR"),
        ("unit_price", "unit price"),
    ],
)
def test_a_name_is_said_in_words(name: str, said: str) -> None:
    assert words(name) == said


def test_units_have_no_plural() -> None:
    assert plural("total EUR") == "total EUR"
    assert plural("weight kg") == "weight kg"
