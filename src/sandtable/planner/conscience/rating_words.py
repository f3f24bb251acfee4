"""Scores that people give: `rated 5`, `1 or 2 stars`, `scored 2 or worse`. Bound to conditions on a column of scores.

A bare number needs words that say what it measures. Here these are the words for giving a score, beside the number.
"""

from __future__ import annotations

from sandtable.planner.conscience.ledger import Ledger
from sandtable.planner.conscience.pieces import Piece
from sandtable.planner.conscience.quantities import same_number
from sandtable.planner.language.words import parse_number, stem

_SCORES = frozenset(
    stem(w)
    for w in "rating ratings score scores stars star csat nps satisfaction grade mark points review".split()
)
_GIVING = frozenset(
    stem(w)
    for w in "rated rate rating rates scored score scores marked marks mark graded grade gave given giving got star "
    "stars review reviews reviewed".split()
)
_NEAR = 3
"""Words between the number and the word for giving it."""
_WORSE = frozenset({"worse", "lower", "less", "below", "under"})
_BETTER = frozenset({"better", "higher", "more", "above", "over"})
_MOST_LISTED = 6


def bind_ratings(book: Ledger) -> None:
    for number in book.of_kind("where"):
        piece = book.pieces[number]
        if not _is_scored(piece):
            continue
        said = [at for at in range(len(book.words)) if book.open(at) and _is_given(book, at)]
        if piece.op in {"=", "!=", "in", "not_in"}:
            held = [at for at in said if _is_held(book, at, piece)]
            for at in held:
                book.bind(at, at + 1, [number])
        elif piece.op in {"<=", ">="}:
            _bind_range(book, number, said)


def _bind_range(book: Ledger, number: int, said: list[int]) -> None:
    """`2 or worse`, or every score from the end of the scale to the limit: `1 or 2`."""
    piece = book.pieces[number]
    further = _WORSE if piece.op == "<=" else _BETTER
    limits = [at for at in said if _is_held(book, at, piece)]
    for at in limits:
        if book.lower(at + 1) == "or" and book.lower(at + 2) in further:
            book.bind(at, at + 3, [number])
            return
    listed = _from_end_of_scale(piece)
    values = {_value(book, at) for at in said}
    if listed and listed == values:
        for at in said:
            book.bind(at, at + 1, [number])


def _from_end_of_scale(piece: Piece) -> set[float]:
    """The whole numbers that the condition keeps; none where the column has other numbers or too many."""
    profile = piece.columns[0].profile
    held = {v.value for v in profile.values} if profile is not None else set[object]()
    whole = {float(v) for v in held if isinstance(v, int | float) and not isinstance(v, bool) and v == int(v)}
    if not whole or len(whole) != len(held) or profile is None or profile.distinct != len(held):
        return set()
    limit = next((float(v) for v in piece.values if isinstance(v, int | float)), None)
    if limit is None:
        return set()
    kept = {v for v in whole if (v <= limit if piece.op == "<=" else v >= limit)}
    return kept if len(kept) <= _MOST_LISTED else set()


def _is_scored(piece: Piece) -> bool:
    return bool(piece.columns) and piece.columns[0].numeric and bool(set(piece.columns[0].stems) & _SCORES)


def _is_given(book: Ledger, at: int) -> bool:
    """A number with a word for giving it beside it, or in a list whose first number has one."""
    if _value(book, at) is None:
        return False
    first = at
    while first >= 2 and book.lower(first - 1) in {"or", "and", ","} and _value(book, first - 2) is not None:
        first -= 2
    last = at
    while book.lower(last + 1) in {"or", "and", ","} and _value(book, last + 2) is not None:
        last += 2
    near = (*range(max(0, first - _NEAR), first), *range(last + 1, min(len(book.words), last + 2)))
    return any(book.words[i].stem in _GIVING for i in near)


def _is_held(book: Ledger, at: int, piece: Piece) -> bool:
    value = _value(book, at)
    return value is not None and any(same_number(value, held) for held in piece.values)


def _value(book: Ledger, at: int) -> float | None:
    return parse_number(book.lower(at)) if 0 <= at < len(book.words) else None
