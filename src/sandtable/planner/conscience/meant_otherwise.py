"""Content words that name nothing in the data and still mean a part of the plan: age, late, markup, listed values."""

from __future__ import annotations

from sandtable.catalog.profile import ColumnProfile
from sandtable.planner.conscience.good_ends import is_duration
from sandtable.planner.conscience.ledger import Ledger
from sandtable.planner.conscience.pieces import Piece
from sandtable.planner.language.words import Word, stem
from sandtable.recent import Recent

_LASTING = frozenset(
    stem(w)
    for w in "age wait waits waiting waited lasted lasts lasting last length duration long lag gap delay sit sits "
    "early lifetime stay turnaround until pass passes notice".split()
)
_AFTER = frozenset(
    stem(w) for w in "late later miss missed missing beat beats tops topped exceed overrun over".split()
)
_UNDER = frozenset(stem(w) for w in "short early earlier under cheaper below ahead".split())
_EQUAL = frozenset(stem(w) for w in "equal equals same identical".split())
_BETWEEN = frozenset(
    stem(w)
    for w in "markup margin profit surplus shortfall loss lose losing lost variance overspend saving savings missing "
    "left difference deviation".split()
)
_DIFFERENCES = frozenset({"difference", "change"})


def means_otherwise(book: Ledger, at: int, word: Word) -> list[int]:
    return (
        _stretch(book, word)
        or _against(book, word)
        or _rest(book, word)
        or _value_of_groups(book, at, word)
        or _acronym(book, word)
    )


def _stretch(book: Ledger, word: Word) -> list[int]:
    """`the average age`, `runs that lasted over 20 hours`: a stretch of time."""
    if word.stem not in _LASTING:
        return []
    return book.where(lambda p: p.kind in {"measure", "where", "order", "shape"} and is_duration(p))


def _against(book: Ledger, word: Word) -> list[int]:
    """`finished late`, `paid short`: one column against another, in that direction."""
    ops = {">", ">="} if word.stem in _AFTER else {"<", "<="} if word.stem in _UNDER else set[str]()
    ops |= {"=", "<=", ">="} if word.stem in _EQUAL else set()
    return [i for i in book.of_kind("where") if book.pieces[i].compares_rows and book.pieces[i].op in ops]


def _rest(book: Ledger, word: Word) -> list[int]:
    """`the markup`: one amount less another."""
    if word.stem not in _BETWEEN:
        return []
    return [
        i for i in book.of_kind("measure", "where", "order")
        if book.pieces[i].does & _DIFFERENCES and "elapsed" not in book.pieces[i].does
        and len(book.pieces[i].columns) > 1
    ]  # fmt: skip


def _value_of_groups(book: Ledger, at: int, word: Word) -> list[int]:
    """`clear, green and brown: sales`: all values of what is grouped by are listed, which leaves none out."""
    for number in book.of_kind("by"):
        if _lists_all(book, book.pieces[number]) and _values_at(book, book.pieces[number], at):
            return [number]
    return []


def _lists_all(book: Ledger, piece: Piece) -> bool:
    column = piece.columns[0] if len(piece.columns) == 1 else None
    profile = column.profile if column is not None else None
    if profile is None or not profile.complete or not 2 <= profile.distinct <= 12:
        return False
    said = {value for at in range(len(book.words)) for value in _values_at(book, piece, at)}
    return len(said) >= profile.distinct


def _values_at(book: Ledger, piece: Piece, at: int) -> set[str]:
    """The values of the piece's column that have the word at this place."""
    column = piece.columns[0] if piece.columns else None
    if column is None or column.profile is None or book.words[at].is_symbol:
        return set()
    return _by_stem(column.profile).get(book.words[at].stem, set())


_BY_STEM: Recent[int, tuple[ColumnProfile, dict[str, set[str]]]] = Recent(256)
"""Keyed by `id`: a profile is frozen, and the cache keeps it alive as long as its id."""


def _by_stem(profile: ColumnProfile) -> dict[str, set[str]]:
    """The values of a column by the stems of their words."""
    known = _BY_STEM.get(id(profile))
    if known is not None:
        return known[1]
    made: dict[str, set[str]] = {}
    for counted in profile.values:
        value = str(counted.value)
        for part in value.lower().replace("-", " ").split():
            made.setdefault(stem(part), set()).add(value)
    _BY_STEM.put(id(profile), (profile, made))
    return made


def _acronym(book: Ledger, word: Word) -> list[int]:
    """`SKUs` of a column called sku; `PO` of a table called purchase orders."""
    short = word.text.removesuffix("s")
    if len(short) < 2 or not short.isupper():
        return []

    def has(piece: Piece) -> bool:
        columns = any(short.lower() in c.words for c in piece.columns)
        initials = "".join(w[0] for w in piece.table.words) if piece.table is not None else ""
        return columns or (len(initials) > 1 and initials == short.lower())

    return book.where(has)
