"""`per`, `each` and `every`: bound to a grouping, to the lower side of a ratio, or to the rows that are averaged."""

from __future__ import annotations

from itertools import pairwise

from sandtable.planner.conscience.ledger import Ledger
from sandtable.planner.conscience.naming import names_table
from sandtable.planner.conscience.pieces import Piece
from sandtable.planner.language.words import stem
from sandtable.planner.schema.columns import key_of, label_of

_ROWS = frozenset({"row", "rows", "record", "line", "entry"})
_OVER_ROWS = frozenset({"avg", "median", "quantile", "stddev", "min", "max"})
_ENDS_NAME = frozenset(
    "in for by of on at from with to and or , . : ? ; ( did do does is are was were has have".split()
)


def each_of(book: Ledger, at: int) -> list[int] | None:
    """What the plan groups by, as far as the word at this place asks for it; None when it is settled already.

    `per X`: X must be what the plan groups by, or the lower side of a ratio.
    """
    following = book.next_said(at)
    if book.lower(at) == "each" and book.lower(at + 1) == "other":
        book.put_aside(at, at + 2)
        return None
    if book.lower(at) == "every" and book.doing("share") and not book.of_kind("by"):
        book.bind(at, at + 1, book.doing("share"))
        return None
    called = book.where(lambda p: any(book.lower(at) in c.words for c in p.columns))
    if following is not None and any(book.naming(following, book.pieces[i]) >= 0.7 for i in called):
        book.bind(at, at + 1, called)
        return None
    grouping = [*book.of_kind("by"), *book.doing("ratio", "top")]
    if book.lower(at) == "each" and book.lower(at + 1) in {"", ",", ".", "?", ";"}:
        following = None
    if following is None or not book.open(following):
        return grouping or _over_rows(book, at)
    named = [i for i in grouping if book.naming(following, book.pieces[i]) >= 0.7]
    if not named and following + 1 < len(book.words):
        named = [i for i in grouping if book.naming(following + 1, book.pieces[i]) >= 0.7]
    return named or _listed(book, following) or _in_words(book, at, grouping) or _over_rows(book, at)


def _listed(book: Ledger, following: int) -> list[int]:
    """Every row of a table, by its name."""
    rows = [i for i in book.of_kind("shape") if book.naming(following, book.pieces[i]) >= 0.7]
    labels = [i for i in book.of_kind("by") if _labels_rows(book.pieces[i])]
    return rows if rows and (labels or not book.of_kind("measure")) else []


def _labels_rows(piece: Piece) -> bool:
    return any(set(c.stems) & {"name", "titl", "id", "number"} for c in piece.columns)


def _phrase(book: Ledger, at: int) -> list[int]:
    """The words of the name behind `per`: `cost centre owner`."""
    places: list[int] = []
    for place in range(at + 1, min(at + 5, len(book.words))):
        if book.lower(place) in _ENDS_NAME:
            break
        places.append(place)
    return places


def _in_words(book: Ledger, at: int, grouping: list[int]) -> list[int]:
    """A grouping by the label of a table that is named, or by a column of which a later word of the name speaks."""
    phrase = _phrase(book, at)
    for number in grouping:
        piece = book.pieces[number]
        if any(book.naming(place, piece) >= 0.8 for place in phrase):
            return [number]
        for column in piece.columns if piece.kind == "by" else ():
            table = book.index.table(column.table)
            if table is None or column not in {label_of(table), key_of(table)}:
                continue
            stems = [book.words[place].stem for place in phrase]
            stems += [stem(book.lower(one) + book.lower(two)) for one, two in pairwise(phrase)]
            if any(names_table(said, table) >= 0.7 for said in stems):
                return [number]
    return []


def _over_rows(book: Ledger, at: int) -> list[int]:
    """`the average fee per order`: averaged over the rows, which are orders."""
    measures = [book.pieces[i] for i in book.of_kind("measure")]
    over = measures and all(p.does & _OVER_ROWS or {"ratio", "count"} <= p.does for p in measures)
    if not over:
        return []
    phrase = _phrase(book, at)
    rows = book.where(lambda p: p.path == ("table",))
    if any(book.lower(place) in _ROWS for place in phrase[:1]):
        return rows
    tables = [book.pieces[i].table for i in rows]
    return (
        rows if any(t and names_table(book.words[p].stem, t) >= 0.75 for t in tables for p in phrase) else []
    )
