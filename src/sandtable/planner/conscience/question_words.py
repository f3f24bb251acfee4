"""Who, when and where: bound to a column of that kind that the plan shows."""

from __future__ import annotations

from sandtable.planner.conscience.ledger import Ledger
from sandtable.planner.conscience.pieces import Piece
from sandtable.planner.conscience.terms import PERSON, PLACES
from sandtable.planner.language.spelling import within
from sandtable.planner.language.words import stem
from sandtable.planner.schema.columns import is_identifier, is_year
from sandtable.planner.schema.entries import ColumnEntry

_ASKING = frozenset("what what's which who whose how when where whats".split())
_YES_NO = frozenset("is are was were do does did has have had".split())
_PRONOUNS = frozenset("they it he she we".split())
_CALLED = frozenset(stem(w) for w in "name full first last".split())
_DATES = frozenset(
    stem(w)
    for w in "date time year day month season founded opened built born birth established start end".split()
)
_OFTEN_MISSPELT = ("what", "which", "when", "where", "was", "were", "does", "list", "show", "there", "their")


def bind_question_words(book: Ledger) -> None:
    asking = [at for at, word in enumerate(book.words) if word.lower in _ASKING]
    for at in asking:
        if not book.open(at):
            continue
        word = book.lower(at).removesuffix("'s")
        if word not in {"who", "when", "where"}:
            continue
        fitting, why = {
            "who": (_persons, "the plan shows no person's name"),
            "when": (_dates, "the plan shows no date"),
            "where": (_places, "the plan shows no place"),
        }[word]
        found = fitting(book)
        if found:
            book.bind(at, at + 1, found)
        elif _is_question(book, at, asking):
            book.mark_unbound("content", at, at + 1, why)
        else:
            book.put_aside(at, at + 1)
    if not asking:
        _verdict(book)


def _verdict(book: Ledger) -> None:
    """`does the richest person work in technology`: the richest of those who do does not answer it."""
    others = {word.lower for word in book.words}
    if book.lower(0) in _YES_NO and "or" not in others and book.of_kind("limit") and not book.doing("holds"):
        book.mark_unbound("comparison", 0, 1, "the plan does not tell yes or no")


def _is_question(book: Ledger, at: int, asking: list[int]) -> bool:
    """Not so in `customers who …`, `what is X when Y is Z` and `when X is Y, what is Z`."""
    if book.lower(at - 1) in {"and", ","} and (
        at == len(book.words) - 1 or book.lower(at + 1) in _PRONOUNS | {"?"}
    ):
        return True
    return at == asking[0] and len(asking) == 1 and (at == 0 or not book.says(at - 1))


def is_slip(word: str) -> bool:
    """`waht`, `wheh`: a question word with one typo."""
    return len(word) > 3 and any(
        word[0] == right[0] and len(word) >= len(right) and within(word, right, 1) is not None
        for right in _OFTEN_MISSPELT
    )


def _shown_pieces(book: Ledger) -> list[int]:
    return [i for i in book.of_kind("shape", "by", "measure") if book.pieces[i].columns]


def _is_named(book: Ledger, piece: Piece) -> bool:
    """Shown because it is named: `who was the crew chief` shows the crew chief, whatever that is."""
    words = {w.stem for w in book.words}
    return any(c.text and all(s in words for s in c.stems) for c in piece.columns)


def _dates(book: Ledger) -> list[int]:
    def is_date(column: ColumnEntry) -> bool:
        return column.temporal or is_year(column) or bool(set(column.stems) & _DATES)

    return [i for i in _shown_pieces(book) if any(is_date(c) for c in book.pieces[i].columns)]


def _persons(book: Ledger) -> list[int]:
    told = [i for i in _shown_pieces(book) if not book.pieces[i].does & {"count", "sum", "avg"}]
    fitting = [i for i in told if _is_person(book.pieces[i]) or _is_named(book, book.pieces[i])]
    if fitting:
        return fitting
    others = [c for p in book.pieces if p.table is not None for c in p.table.columns]
    better = any(c.text and names_persons(c) for c in others)
    return [] if better else [i for i in told if any(c.text for c in book.pieces[i].columns)]


def _is_person(piece: Piece) -> bool:
    return any(c.text and (names_persons(c) or c.words[-1:] == ("by",)) for c in piece.columns)


def names_persons(column: ColumnEntry) -> bool:
    """`mechanic`, `buyer`, `analyst`: by the word, or by its ending."""
    if is_identifier(column):
        return False
    rest = [s for s in column.stems if s not in _CALLED]
    words = [w.rstrip("s") for w in column.words if len(w) > 4]
    agents = any(w.endswith(("er", "or", "ee", "ist", "yst", "ian")) for w in words)
    return not rest or bool(set(rest) & PERSON) or agents


def _places(book: Ledger) -> list[int]:
    told = [i for i in _shown_pieces(book) if any(set(c.stems) & PLACES for c in book.pieces[i].columns)]
    return told or book.doing("rank")
