"""Superlatives and places: bound to an order with a limit, a least or greatest value, or a rank."""

from __future__ import annotations

from sandtable.planner.conscience.good_ends import is_bad, is_duration, is_serving, lost_most
from sandtable.planner.conscience.ledger import Ledger
from sandtable.planner.conscience.naming import closeness
from sandtable.planner.conscience.pieces import Piece
from sandtable.planner.conscience.terms import (
    BOTTOMS,
    COMPARATIVES,
    DATED,
    DURATIONS,
    IMPLIED_COLUMNS,
    NO_SUPERLATIVE,
    OFTEN,
    ORDINALS,
    RANKING,
    SEQUENCES,
    SIZES,
    TOPS,
)
from sandtable.planner.conscience.units import unit_of
from sandtable.planner.language.words import stem
from sandtable.planner.schema.columns import is_identifier, is_rank, is_year
from sandtable.planner.schema.entries import ColumnEntry

_FAST = frozenset({"fastest", "slowest", "quickest"})
_LISTS = frozenset(stem(w) for w in "list queue backlog line".split())
_LIMITS = {stem("maximum"): {"max"}, stem("minimum"): {"min"}}
_ENDING = frozenset({"", ",", ".", "?", ":", ";", ")", "please"})
_VERB_BEFORE = frozenset({"the", "at", "was", "is", "our", "their", "these", "in", "over", "of", "for"})
_VERB_AFTER = (
    frozenset("longest shortest on over under more less longer at until till per by the".split()) | _ENDING
)
_MONEY = frozenset({stem("price"), stem("cost")})
_SERVICE = frozenset({"longest", "shortest"})
_JUDGING = {
    "best": True, "worst": False, "cleanest": True, "dirtiest": False, "hardest": False, "toughest": False,
    "easiest": True, "happiest": True, "unhappiest": False, "safest": True, "healthiest": True, "sickest": False,
}  # fmt: skip
"""Superlatives that judge → whether the good end is meant."""
_RELIABLE = frozenset("punctual reliable accurate stable dependable careful trustworthy consistent".split())
_OURS = frozenset("the our my your their s".split())
_HOWEVER = frozenset(
    {"best", "worst", "strongest", "weakest", "top", "bottom", "leading", "favourite", "favorite"}
)


def bind_ranks(book: Ledger) -> None:
    for at in range(len(book.words)):
        if not book.open(at):
            continue
        word = book.lower(at)
        if word == "often" and book.lower(at - 1) == "how":
            continue
        if _is_comparing(book, at) or _is_number_one(book, at):
            continue
        if (
            word in ORDINALS
            and (
                word != "second"
                or book.lower(at - 1) not in {"per", "in", "a", "each"}
                or book.lower(at + 1) == "place"
            )
            and _place(book, at)
        ):
            continue
        if word in RANKING and _names_beside(book, at):
            continue
        if word == "most" and book.doing("share") and not book.of_kind("order"):
            # `are most of them …`: more than half, read off the share.
            book.bind(at, at + 1, book.doing("share"))
        elif word in RANKING:
            ranked = book.where(lambda p: p.kind in {"order", "limit"})
            _settle(
                book,
                at,
                at + 1,
                ranked if _is_sorting(book, at) else book.doing("rank"),
                "the plan ranks nothing",
            )
        elif word in DATED or _is_superlative(word):
            _superlative(book, at)
            _of_days(book, at)


def _is_comparing(book: Ledger, at: int) -> bool:
    """`at least the list price`: against another column; `more often than others`: a rate, read side by side."""
    word, before = book.lower(at), book.lower(at - 1)
    if word in {"least", "most"} and before == "at":
        op = ">=" if word == "least" else "<="
        found = book.where(lambda p: p.kind == "where" and p.compares_rows and p.op == op)
        book.bind(at - 1, at + 1, found)
        return bool(found)
    after = {book.lower(i) for i in range(at + 1, len(book.words))}
    if word in {"often", "frequently"} and before in {"more", "less"} and "than" in after:
        found = [
            i for i in book.of_kind("measure") if book.pieces[i].does & {"share", "count", "metric", "ratio"}
        ]
        book.bind(at, at + 1, found)
        return bool(found)
    return False


