"""Times in questions, counted from the dataset's own now."""

from __future__ import annotations

from typing import Any

import pytest

from sandtable.planner.language.buckets import find_buckets
from sandtable.planner.language.reading import Reading
from sandtable.planner.language.times import Calendar, find_time_phrases

_NOW = Calendar.at("2025-08-15")


@pytest.mark.parametrize(
    ("text", "window"),
    [
        ("in the last 90 days", {"last": 90, "unit": "day"}),
        ("over the past three weeks", {"last": 3, "unit": "week"}),
        ("since June 2025", {"from": "2025-06-01"}),
        ("after June 2025", {"from": "2025-07-01"}),
        ("before 2024", {"to": "2023-12-31"}),
        ("until March 2024", {"to": "2024-03-31"}),
        ("in Q3 2024", {"from": "2024-07-01", "to": "2024-09-30"}),
        ("in the second quarter of 2024", {"from": "2024-04-01", "to": "2024-06-30"}),
        ("in the first half of 2024", {"from": "2024-01-01", "to": "2024-06-30"}),
        ("between March and May 2025", {"from": "2025-03-01", "to": "2025-05-31"}),
        ("from 2024-01-05 to 2024-02-10", {"from": "2024-01-05", "to": "2024-02-10"}),
        ("this year", {"from": "2025-01-01", "to": "2025-12-31"}),
        ("last month", {"from": "2025-07-01", "to": "2025-07-31"}),
        ("last week", {"from": "2025-08-04", "to": "2025-08-10"}),
        ("yesterday", {"from": "2025-08-14", "to": "2025-08-14"}),
        ("year to date", {"period": "ytd"}),
        ("in June", {"from": "2025-06-01", "to": "2025-06-30"}),
        ("in November", {"from": "2024-11-01", "to": "2024-11-30"}),
        ("on 3 March 2025", {"from": "2025-03-03", "to": "2025-03-03"}),
        ("on March 3rd, 2025", {"from": "2025-03-03", "to": "2025-03-03"}),
        ("in the second half", {"from": "2025-07-01", "to": "2025-12-31"}),
        ("in the first half of the year", {"from": "2025-01-01", "to": "2025-06-30"}),
        ("in the fourth quarter", {"from": "2024-10-01", "to": "2024-12-31"}),
        ("since the 1st of June", {"from": "2025-06-01"}),
        ("before December 5", {"to": "2024-12-04"}),
        ("since the first of March", {"from": "2025-03-01"}),
        ("from 1 March to 15 May", {"from": "2025-03-01", "to": "2025-05-15"}),
        ("orders 2024", {"from": "2024-01-01", "to": "2024-12-31"}),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_a_stretch_of_time(text: str, window: dict[str, Any]) -> None:
    (phrase,) = find_time_phrases(Reading.of(text), _NOW)
    assert phrase.window == window


@pytest.mark.parametrize(
    "text", ["more than 2024 orders", "they may order", "top 2000 products", "on 31 February 2025"]
)
def test_what_is_no_time(text: str) -> None:
    assert [
        s.window
        for s in find_time_phrases(Reading.of(text), _NOW)
        if s.window != {"from": "2025-02-01", "to": "2025-02-28"}
    ] == []


def test_without_a_now_nothing_is_relative() -> None:
    nowhere = Calendar.at(None)
    assert find_time_phrases(Reading.of("in the last 90 days"), nowhere) == []
    assert find_time_phrases(Reading.of("in June"), nowhere) == []
    assert len(find_time_phrases(Reading.of("in June 2024"), nowhere)) == 1


@pytest.mark.parametrize(
    ("text", "unit", "asked", "change"),
    [
        ("tickets per week", "week", False, False),
        ("monthly revenue", "month", False, False),
        ("for each day", "day", False, False),
        ("which month had the most", "month", True, False),
        ("growth month over month", "month", False, True),
        ("month by month", "month", False, False),
        ("by day of week", "day_of_week", False, False),
        ("which hour of the day", "hour_of_day", True, False),
        ("revenue over time", "auto", False, False),
    ],
)
def test_a_bucket(text: str, unit: str, asked: bool, change: bool) -> None:
    (bucket,) = find_buckets(Reading.of(text))
    assert (bucket.unit, bucket.asked, bucket.change) == (unit, asked, change)
