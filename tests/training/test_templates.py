"""Questions made of phrases."""

from __future__ import annotations

import pytest

from sandtable.planner.candidates.network.sketch import WORDS, Item, is_sketch
from sandtable.planner.language.reading import Reading
from sandtable.planner.language.times import Calendar, find_time_phrases
from training.reader.domains import read_domain
from training.reader.example import Example, fault_of
from training.reader.naming import plural, singular, with_article
from training.reader.templates import templated

DOMAIN = """\
dataset rentals | Boats for rent
as_of 2025-06-30

table trips | one row per trip | time started_at
  trip_id integer
  boat_id integer -> boats.boat_id
  started_at timestamp
  ended_at timestamp
  distance_km double | unit km
  price double | unit EUR
  deposit double | unit EUR
  channel text | values Web, Phone Call, Walk-in
  weather text | values Sunny, Rainy, Windy
  refunded boolean

table boats | one row per boat | time built_on
  boat_id integer
  boat_name text | values Sea Star, Blue Moon, Old Harry, Kingfisher
  harbour text | values North Quay, Old Port, East Bay
  built_on date
  sold_on date
  seats integer

metric cancel_rate | trips | share(refunded = true) | Share of trips given back
"""
COUNT = 1500
RARE = {"none", "0", "1", "2", "col=", "col>=", "col<=", "whole=", "#4", "#5", "#6", "#7", "#8", "in", "then"}
"""What no template says."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> list[Example]:
    path = tmp_path_factory.mktemp("domain") / "rentals.txt"
    path.write_text(DOMAIN, encoding="utf-8")
    domain = read_domain(path)
    return list(templated([(domain.dataset, domain.profile)], COUNT, 7))


def test_every_sketch_is_a_plan_over_the_dataset(made: list[Example]) -> None:
    assert len(made) == COUNT
    for one in made:
        assert is_sketch(one.sketch)
        assert fault_of(one.sketch, one.dataset) is None
        assert not one.tune


def test_every_construct_is_said(made: list[Example]) -> None:
    said = {token for one in made for token in one.sketch if isinstance(token, str)}
    missing = set(WORDS) - said - RARE
    assert len(missing) < 8, missing


def test_times_are_read_as_they_are_meant(made: list[Example]) -> None:
    for one in made:
        meant = {t.value for t in one.sketch if isinstance(t, Item) and t.kind == "window"}
        phrases = find_time_phrases(Reading.of(one.question), Calendar.at(one.dataset.as_of))
        assert meant == {tuple(sorted(phrase.window.items())) for phrase in phrases}, one.question


def test_numbers_and_values_are_in_the_question(made: list[Example]) -> None:
    for one in made:
        for token in one.sketch:
            if isinstance(token, Item) and token.kind == "value":
                assert str(token.value).lower() in one.question.lower()


def test_the_same_seed_gives_the_same_questions(made: list[Example]) -> None:
    again = list(templated([(made[0].dataset, made[0].profile)], 50, 7))
    assert [(one.question, one.sketch) for one in again] == [(one.question, one.sketch) for one in made[:50]]
    assert len({one.question for one in made}) == COUNT


def test_no_question_has_blanks_or_marks_too_many(made: list[Example]) -> None:
    for one in made:
        assert "  " not in one.question
        assert " ?" not in one.question
        assert "{" not in one.question
        assert one.question == one.question.strip()


def test_forms_of_words() -> None:
    assert [plural(word) for word in ("city", "bus", "trip", "person", "sales", "directed by")] == [
        "cities", "buses", "trips", "people", "sales", "directed by",
    ]  # fmt: skip
    assert [singular(word) for word in ("cities", "boxes", "trips", "people", "status")] == [
        "city", "box", "trip", "person", "status",
    ]  # fmt: skip
    assert [with_article(word) for word in ("order", "price", "points")] == ["an order", "a price", "points"]