def _is_number_one(book: Ledger, at: int) -> bool:
    """`the number one reason`: the first by an order from the greatest down, or the best of each group."""
    if book.lower(at) != "number" or book.lower(at + 1) not in {"one", "1"}:
        return False
    ranked = [i for i in book.of_kind("order", "limit") if "asc" not in book.pieces[i].does]
    first = [i for i in ranked if book.pieces[i].number == 1]
    down = [i for i in ranked if "desc" in book.pieces[i].does]
    if not first or not down:
        if book.lower(at + 1) == "one" and book.lower(at - 1) in _OURS:
            book.mark_unbound("superlative", at, at + 2, "the plan puts nothing first")
        return False
    for place in (at, at + 1):
        book.settled[place] = False
    book.bind(at, at + 2, [*down, *first])
    return True


def _of_days(book: Ledger, at: int) -> None:
    """`the worst day`: a day is asked for, and the plan must have one."""
    if book.lower(at + 1) not in {"day", "days"} or book.lower(at) in {"first", "last", "next"}:
        return
    dated = book.where(lambda p: "bucket" in p.does or any(c.temporal or "day" in c.stems for c in p.columns))
    if not dated:
        book.mark_unbound("time", at + 1, at + 2, "the plan shows no day")


def _is_sorting(book: Ledger, at: int) -> bool:
    after = {book.lower(i) for i in range(at + 1, at + 5)}
    return book.lower(at) in {"ranked", "rank"} and bool(after & {"by", "them", "the"})


def _is_superlative(word: str) -> bool:
    if word in NO_SUPERLATIVE:
        return False
    return word in TOPS or word in BOTTOMS or word in OFTEN or (word.endswith("est") and len(word) > 5)


def _place(book: Ledger, at: int) -> bool:
    """`third`: a rank of 3, a row of a column of places, or a class that has this number. `first` may mean more."""
    number = ORDINALS[book.lower(at)]
    fitting = book.where(lambda p: p.kind == "where" and number in p.values and _is_place(book, p, at))
    if fitting or number > 1:
        _settle(book, at, at + 1, fitting, "the plan does not pick out this place")
        return True
    return False


def _is_place(book: Ledger, piece: Piece, at: int) -> bool:
    if "rank" in piece.does or any(is_rank(c) for c in piece.columns):
        return True
    return at + 1 < len(book.words) and book.naming(at + 1, piece) >= 0.7


def _names_beside(book: Ledger, at: int) -> bool:
    """`start position 1`: only a word for the column that is named beside it."""
    beside = [i for place in (at - 1, at + 1) if 0 <= place < len(book.words) for i in book.bound[place]]
    beside += [
        i for i in book.of_kind("where")
        if at > 0 and book.says(at - 1) and book.naming(at - 1, book.pieces[i]) >= 0.9
    ]  # fmt: skip
    found = [i for i in beside if book.pieces[i].kind == "where"]
    if found:
        book.bind(at, at + 1, found)
    return bool(found)


def _superlative(book: Ledger, at: int) -> None:
    word = book.lower(at)
    if word in {"last", "first"} and _is_other_sense(book, at):
        return
    ranked = [i for i, p in enumerate(book.pieces) if _ranks(book, p)]
    end, implied = at + 1, word
    if word in {"most", "least"}:
        after = book.lower(at + 1)
        if (
            after in IMPLIED_COLUMNS
            or after in OFTEN
            or after in _RELIABLE
            or (after in DATED and after not in {"first", "last"})
        ):
            end, implied = at + 2, after
    other = _other_end(book, at) or (_places(book) if word in {"top", "bottom"} and not ranked else [])
    if other:
        book.bind(at, end, other)
        return
    fitting = [i for i in ranked if _goes_the_way(book, book.pieces[i], word, implied, at)]
    right = [i for i in fitting if _speaks_of(book, book.pieces[i], implied, at)]
    if right:
        book.bind(at, end, [*right, *[i for i in book.of_kind("limit") if book.pieces[i].number == 1]])
    elif named := [i for i, p in enumerate(book.pieces) if any(_is_in_name(book, at, c) for c in p.columns)]:
        book.bind(at, at + 1, named, named=True)
    elif aside := _no_ranking(book, at):
        book.bind(at, at + 1, aside)
    elif not ranked:
        book.mark_unbound("superlative", at, end, "the plan puts nothing first")
    elif not fitting:
        book.mark_unbound("superlative", at, end, "the plan puts the other end first")
    else:
        book.mark_unbound("superlative", at, end, "the plan ranks by something else")


