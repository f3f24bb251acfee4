"""Times that are said after an answer about another time."""

from __future__ import annotations

import datetime as dt

import pytest

from sandtable.planner.language import periods
from sandtable.planner.language.reading import Reading
from sandtable.planner.language.spoken_before import moved, preceding
from sandtable.planner.language.times import Calendar, find_time_phrases


@pytest.mark.parametrize(
    ("said", "mine", "first"),
    [
        ("and in May?", periods.year(2023), dt.date(2023, 5, 1)),
        ("and in May?", periods.month(2024, 12), dt.date(2025, 5, 1)),
        ("and in May 2021?", periods.year(2023), dt.date(2021, 5, 1)),
        ("and in Q2?", periods.quarter(2022, 1), dt.date(2022, 4, 1)),
        ("and in 2020?", periods.year(2023), dt.date(2020, 1, 1)),
    ],
)
def test_a_month_without_a_year_is_near_to_what_was_spoken_of(
    said: str, mine: periods.Period, first: dt.date
) -> None:
    reading = Reading.of(said)
    (phrase,) = find_time_phrases(reading, Calendar.at("2025-10-15"))
    assert phrase.period is not None
    assert moved(reading, phrase.start, phrase.end, phrase.period, mine).first == first


@pytest.mark.parametrize(
    ("said", "mine", "first"),
    [
        ("versus the month before", periods.month(2025, 1), dt.date(2024, 12, 1)),
        ("and the previous year?", periods.year(2024), dt.date(2023, 1, 1)),
        ("the year before", periods.quarter(2024, 3), dt.date(2023, 7, 1)),
        ("the period before", periods.month(2025, 3), dt.date(2025, 2, 1)),
    ],
)
def test_what_came_before_is_before_what_was_spoken_of(
    said: str, mine: periods.Period, first: dt.date
) -> None:
    ((_, _, period),) = preceding(Reading.of(said), mine)
    assert period.first == first
    assert period.unit == mine.unit


def test_a_week_before_a_year_is_not_known() -> None:
    assert list(preceding(Reading.of("the week before"), periods.year(2024))) == []
