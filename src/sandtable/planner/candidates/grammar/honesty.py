"""Which unexplained words may be ignored, and which prevent an answer.

Invariant: a head noun or a verb that nothing explains is never excused because the rest was understood.
"""

from __future__ import annotations

import re

from sandtable.planner.candidates.grammar.draft import Draft
from sandtable.planner.language.reading import FREE
from sandtable.planner.language.vocabulary import AGGREGATES, FILLER, LEAST, MOST, RELATING
from sandtable.planner.language.words import parse_number, stem
from sandtable.planner.mentions.values import ValueMatch
from sandtable.planner.schema.columns import is_measure
from sandtable.planner.schema.entries import ColumnEntry

_WINNING = frozenset(stem(w) for w in "win won winning lose lost beat".split())
_WATCHING = frozenset(stem(w) for w in "watch treat".split())
UNITS = frozenset(
    "degree degrees celsius fahrenheit euro euros eur dollar dollars usd pound pounds gbp cent cents yen franc francs "
    "second seconds minute minutes hour hours day days week weeks month months year years percent percentage kg kilo "
    "kilos kilogram kilograms gram grams g tonne tonnes ton tons km kilometre kilometres kilometer kilometers metre "
    "metres meter meters cm mm mile miles foot feet inch inches litre litres liter liters kwh watt watts hpa bar mb gb "
    "piece pieces unit units point points star stars million millions thousand billion times".split()
)
_OCCASIONS = frozenset(
    "race match game contest competition tournament championship event election survey study".split()
)
_COUNTED_FILLER = frozenset(
    "rows records entries times values results types kinds sorts names titles dates columns fields cases instances "
    "details items things ones years months weeks days hours minutes quarters percent".split()
)
_LONG = 3
"""Words in a cell that is a sentence rather than a name."""
_HOW_MANY = re.compile(r"(?:how many|number of)(?= )")
_OF_TIME = frozenset("time times date dates".split())
"""Filler elsewhere; after a noun they are what is asked for."""


def is_passed_over(draft: Draft, at: int) -> bool:
    """Whether a word may be ignored: linking verbs, units beside a number, and what a number column counts."""
    word = draft.reading.words[at]
    relates = word.stem in RELATING or word.stem in _WATCHING
    superlative = draft.reading.lower(at - 1) in MOST | LEAST and word.lower.endswith("ed")
    if relates and not superlative:
        return True
    if word.lower in UNITS and parse_number(draft.reading.lower(at - 1) or "x") is not None:
        return True
    if _is_all_of_it(draft, at) or _leads_to_a_number(draft, at):
        return True
    return _is_counted(draft, at) or (word.stem in _WINNING and _tells_of_winning(draft))


def _is_all_of_it(draft: Draft, at: int) -> bool:
    """`who finished the race`, `were on board`: the occasion that all rows are about."""
    word, before = draft.reading.lower(at), draft.reading.lower(at - 1)
    return (before == "the" and word in _OCCASIONS) or (before == "on" and word == "board")


def _leads_to_a_number(draft: Draft, at: int) -> bool:
    """`completed 58 laps`: the verb of a number whose column was named."""
    if not draft.reading.lower(at).endswith("ed"):
        return False
    near = [c for c in draft.conditions if at < c.start <= at + 2 and c.column is not None]
    return any(c.column is not None and c.column.numeric and _is_said(draft, c.column) for c in near)


def is_chance(draft: Draft, at: int, near: ValueMatch) -> bool:
    """A plain word somewhere inside long texts, or where the name of a number should stand, is no value."""
    if at > 0 and draft.reading.words[at].text[0].isupper():
        return False
    back = at - 1
    while back >= 0 and draft.reading.owner[back] == FREE and draft.reading.lower(back) not in FILLER:
        back -= 1
    if draft.reading.lower(back) in AGGREGATES:
        return True
    return min(len(str(hit.value).split()) for hit in near.hits) > _LONG


def _tells_of_winning(draft: Draft) -> bool:
    """`won 10 gold medals`: the verb adds nothing to the number column."""
    columns = [m.column for m in draft.measures] + [c.column for c in draft.conditions]
    columns.append(draft.rank.column if draft.rank else None)
    return any(c is not None and is_measure(c) for c in columns)


def _is_counted(draft: Draft, at: int) -> bool:
    """`won at least 9 games`, `how many games did they lose`: the column named by the verb counts the noun."""
    word = draft.reading.words[at]
    if not word.lower.endswith("s") or word.text[0].isupper():
        return False
    if draft.reading.owner[at - 1] == "condition" and parse_number(draft.reading.lower(at - 1)) is not None:
        return any(
            c.end == at and c.column is not None and _is_said(draft, c.column) for c in draft.conditions
        )
    asked = draft.reading.lower(at - 1) == "many"
    return asked and any(
        m.column is not None and m.item.get("agg") == "sum" and _is_said(draft, m.column, wholly=True)
        for m in draft.measures
    )


def _is_said(draft: Draft, column: ColumnEntry, *, wholly: bool = False) -> bool:
    said = {word.stem for word in draft.reading.words} & set(column.stems)
    return said == set(column.stems) if wholly else bool(said)


def _is_hidden_noun(draft: Draft, at: int) -> bool:
    """`how many accounts`: filler elsewhere, but here what is to be counted."""
    word = draft.reading.lower(at)
    plain = word in FILLER and word.endswith("s") and word not in _COUNTED_FILLER and len(word) > 4
    return plain and draft.reading.owner[at] == FREE and draft.starting(at + 1) is None


def unanswered_heads(draft: Draft) -> list[int]:
    """`the fastest lap time` where laps are only numbered: the time is the question, the laps are not."""
    found = [end for _, end, _ in draft.reading.find(_HOW_MANY) if _is_hidden_noun(draft, end)]
    for at, word in enumerate(draft.reading.words):
        spot = draft.ending(at)
        if word.lower not in _OF_TIME or draft.reading.owner[at] != FREE or spot is None:
            continue
        column = spot.column
        if column is not None and column.numeric and not column.unit and spot.role != "filter":
            found.append(at)
    return found