def _is_in_name(book: Ledger, at: int, column: ColumnEntry) -> bool:
    word = book.words[at].stem
    return word in column.stems or (word in _LIMITS and bool(set(column.stems) & _LIMITS[word]))


def _no_ranking(book: Ledger, at: int) -> list[int]:
    """`how popular is X`, `frequent guests with more than 2 stays`: how much of it, nothing is put first."""
    if book.lower(at) == "popular" and book.lower(at - 1) == "how":
        return [
            i for i in book.of_kind("measure") if book.pieces[i].does & {"count", "share", "avg", "metric"}
        ]
    if book.lower(at) in {"frequent", "frequently", "often"}:
        return [i for i in book.of_kind("where") if {"having", "count"} <= book.pieces[i].does]
    return []


def _other_end(book: Ledger, at: int) -> list[int]:
    """`from highest to lowest`: the first of the two says the order, the other one only where it ends."""
    if "to" not in {book.lower(at - 1), book.lower(at - 2)}:
        return []
    orders = book.of_kind("order")
    return orders if any(book.bound[i] & set(orders) for i in range(max(0, at - 4), at)) else []


def _places(book: Ledger) -> list[int]:
    """`the top 3` by a column of places."""
    return book.where(lambda p: p.kind == "where" and any(is_rank(c) for c in p.columns))


def _is_other_sense(book: Ledger, at: int) -> bool:
    """`highest first` says the order; `first name` is a column."""
    word = book.lower(at)
    if any(book.bound[at]):
        return True
    before = book.lower(at - 1)
    if word == "last" and before not in _VERB_BEFORE and book.lower(at + 1) in _VERB_AFTER:
        lasting = book.where(lambda p: p.kind in {"measure", "shape", "order", "where"} and is_duration(p))
        if lasting:
            book.bind(at, at + 1, lasting)
            return True
    said = [book.lower(i) for i in range(max(0, at - 4), at)]
    ends = any(_is_superlative(w) or w in COMPARATIVES for w in said)
    sorting = ends and book.lower(at + 1) in _ENDING
    if word in {"first", "last"} and (before in TOPS | BOTTOMS or before.endswith("est") or sorting):
        _settle(book, at, at + 1, book.of_kind("order"), "the plan has no order")
        return True
    limits = book.of_kind("limit")
    number = book.lower(at + 1)
    if number.isdigit() and any(str(int(book.pieces[i].number or 0)) == number for i in limits):
        book.bind(at, at + 1, limits)
        return True
    return False


def _ranks(book: Ledger, piece: Piece) -> bool:
    if piece.does & {"min", "max"} and piece.kind in {"measure", "where"}:
        return True
    alone = bool(book.of_kind("measure")) and not book.of_kind("by") and not piece.does & {"top", "rank"}
    # The one row of a plan without groups is always the first.
    return piece.kind == "order" and bool(piece.does & {"asc", "desc"}) and not alone


def _goes_the_way(book: Ledger, piece: Piece, word: str, implied: str, at: int) -> bool:
    """The direction: most → descending or the greatest, least → ascending or the least."""
    if {"min", "max"} <= piece.does:
        return True
    down = bool(piece.does & {"desc", "max"}) and not piece.does & {"asc"}
    if implied in {"first", "last", "final"} and any(set(c.stems) & SEQUENCES for c in piece.columns):
        return down == (DATED[implied] == "desc")
    dated = _is_dated(piece)
    if implied in DATED and dated:
        return down == (DATED[implied] == "desc")
    if implied in DATED and implied not in {"oldest", "youngest", "first", "last"}:
        return False
    if implied in {"first", "last"}:
        return False
    if any(is_rank(c) for c in piece.columns) and implied in _HOWEVER:
        return True
    return _goes_by_measure(book, piece, word, implied, at)


