"""`revenue and orders by region`: two things that are named side by side are two results.

Each of the two needs a separate part: a word that is bound to the measure of its neighbour, or only to the
rows that are read, is unbound.
"""

from __future__ import annotations

from collections.abc import Iterator

from sandtable.planner.conscience.ledger import Ledger
from sandtable.planner.conscience.naming import names_table
from sandtable.planner.conscience.seemingly_bound import ROWS, names_other_rows
from sandtable.planner.conscience.terms import ADDED, BOTTOMS, DATED, TOPS
from sandtable.planner.conscience.units import UNIT_WORDS
from sandtable.planner.schema.columns import is_identifier

_COMPUTED = frozenset(
    "average averages avg mean median typical min max minimum maximum percent percentage share %".split()
)
_HOW = frozenset("each much many net gross".split())
_TOGETHER = frozenset({"and", "&", "plus", ",", "+"})
_BY = frozenset({"by", "per", "each", "every"})
_SURE = 0.9
_SAME = "it stands beside another measure and has none of its own"


def without_a_part(book: Ledger) -> Iterator[tuple[int, int, str]]:
    """Words that only seem to be bound, each with why."""
    for at in range(1, len(book.words) - 1):
        if book.lower(at) not in _TOGETHER:
            continue
        left, right = at - 1, _head(book, at + 1)
        if right is None:
            continue
        yield from _judged(book, left, right)


def _judged(book: Ledger, left: int, right: int) -> Iterator[tuple[int, int, str]]:
    if _says_how(book, left) != _says_how(book, right) or _asks_at_end(book, left):
        return
    ours, theirs = _measures(book, left), _measures(book, right)
    alone = not any(_has_several_names(book, measure) for measure in ours) and not _said_apart(book, ours)
    if ours and ours == theirs and alone:
        yield right, right + 1, _SAME
    elif _is_between(book, ours | theirs):
        return
    elif ours and _only_rows(book, right) and not _is_ranked(book, right):
        yield right, right + 1, ROWS
    elif theirs and _only_rows(book, left) and book.lower(left - 1) not in _BY and not _is_ranked(book, left):
        yield left, left + 1, ROWS


def _asks_at_end(book: Ledger, left: int) -> bool:
    """`when we gave a discount, how big was it?`: one thing, mentioned before it is asked for."""
    return (
        book.lower(0) in {"when", "where", "if", "for", "of", "among", "whenever"}
        and book.lower(left + 1) == ","
    )


def _said_apart(book: Ledger, measures: frozenset[int]) -> bool:
    """`the lowest and the highest score`, `mean home goals, mean away goals`: as many as are asked for."""
    if len(measures) < 2:
        return False
    kinds = {frozenset(book.pieces[i].does - {"some"}) for i in measures}
    said = {book.lower(at) for at in range(len(book.words)) if _says_how(book, at)}
    return len(kinds) == 1 or len(said) >= len(kinds)


def _is_between(book: Ledger, measures: frozenset[int]) -> bool:
    """`days between booking and start`: the two ends of one stretch of time."""
    stretches = any("elapsed" in book.pieces[i].does for i in measures)
    return stretches and bool({"between", "from"} & {w.lower for w in book.words})


def _is_ranked(book: Ledger, at: int) -> bool:
    """`taxi costs, top 5 drivers`: what is put first, by its name."""
    named = any(book.pieces[i].kind == "by" for i in book.bound[at])
    before = {book.lower(i) for i in (at - 1, at - 2)}
    return named and any(w in TOPS | BOTTOMS or w.endswith("est") for w in before)


def _has_several_names(book: Ledger, measure: int) -> bool:
    """`stock value, that is price times units`; a metric that is called `time and material`."""
    piece = book.pieces[measure]
    return (
        bool(piece.does & {"product", "ratio", "difference", "share", "correlation", "addition"})
        or "and" in piece.label.split()
        or ("metric" in piece.does and len(piece.columns) > 1)
    )


def _says_how(book: Ledger, at: int) -> bool:
    """`…, in hours`, `…, on average`, `…, worst first`: said of the measure before it, not a second one."""
    word = book.lower(at)
    if word in ADDED or word in TOPS | BOTTOMS or word in DATED or word.endswith("est"):
        return True
    return word in _COMPUTED or book.words[at].stem in UNIT_WORDS or word in _HOW


def _head(book: Ledger, start: int) -> int | None:
    """The last word of what is named here: `csat` of `average csat by channel`."""
    found: int | None = None
    for at in range(start, len(book.words)):
        if book.lower(at) in _TOGETHER or book.lower(at) in _BY or not book.bound[at]:
            if found is not None or not book.settled[at] or book.lower(at) in _TOGETHER | _BY:
                break
            continue
        if found is None or not _says_how(book, at):
            found = at
    return found


def _measures(book: Ledger, at: int) -> frozenset[int]:
    """What is computed, not what is listed."""
    return frozenset(i for i in book.bound[at] if book.pieces[i].kind == "measure" and book.pieces[i].does)


def _only_rows(book: Ledger, at: int) -> bool:
    """The name of what is counted, bound to the rows that are read or to a key; no measure counts it."""
    pieces = [book.pieces[piece] for piece in book.bound[at]]
    if not pieces or any(piece.kind not in {"shape", "by", "order"} for piece in pieces):
        return False
    keys = [column for piece in pieces if piece.kind == "by" for column in piece.columns]
    if keys and not any(map(is_identifier, keys)) and not _names_a_table(book, at):
        return False
    counts = (book.pieces[piece].does for piece in book.of_kind("measure"))
    counted = any("count" in does and not does & {"ratio", "share"} for does in counts)
    return not counted or names_other_rows(book, at)


def _names_a_table(book: Ledger, at: int) -> bool:
    return any(names_table(book.words[at].stem, table) >= _SURE for table in book.index.tables)
