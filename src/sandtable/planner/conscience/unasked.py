"""Parts of a plan that no word of the question asks for: a condition, a window, a sum, a grouping too many."""

from __future__ import annotations

import re

from sandtable.planner.conscience.ledger import Ledger
from sandtable.planner.conscience.naming import (
    GENERIC_HEADS,
    UNIT_STEMS,
    closeness,
    head_of,
    names_column,
    names_table,
)
from sandtable.planner.conscience.pieces import Piece, adds_codes, is_flag
from sandtable.planner.conscience.terms import (
    AGAINST,
    COMPARATIVES,
    DATED,
    IMPLIED_COLUMNS,
    NOT,
    SEQUENCES,
    STATES,
)
from sandtable.planner.conscience.units import unit_of
from sandtable.planner.language.words import split_name, stem
from sandtable.planner.schema.columns import is_identifier, is_unique, key_of, label_of
from sandtable.planner.schema.entries import TableEntry

_HAD_ONE = re.compile(
    r"^(?:when|whenever|where|if) .* , (?:how|what)\b"
    r"|\b(?:with|had|got|have|has|gave|were given|received) (?:one|any|some)\b"
)
_OTHERS = frozenset("other but else rest still out weekday weekdays working different".split())
_ASKS_DATE = frozenset("when date dates day days time".split())
_RATES = frozenset(
    stem(w) for w in "rate ratio percent rating score grade age temperature nps star ph pct".split()
)
_SUMMED = frozenset(stem(w) for w in "total sum totals summed overall combined altogether".split())
_FAST = frozenset({"fastest", "slowest", "quickest", "longest", "shortest"})
_HOW_LONG = frozenset(stem(w) for w in "minutes min hours long time duration much lost downtime".split())


def is_unasked(book: Ledger, number: int, piece: Piece) -> bool:
    words = book.words_of(number)
    match piece.kind:
        case "where" if "exists" in piece.does:
            return _unasked_lookup(book, number, piece, words)
        case "where":
            if number not in book.asked:
                spoken = piece.compares_rows or piece.op in {"is_null", "not_null"} or _is_any(book, piece)
                spoken = spoken and bool(words)
                return not spoken and not _is_implied(book, piece)
            if piece.op in {"!=", "not_in"} and not piece.compares_rows and not is_flag(piece):
                return not piece.is_negated and not _says_not(book, number)
            return piece.negative and is_flag(piece) and not _is_negated(book, number)
        case "shape":
            return (
                _unasked_rows(book, number, piece) if piece.path == ("table",) else _unasked_date(book, piece)
            )
        case "when":
            return not words or (piece.negative and not any(book.lower(at) in NOT | _OTHERS for at in words))
        case "limit":
            return not words and not _ranked(book)
        case "measure":
            return _unasked_measure(book, piece, words)
        case "by":
            return _unasked_group(book, piece, words)
        case _:
            return False


def _unasked_lookup(book: Ledger, number: int, piece: Piece, words: list[int]) -> bool:
    """Rows of another table that no word mentions, or whose absence is required without a negation."""
    if piece.negative:
        return all(book.naming(at, piece) >= 0.7 for at in words)
    return not words and not any(book.words_of(inner) for inner in book.inside(number))


def _unasked_rows(book: Ledger, number: int, piece: Piece) -> bool:
    """Rows that are not mentioned at all, while every condition is about another table."""
    if piece.table is None or book.words_of(number):
        return False
    own = [
        p for p in book.pieces if p.kind != "order" and any(c.table == piece.table.name for c in p.columns)
    ]
    if any(book.words_of(i) for i, p in enumerate(book.pieces) if p in own):
        return False
    elsewhere = [
        p for p in book.pieces if p.kind == "where" and (p.columns or ("exists" in p.does and not p.negative))
    ]
    computed = any(p.columns for p in book.pieces if p.kind in {"measure", "by"})
    return bool(elsewhere) and not computed


def _unasked_date(book: Ledger, piece: Piece) -> bool:
    """Nothing but a date is shown, and no word asks for one."""
    shown = [p for p in book.pieces if p.kind in {"shape", "by"} and p.columns]
    dates = piece.columns and all(c.temporal for p in shown for c in p.columns)
    return (
        bool(dates)
        and "all" not in piece.does
        and not _date_is_said(book, piece)
        and not book.of_kind("order", "measure")
    )


def _is_any(book: Ledger, piece: Piece) -> bool:
    """`incidents with rework`: more than none of a column that nothing else in the plan refers to.

    `when we gave a discount, how big was it`, `the average discount of those that got one`: of what is measured, too.
    """
    more = (piece.op, piece.values) in {(">", (0,)), (">=", (1,))}
    if more and _HAD_ONE.search(book.reading.line):
        return True
    return more and not any(
        p is not piece
        and p.kind in {"by", "measure", "shape", "order"}
        and set(p.columns) & set(piece.columns)
        for p in book.pieces
    )


def _is_implied(book: Ledger, piece: Piece) -> bool:
    """Empty cells left out of groups, and the place of a rank."""
    if piece.op == "not_null":
        grouped = {c for i in book.of_kind("by", "measure", "order") for c in book.pieces[i].columns}
        return any(c in grouped for c in piece.columns)
    return "rank" in piece.does and bool(book.of_kind("order"))


def _is_negated(book: Ledger, number: int) -> bool:
    """A negative condition has a word with a negation."""
    piece = book.pieces[number]
    column = {s for c in piece.columns for s in c.stems}
    return any(book.words[at].stem not in column for at in book.words_of(number))