def _goes_by_measure(book: Ledger, piece: Piece, word: str, implied: str, at: int) -> bool:
    """What the word means depends on what is measured: slow is much time, the worst rate of returns is the highest."""
    down = bool(piece.does & {"desc", "max"}) and not piece.does & {"asc"}
    low = word in BOTTOMS
    if implied in IMPLIED_COLUMNS and word not in {"most", "least"}:
        low = not IMPLIED_COLUMNS[implied][1] if implied in TOPS | BOTTOMS else low
    if word == "least" and implied in IMPLIED_COLUMNS:
        low = IMPLIED_COLUMNS[implied][1]
    if word in _JUDGING or implied in _RELIABLE:
        bad = is_bad(book, piece)
        good_asked = _JUDGING.get(word, word == "most")
        # Without further evidence the worst may be at either end; the best is never the least of something.
        return down or not good_asked if bad is None else down == (good_asked != bad)
    if implied in _FAST and is_duration(piece):
        low = implied != "slowest"
    if implied in _SERVICE and _is_dated(piece) and is_serving(book, at):
        return down == (implied == "shortest")
    if word == "most" and lost_most(book, piece):
        return True
    return down != low


def _is_dated(piece: Piece) -> bool:
    """Ranked by a date, not by how many there are or how long it took."""
    counted = piece.does & {"count", "count_distinct", "elapsed"}
    return any(c.temporal or is_year(c) for c in piece.columns) and not counted


def _speaks_of(book: Ledger, piece: Piece, implied: str, at: int) -> bool:
    """The column: `cheapest` needs a price, `oldest` an age or a date, `most often` a count."""
    counts = bool(piece.does & {"count", "count_distinct"})
    dated = _is_dated(piece)
    if implied in DATED:
        sequence = implied in {"first", "last", "final"} and any(
            set(c.stems) & SEQUENCES for c in piece.columns
        )
        aged = implied in {"oldest", "youngest"} and any("age" in c.stems for c in piece.columns)
        return dated or sequence or aged
    if implied in {"busiest", "popular"} and piece.does & {"sum", "metric"} and _is_spoken_of(book, piece):
        return True
    if implied in OFTEN and implied != "popular":
        return counts or any(_is_frequency(c) for c in piece.columns)
    if (
        not counts
        and piece.kind == "order"
        and piece.columns
        and all(is_identifier(c) for c in piece.columns)
    ):
        return False
    if implied in SIZES or implied in _HOWEVER:
        return _is_sized(book, piece, implied, at, dated=dated)
    if implied not in IMPLIED_COLUMNS or (implied in _SERVICE and dated and is_serving(book, at)):
        return True
    if (counts and implied in _SERVICE and book.stems & _LISTS) or (implied in _FAST and is_duration(piece)):
        return True
    return implied == "popular" if counts else _is_implied(piece, implied)


def _is_sized(book: Ledger, piece: Piece, implied: str, at: int, *, dated: bool) -> bool:
    """Sizes and values, not dates; and the best group is not the group with the best single row."""
    if implied in _HOWEVER and piece.kind == "order" and piece.does & {"min", "max"} and book.of_kind("by"):
        return False
    ends = implied in {"highest", "lowest", "largest", "smallest", "greatest"}
    return not dated or implied in {"top", "bottom", "leading"} or (ends and _said_here(book, piece, at))


def _is_implied(piece: Piece, implied: str) -> bool:
    """`longest` refers to a length, or to anything in minutes."""
    words = IMPLIED_COLUMNS[implied][0]
    if piece.names & words or ("elapsed" in piece.does and words & DURATIONS):
        return True
    for column in piece.columns:
        named = any(closeness(w, s) >= 0.75 for w in words for s in column.stems)
        if named or words & column.description_stems:
            return True
        unit = unit_of(column)
        if (
            unit is not None
            and unit.kind == 0
            and not column.temporal
            and (words & DURATIONS or implied in _FAST)
        ):
            return True
        if unit is not None and unit.kind == -1 and words & _MONEY:
            return True
    return False


def _is_frequency(column: ColumnEntry) -> bool:
    return bool({stem("frequency"), "count"} & set(column.stems))


def _is_spoken_of(book: Ledger, piece: Piece) -> bool:
    return any(book.says(i) and book.naming(i, piece) >= 0.7 for i in range(len(book.words)))


def _said_here(book: Ledger, piece: Piece, at: int) -> bool:
    return any(book.naming(i, piece) >= 0.9 for i in range(at, min(len(book.words), at + 3)))


def _settle(book: Ledger, start: int, end: int, fitting: list[int], why: str) -> None:
    named = [i for i, p in enumerate(book.pieces) if book.naming(start, p) >= 0.9]
    if fitting or named:
        book.bind(start, end, fitting or named)
    else:
        book.mark_unbound("superlative", start, end, why)
