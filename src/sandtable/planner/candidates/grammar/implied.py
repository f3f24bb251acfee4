"""What a phrase leaves unsaid: an age behind `passengers over 60`, zero behind `a negative balance`."""

from __future__ import annotations

from sandtable.planner.candidates.grammar.draft import Condition, Draft
from sandtable.planner.language.numbers import Comparison
from sandtable.planner.language.reading import FREE
from sandtable.planner.language.vocabulary import ROW_NOUNS
from sandtable.planner.language.words import stem
from sandtable.planner.schema.columns import is_measure, label_of
from sandtable.planner.schema.entries import ColumnEntry

_OLDEST = 120
_BARE = frozenset("over under above below".split())
_PERSONS = ROW_NOUNS | {
    stem(w)
    for w in "anyone anybody someone somebody everyone those women men adults children kids girls boys".split()
}
_YOUNG = frozenset("children child kids kid".split())
_SIGNS = {"negative": "<", "positive": ">"}
_WHERE = frozenset("place port point town city".split())


def by_age(draft: Draft, comparison: Comparison) -> ColumnEntry | None:
    """`passengers over 60`: people and a bare number that can be an age, where the table has just one."""
    words = draft.reading.words[comparison.start : comparison.end]
    bare = {w.lower for w in words} & _BARE
    ages = [c for c in draft.home.columns if c.numeric and c.stems == (stem("age"),)]
    if not bare or len(ages) != 1 or not all(1 <= n.value <= _OLDEST for n in comparison.numbers):
        return None
    at = comparison.start - 1
    while at > 0 and draft.reading.lower(at) in {"were", "are", "was", "is", "who"}:
        at -= 1
    noun = draft.ending(at + 1)
    label = label_of(draft.home)
    rows = noun is not None and (noun.table is draft.home or (label is not None and noun.column is label))
    if at < 0 or not (rows or draft.reading.words[at].stem in _PERSONS):
        return None
    if draft.reading.lower(at) in _YOUNG and draft.reading.owner[at] == FREE:
        draft.reading.claim(at, at + 1, "condition")
    draft.used.append(f'"{draft.reading.written(comparison.start, comparison.end)}" read as {ages[0].name}')
    return ages[0]


def bind_signs(draft: Draft) -> None:
    """`a negative balance` is one below zero."""
    for spot in draft.spots:
        at = spot.start - 1
        op = _SIGNS.get(draft.reading.lower(at)) if at >= 0 else None
        if op is None or not spot.open or draft.reading.owner[at] != FREE:
            continue
        column = spot.number
        if column is None or not is_measure(column):
            continue
        spot.role, spot.chosen = "filter", column
        leaf = {"column": draft.ref(column), "op": op, "value": 0}
        draft.conditions.append(Condition(at, spot.end, leaf, column))
        draft.reading.claim(at, spot.end, "condition")


def pass_places(draft: Draft) -> None:
    """`the port of embarkation` is where one embarked: the noun before `of` adds nothing to the column."""
    for at in range(len(draft.reading) - 2):
        if draft.reading.lower(at) not in _WHERE or draft.reading.owner[at] != FREE:
            continue
        spot = draft.starting(at + 2)
        if draft.reading.lower(at + 1) == "of" and spot is not None and spot.column and spot.column.text:
            draft.reading.claim(at, at + 2, "spot")