def _says_not(book: Ledger, number: int) -> bool:
    """Other values than these are kept: a word says so, or these are not said at all."""
    places = book.words_of(number)
    if any(book.lower(at) in NOT | _OTHERS or book.lower(at) in STATES for at in places):
        return True
    values = {stem(w) for v in book.pieces[number].values for w in split_name(str(v))}
    return not any(book.words[at].stem in values for at in places)


def _ranked(book: Ledger) -> bool:
    return any(book.words_of(i) for i in book.of_kind("order"))


def _unasked_measure(book: Ledger, piece: Piece, words: list[int]) -> bool:
    if adds_codes(piece):
        return True
    if book.follows and words:
        return False
    if piece.does & {"count", "count_distinct", "metric", "holds"} or not piece.columns:
        return False
    if "sum" in piece.does and (_is_rate(book, piece) or _is_row_noun(book, piece)):
        return True
    if piece.does & {"share", "ratio", "some"}:
        return False
    if not words:
        return True
    if "elapsed" in piece.does:
        return False
    return not _head_is_said(book, piece)


def _is_rate(book: Ledger, piece: Piece) -> bool:
    """Rates, scores and temperatures are averaged; their sum is given only when it is asked for."""
    rates = all(
        c.stated_aggregate == "avg" if c.stated_aggregate else set(c.stems) & _RATES for c in piece.columns
    )
    return rates and not book.stems & _SUMMED


def _is_row_noun(book: Ledger, piece: Piece) -> bool:
    """`stops per shift` counts the stops: their minutes are meant only when they are mentioned."""
    tables = _tables(book)
    column = piece.columns[0]
    if unit_of(column) is None or book.stems & (_SUMMED | _HOW_LONG):
        return False
    naming = [
        w.stem for at, w in enumerate(book.words) if book.says(at) and names_column(w.stem, column) >= 0.7
    ]
    return bool(naming) and all(any(names_table(w, t) >= 0.7 for t in tables) for w in naming)


def _head_is_said(book: Ledger, piece: Piece) -> bool:
    """`gift` does not ask for the gift aid, nor `orders` for the order value, nor `stops` for their minutes."""
    said = [book.words[at] for at in range(len(book.words)) if not book.words[at].is_symbol]
    for column in piece.columns:
        heads = head_of(column)
        implied = (IMPLIED_COLUMNS.get(w.lower, (frozenset[str](), True))[0] for w in said)
        if any(closeness(i, s) >= 0.75 for words in implied for i in words for s in column.stems):
            return True
        if set(column.stems) & UNIT_STEMS & book.stems and {"many", "much"} & {w.lower for w in said}:
            return True
        if set(column.stems) & SEQUENCES and any(w.lower in DATED for w in said):
            return True
        if set(heads) <= GENERIC_HEADS and unit_of(column) is not None and book.stems & (_FAST | {"time"}):
            return True
        if any(closeness(w.stem, h) >= 0.7 for w in said for h in heads):
            return True
        if set(heads) <= GENERIC_HEADS and any(
            u in book.stems for u in ("eur", "euro", "usd", "dollar", "€", "$")
        ):
            return True
    return False


def _unasked_group(book: Ledger, piece: Piece, words: list[int]) -> bool:
    if "bucket" in piece.does and not words:
        # Two periods are compared by what each of them has.
        return not (book.doing("change") and book.asked & set(book.of_kind("when")))
    if "bucket" in piece.does or "top" in piece.does:
        return False
    home = book.pieces[-1].table if book.pieces else None
    home = next((p.table for p in book.pieces if p.table is not None), home)
    counts = any(
        "count" in p.does and "some" not in p.does and not p.columns
        for p in book.pieces
        if p.kind == "measure"
    )
    if (
        home is not None
        and counts
        and any(is_unique(c, home) and (c.text or is_identifier(c)) for c in piece.columns)
    ):
        # Groups of one row each: their counts are always 1.
        return True
    if any(c.temporal for c in piece.columns):
        return not _date_is_said(book, piece)
    if words or any(label_of(t) in piece.columns or key_of(t) in piece.columns for t in _tables(book)):
        return False
    compared = [book.pieces[i] for i in book.of_kind("where") if book.words_of(i)]
    versus = any(w.lower in AGAINST or w.lower in COMPARATIVES or w.lower == "both" for w in book.words)
    if versus and any("or" in p.does and set(p.columns) & set(piece.columns) for p in compared):
        return False
    return not _names_rows(book, piece)


def _tables(book: Ledger) -> list[TableEntry]:
    return [p.table for p in book.pieces if p.table is not None]


def _date_is_said(book: Ledger, piece: Piece) -> bool:
    """A date is shown because it was asked for, not because one of its words is the noun for the row."""
    if any(book.lower(at) in _ASKS_DATE for at in range(len(book.words))):
        return True
    said = frozenset(w.lower for w in book.words)
    return any(len(c.words) > 1 and set(c.words) <= said for c in piece.columns)


def _names_rows(book: Ledger, piece: Piece) -> bool:
    """The label of what is asked for: the question names the rows, the plan shows what they are called."""
    tables = {c.table for c in piece.columns}
    for at in range(len(book.words)):
        for table in (book.index.table(name) for name in tables):
            if (
                table is not None
                and book.says(at)
                and book.naming(at, Piece("shape", (), "", table=table)) >= 0.7
            ):
                return True
    return "top" in piece.does
