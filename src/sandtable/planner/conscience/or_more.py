"""`10 urgent cases or more`: the comparing words follow what is counted."""

from __future__ import annotations

from sandtable.planner.conscience.ledger import Ledger, comparisons_in
from sandtable.planner.conscience.pieces import Piece
from sandtable.planner.conscience.quantities import directions, has_number, same_number
from sandtable.planner.conscience.units import unit_named
from sandtable.planner.language.words import Number, parse_number

_OPENING = {
    **dict.fromkeys("more higher above greater over longer bigger larger".split(), ">="),
    **dict.fromkeys("less fewer lower below under shorter smaller".split(), "<="),
}
_MOST_BETWEEN = 3


def bind_or_more(book: Ledger) -> None:
    for said in comparisons_in(book.reading.text):
        if not said.plain or len(said.numbers) != 1:
            continue
        number = said.numbers[0]
        found = _opening(book, number.end)
        if found is None:
            continue
        at, op = found
        fitting = book.where(lambda p, n=number, o=op: p.kind == "where" and _compares(book, p, n, o))
        if fitting:
            book.bind(number.start, number.end, fitting)
            book.bind(at, at + 2, fitting)


def _opening(book: Ledger, end: int) -> tuple[int, str] | None:
    """The place of `or more` after one to three words, and its operator."""
    for at in range(end + 1, end + _MOST_BETWEEN + 1):
        before = book.lower(at - 1)
        if not before or book.words[at - 1].is_symbol or parse_number(before) is not None:
            return None
        if book.lower(at) == "or" and book.lower(at + 1) in _OPENING:
            return at, _OPENING[book.lower(at + 1)]
    return None


def _compares(book: Ledger, piece: Piece, number: Number, op: str) -> bool:
    if "exists" in piece.does and piece.values:
        return same_number(number.value, piece.values[0]) and directions(op, piece.op)
    unit = unit_named(book.words[number.end].stem)
    return has_number(piece, number.value, unit, percent=number.percent) and directions(op, piece.op)
