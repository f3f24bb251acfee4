"""Comparisons without a number: one column with another, and ordinals (`first class`)."""

from __future__ import annotations

from sandtable.planner.candidates.grammar.draft import Condition, Draft, Spot
from sandtable.planner.candidates.grammar.sequence import bind_places, bind_reached
from sandtable.planner.language.numbers import find_operators
from sandtable.planner.language.reading import FREE
from sandtable.planner.language.words import number_key

_LEFT = frozenset(
    "is are was were be been being has have had a an the of at that which who to with , 's".split()
)
_MORE_THAN = {
    "more": ">",
    "higher": ">",
    "greater": ">",
    "larger": ">",
    "fewer": "<",
    "less": "<",
    "lower": "<",
}
ORDINALS = {
    word: number
    for number, words in enumerate(
        (
            "first 1st",
            "second 2nd",
            "third 3rd",
            "fourth 4th",
            "fifth 5th",
            "sixth 6th",
            "seventh 7th",
            "eighth 8th",
        ),
        1,
    )
    for word in words.split()
}


def compare_columns(draft: Draft) -> None:
    """`stock is below the reorder point`: two columns of one row."""
    for operator in find_operators(draft.reading):
        left = draft.before(operator.start, _LEFT, 2)
        right = draft.after(operator.end, frozenset({"the", "its", "their", "a"}), 2)
        if left is None or right is None or not (left.open and right.open):
            continue
        a, b = left.number, right.number
        if a is None or b is None or a is b or operator.op == "=":
            continue
        left.role = right.role = "filter"
        leaf = {"column": draft.ref(a), "op": operator.op, "other_column": draft.ref(b)}
        draft.conditions.append(Condition(left.start, right.end, leaf, a))
        draft.reading.claim(operator.start, operator.end, "condition")


def more_of_one(draft: Draft) -> None:
    """`with more silver than gold`."""
    for at in range(len(draft.reading)):
        asked = draft.reading.lower(at - 1) in {"many", "much"} and draft.reading.lower(at - 2) == "how"
        op = _MORE_THAN.get(draft.reading.lower(at)) if not asked else None
        left = draft.starting(at + 1) if op else None
        if op is None or left is None or not left.open or draft.reading.lower(left.end) != "than":
            continue
        right = draft.after(left.end + 1, frozenset({"the"}), 1)
        a, b = left.number, right.number if right is not None and right.open else None
        if right is None or a is None or b is None or a is b:
            continue
        left.role = right.role = "filter"
        leaf = {"column": draft.ref(a), "op": op, "other_column": draft.ref(b)}
        draft.conditions.append(Condition(at, right.end, leaf, a))
        draft.reading.claim(at, right.end, "condition")


def bind_ordinals(draft: Draft) -> None:
    """`first class`, `ranked 4th`: a number column's value, when it holds that value."""
    for spot in draft.spots:
        for at in (spot.start - 1, spot.end):
            number = ORDINALS.get(draft.reading.lower(at)) if at >= 0 else None
            if number is not None and spot.open and draft.reading.owner[at] == FREE:
                _bind_ordinal(draft, spot, at, number)
    bind_places(draft, ORDINALS)
    bind_reached(draft)


def _bind_ordinal(draft: Draft, spot: Spot, at: int, number: int) -> None:
    column = spot.number
    hits = draft.index.values.get(number_key(number), ())
    if column is None or not any((h.table, h.column) == (column.table, column.name) for h in hits):
        return
    spot.role, spot.chosen = "filter", column
    leaf = {"column": draft.ref(column), "op": "=", "value": number}
    draft.conditions.append(Condition(spot.start, spot.end, leaf, column, value=number))
    draft.reading.claim(at, at + 1, "condition")
