"""Words, stems, value keys and numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandtable.planner.language.spelling import within
from sandtable.planner.language.words import (
    parse_number,
    read_number,
    split_name,
    split_words,
    stem,
    value_key,
)


@given(st.text(max_size=200))
def test_a_word_is_the_text_at_its_place(text: str) -> None:
    words = split_words(text)
    assert all(text[w.start : w.end] == w.text for w in words)
    assert [w.start for w in words] == sorted(w.start for w in words)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("orders", "order"),
        ("categories", "category"),
        ("returned", "returns"),
        ("shipping", "shipping"),
        ("prices", "priced"),
        ("people", "person"),
        ("cancellation", "cancelled"),
        ("boxes", "box"),
        ("wrote", "written"),
        ("company's", "company"),
        ("qty", "quantity"),
        ("planned", "planning"),
    ],
)
def test_forms_of_a_word_share_a_stem(one: str, other: str) -> None:
    assert stem(one) == stem(other)


@pytest.mark.parametrize(
    ("one", "other"), [("rating", "rate"), ("status", "state"), ("news", "new"), ("sales", "sold")]
)
def test_different_words_keep_different_stems(one: str, other: str) -> None:
    assert stem(one) != stem(other)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("first_response_minutes", ("first", "response", "minutes")),
        ("GDPPerCapita", ("gdp", "per", "capita")),
        ("IMDb Rating", ("imdb", "rating")),
        ("U.S. viewers (millions)", ("u", "s", "viewers", "millions")),
        ("% of vote", ("%", "of", "vote")),
    ],
)
def test_names_are_taken_apart(name: str, words: tuple[str, ...]) -> None:
    assert split_name(name) == words


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Asia Pacific", "asia-pacific"),
        ("Café", "cafe"),
        ("how-to", "How To"),
        ("O'Hara", "ohara"),
        ("St. Gallen", "st gallen"),
    ],
)
def test_spellings_of_a_value_share_a_key(one: str, other: str) -> None:
    assert value_key(one) == value_key(other)


@pytest.mark.parametrize(("one", "other"), [("C++", "C"), ("1.5", "15"), ("#1", "1")])
def test_different_values_keep_different_keys(one: str, other: str) -> None:
    assert value_key(one) != value_key(other)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1,200", 1200),
        ("2k", 2000),
        ("3.5m", 3_500_000),
        ("$40", 40),
        ("12%", 12),
        ("-5", -5),
        ("abc", None),
        ("5th", None),
    ],
)
def test_a_text_as_a_number(text: str, value: float | None) -> None:
    assert parse_number(text) == value


@pytest.mark.parametrize(
    ("text", "value", "percent"),
    [
        ("two hundred and fifty rows", 250, False),
        ("twenty-five", 25, False),
        ("25% of", 25, True),
        ("50 million people", 50_000_000, False),
        ("€1,200.50", 1200.5, False),
        ("10 percent", 10, True),
        ("one and two", 1, False),
    ],
)
def test_a_number_is_read_from_words(text: str, value: float, percent: bool) -> None:
    number = read_number(split_words(text), 0)
    assert number is not None and (number.value, number.percent) == (value, percent)


@pytest.mark.parametrize(
    ("a", "b", "most", "distance"),
    [
        ("germany", "germny", 1, 1),
        ("germany", "gremany", 1, 1),
        ("abc", "xyz", 2, None),
        ("same", "same", 0, 0),
    ],
)
def test_how_far_spellings_are_apart(a: str, b: str, most: int, distance: int | None) -> None:
    assert within(a, b, most) == distance
