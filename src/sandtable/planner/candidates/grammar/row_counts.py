"""How many rows something has, and on which weekdays: conditions on groups that no column of the data holds."""

from __future__ import annotations

import re

from sandtable.planner.candidates.grammar.draft import Draft, Having
from sandtable.planner.candidates.grammar.measuring import count_measure
from sandtable.planner.candidates.grammar.timing import default_time
from sandtable.planner.language.buckets import Bucket
from sandtable.planner.language.numbers import find_comparisons
from sandtable.planner.language.reading import FREE
from sandtable.planner.language.vocabulary import ROW_NOUNS

_EXACTLY = frozenset("only just exactly".split())
_HAVE = frozenset("have has had with having contain contains include includes".split())
_ONE = re.compile(r"(?:only|just|exactly) (?:one|a single|one single)(?= )|a single(?= )")
_WEEKDAYS: tuple[str, ...] = tuple("monday tuesday wednesday thursday friday saturday sunday".split())
_ON_WEEKDAYS = re.compile(rf"(?:on )?(?:a )?(?P<day>{'|'.join(_WEEKDAYS)})s?(?= |$)")
_MOVING = frozenset("rise rose risen climb climbed fall fell fallen drop dropped decline declined".split())


def bind_row_counts(draft: Draft) -> None:
    """`which industries have only one person`: how many rows a group has."""
    reading = draft.reading
    _only_one(draft)
    for comparison in find_comparisons(reading):
        at, end = comparison.start, comparison.end
        if end >= len(reading) or reading.words[end].stem not in ROW_NOUNS or reading.owner[end] != FREE:
            continue
        exactly = comparison.plain and reading.lower(at - 1) in _EXACTLY
        verb = reading.lower(at - 2 if exactly else at - 1)
        named = any(s.open and s.end <= at and s.column is not None and s.column.text for s in draft.spots)
        if not named or verb not in _HAVE or comparison.op == "between":
            continue
        measure = count_measure(draft, None, distinct=False, start=at)
        draft.having.append(
            Having(measure, "=" if comparison.plain else comparison.op, comparison.numbers[0].exact)
        )
        reading.claim(at - exactly, end + 1, "condition")


def _only_one(draft: Draft) -> None:
    """`only one person`, `a single entry`: said with words that are no number elsewhere."""
    reading = draft.reading
    for start, end, _ in reading.find(_ONE):
        named = any(s.open and s.end <= start and s.column is not None and s.column.text for s in draft.spots)
        rows = end < len(reading) and reading.words[end].stem in ROW_NOUNS and reading.owner[end] == FREE
        if named and rows and reading.lower(start - 1) in _HAVE and reading.free(start, end):
            draft.having.append(Having(count_measure(draft, None, distinct=False, start=start), "=", 1))
            reading.claim(start, end + 1, "condition")


def find_weekdays(draft: Draft) -> None:
    """`how many were opened on Mondays`: the counts per weekday, of which one is kept."""
    column = default_time(draft)
    for start, end, match in draft.reading.find(_ON_WEEKDAYS):
        if column is None or not draft.measures or draft.buckets or not draft.reading.free(start, end):
            continue
        draft.reading.claim(start, end, "condition")
        draft.buckets.append(Bucket(start, end, "day_of_week"))
        day = _WEEKDAYS.index(match.group("day")) + 1
        draft.derived_having.append({"column": "day_of_week", "op": "=", "value": day})


def find_movement(draft: Draft) -> None:
    """`did the number of tickets rise`: the months, in which it can be seen."""
    if not draft.yes_no or not draft.measures or draft.buckets or default_time(draft) is None:
        return
    for at, word in enumerate(draft.reading.words):
        if word.lower in _MOVING and draft.reading.owner[at] == FREE:
            draft.reading.claim(at, at + 1, "measure")
            draft.buckets.append(Bucket(at, at + 1, "month"))
            return
