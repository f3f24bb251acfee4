"""Words that are bound by name although the plan lacks what they ask for.

`in each year after 2015` with a condition on the year, `orders` counted as the lines of orders, `the best products` by
a column that no word names.
"""

from __future__ import annotations

from collections.abc import Iterator

from sandtable.planner.conscience.ledger import Ledger
from sandtable.planner.conscience.naming import UNIT_STEMS, closeness
from sandtable.planner.conscience.terms import PERSON
from sandtable.planner.language.words import stem

ROWS = "it could be counted, and the plan does not count it"
_GROUPS = "the plan does not group by that"
_YES_OR_NO = frozenset("are is do does did have has were was".split())
_NAMES = frozenset(
    stem(w) for w in "name names nm nam id no nr number code key title label lbl ref sku email".split()
)
_ASKING = frozenset("which what by per each every whose".split())
_GOES = frozenset("are is was were did do does have has the our we they it".split())
_DOING = frozenset("doing going do performing faring perform".split())
_LATELY = frozenset("recently lately now today these days so far overall right".split())
_EVALUATIVE = frozenset("best worst top bottom leading favourite favorite".split())


def seemingly_bound(book: Ledger) -> Iterator[tuple[int, int, str]]:
    """Words that only seem to be bound, each with why."""
    yield from _groups_asked_for(book)
    yield from _other_rows(book)
    yield from _open_rank(book)
    yield from _all_of_them(book)
    yield from _only_a_trait(book)
    yield from _the_first_time(book)
    yield from _how_it_goes(book)


def _groups_asked_for(book: Ledger) -> Iterator[tuple[int, int, str]]:
    """`in each year after 2015`: a condition on the years is no group for each of them."""
    if book.of_kind("by"):
        return
    for at in range(len(book.words) - 1):
        if book.lower(at) not in {"each", "per"} or not book.bound[at]:
            continue
        pieces = [book.pieces[i] for i in book.bound[at]]
        called = any(book.lower(at) in column.words for piece in pieces for column in piece.columns)
        if not called and all(piece.kind in {"where", "when"} for piece in pieces):
            yield at, at + 1, _GROUPS


def _other_rows(book: Ledger) -> Iterator[tuple[int, int, str]]:
    """`orders by category`, read as the lines of orders: what is counted is another table's rows."""
    rows = _rows(book)
    for at in range(len(book.words)) if _counts(book) else ():
        if book.bound[at] and book.bound[at] <= rows and names_other_rows(book, at):
            yield at, at + 1, ROWS


def names_other_rows(book: Ledger, at: int) -> bool:
    """`orders` beside the lines of orders: the lines are counted, and the orders are another table."""
    name = (book.words[at].stem,)
    homes = {p.table.name: tuple(p.table.stems) for p in book.pieces if p.table is not None}
    others = (t for t in book.index.tables if t.name not in homes)
    whole = any(set(stems) <= book.stems for stems in homes.values())
    return not whole and any(tuple(t.stems) == name for t in others)


def _open_rank(book: Ledger) -> Iterator[tuple[int, int, str]]:
    """`the best products`, `top customers`: by what is not said, and no word names what the plan ranks by."""
    if not book.of_kind("order", "limit"):
        return
    ordered = {c.ref for i in book.of_kind("order") for c in book.pieces[i].columns}
    ranked = book.of_kind("measure") or [
        i for i in book.of_kind("shape") if any(c.ref in ordered for c in book.pieces[i].columns)
    ]
    counted = bool(_counts(book)) and any(book.words_of(i) for i in _rows(book))
    for at in range(len(book.words)) if ranked and not counted else ():
        named = any(set(book.words_of(i)) - {at} for i in ranked)
        if book.lower(at) in _EVALUATIVE and book.bound[at] and not named:
            yield at, at + 1, f"what {book.lower(at)} is about is left open"


def _all_of_them(book: Ledger) -> Iterator[tuple[int, int, str]]:
    """`Are all of them paid?`: how many are paid does not say whether it is all."""
    asks = book.lower(0) in _YES_OR_NO and book.lower(1) in {"all", "every", "each"}
    counts = _counts(book)
    if asks and counts and counts == book.of_kind("measure") and not book.of_kind("by"):
        yield 1, 2, "how many there are does not say whether it is all of them"


def _only_a_trait(book: Ledger) -> Iterator[tuple[int, int, str]]:
    """`which customer`, answered by customer tier: a trait of customers is no customer."""
    things = PERSON | {each for table in book.index.tables for each in table.stems}
    for number in book.of_kind("by"):
        for column in book.pieces[number].columns:
            stems = [each for each in column.stems if each not in UNIT_STEMS]
            if len(stems) < 2 or not column.text or stems[-1] in _NAMES:
                continue
            if any(closeness(word.stem, stems[-1]) >= 0.7 for word in book.words):
                continue
            for at in book.words_of(number):
                word = book.words[at].stem
                if word in stems[:-1] and word in things and book.lower(at - 1) in _ASKING:
                    yield at, at + 1, f"the plan tells it by {' '.join(column.words)} only"


def _the_first_time(book: Ledger) -> Iterator[tuple[int, int, str]]:
    """`came for the first time in 2025`: a condition on the year is not on the first of all times."""
    if not book.doing("min", "first"):
        for at in range(len(book.words) - 1):
            if book.lower(at) == "first" and book.lower(at + 1) in {"time", "times"}:
                yield at, at + 2, "the plan does not tell the first of all times"


def _how_it_goes(book: Ledger) -> Iterator[tuple[int, int, str]]:
    """`how are the sensors doing?`: by what is not said."""
    said = [at for at in range(len(book.words)) if not book.words[at].is_symbol]
    last = next((at for at in reversed(said) if book.lower(at) not in _LATELY), None)
    how = any(book.lower(at) == "how" and book.lower(at + 1) in _GOES for at in said)
    named = any(set(book.words_of(i)) for i in book.of_kind("measure"))
    if last is not None and how and not named and book.lower(last) in _DOING:
        yield last, last + 1, "by what is not said"


def _rows(book: Ledger) -> set[int]:
    return set(book.where(lambda p: p.path == ("table",)))


def _counts(book: Ledger) -> list[int]:
    """Measures that count the rows themselves."""
    return book.where(lambda p: p.kind == "measure" and "count" in p.does and not p.columns)
