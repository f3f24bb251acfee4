"""Words that only say how a message goes on from the answer before."""

from __future__ import annotations

import pytest

from sandtable.planner.dialogue.continuing import continuing
from sandtable.planner.dialogue.message import Message

BY_CITY = {
    "table": "sales",
    "select": [{"column": "city"}, {"agg": "count", "as": "count"}],
    "filters": [{"column": "state", "op": "=", "value": "open"}],
}
IN_ALL = {**BY_CITY, "select": [{"agg": "count", "as": "count"}]}
ALL_STATES = {key: value for key, value in BY_CITY.items() if key != "filters"}
TWO_STATES = {**BY_CITY, "filters": [{"column": "state", "op": "in", "value": ["open", "paid"]}]}


@pytest.mark.parametrize(
    ("message", "plan", "left"),
    [
        ("what about Berlin?", BY_CITY, "Berlin"),
        ("can you split that by plan please", BY_CITY, "by plan"),
        ("only the paid ones", BY_CITY, "the paid"),
        ("drop the filter on state", ALL_STATES, "the state"),
        ("drop the filter on state", BY_CITY, "drop the state"),
        ("compared to paid", TWO_STATES, "to paid"),
        ("compared to paid", BY_CITY, "compared to paid"),
        ("and with no discount", ALL_STATES, "with no discount"),
        ("all but Berlin", IN_ALL, "but Berlin"),
        ("without refunds", ALL_STATES, "without refunds"),
        ("and next month?", BY_CITY, "next month"),
        ("and in total?", IN_ALL, ""),
        ("and in total?", BY_CITY, "in total"),
    ],
)
def test_such_words_are_no_part_of_what_is_meant(message: str, plan: dict[str, object], left: str) -> None:
    said = Message.of(message)
    places = continuing(said, plan, BY_CITY)
    words = [word.text for at, word in enumerate(said.reading.words) if at not in places]
    assert " ".join(words) == left
