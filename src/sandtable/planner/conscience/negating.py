"""Negations: each needs a negative condition, beside the words that it is about."""

from __future__ import annotations

from itertools import pairwise

from sandtable.planner.conscience.ledger import Ledger
from sandtable.planner.conscience.naming import closeness
from sandtable.planner.conscience.pieces import Piece, is_flag
from sandtable.planner.conscience.terms import ANTONYMS, NOT, PREFIXES, STATES
from sandtable.planner.language.words import split_name, stem
from sandtable.planner.schema.columns import truth

_BEFORE, _AFTER = 6, 9
_LEAVE = frozenset({"leave", "leaving"})
_KEEPING = frozenset("within inside met kept keeping meeting".split())
_BROKEN = frozenset(stem(w) for w in "breached exceeded missed violated overdue late delayed".split())
_EVERYTHING = frozenset("all every any everything everyone everybody anything anyone anybody".split())
_LONGER = frozenset({"longer", "more", "counting"})
_MORE = frozenset("more later after longer older higher above over".split())
_LESS = frozenset("less earlier before shorter younger lower below under fewer".split())
_IGNORING = frozenset("ignoring ignore excluding exclude aside disregarding".split())
_FREE = frozenset({"free", "less", "without", "no", "non"})
_SIDES = frozenset({"and", "or", "vs", "versus", "against", "compared", "than", "/"})
_UNDONE = frozenset(
    stem(w)
    for w in "open pending unpaid failed cancelled missed lost rejected waiting draft unresolved".split()
)
_HARMLESS = (("whether", "or", "not"), ("why", "not"), ("not", "only"), ("or", "not"))


def bind_negations(book: Ledger) -> None:
    negative = book.where(lambda p: p.negative and p.kind in {"where", "when"} and not _is_never(p))
    against = book.where(lambda p: p.kind == "where" and p.compares_rows and p.op == "!=")
    for at in range(len(book.words)):
        if not book.open(at):
            continue
        if _is_negation(book, at):
            _bind(book, at, [*negative, *against])
        elif book.lower(at) in _KEEPING:
            _kept(book, at)
        elif book.lower(at) in STATES:
            _state(book, at, negative)
        elif book.words[at].stem in ANTONYMS:
            meant = ANTONYMS[book.words[at].stem]
            fitting = [i for i in negative if any(meant in c.stems for c in book.pieces[i].columns)]
            if fitting:
                book.bind(at, at + 1, fitting)
        else:
            _prefixed(book, at, negative)


def _kept(book: Ledger, at: int) -> None:
    """`within the SLA` is the opposite of a flag that says it was breached, when only its other words are said."""
    for number in book.of_kind("where", "measure"):
        piece = book.pieces[number]
        broken = {s for c in piece.columns for s in c.stems} & _BROKEN
        flag = (is_flag(piece) and not piece.negative) or piece.kind == "measure"
        if flag and broken and not broken & book.stems and book.near(at, number, 0, 4):
            book.mark_unbound("negation", at, at + 1, "the plan keeps the opposite")
            return


def _is_never(piece: Piece) -> bool:
    """Empty cells of a column that has none: the condition keeps no row, and says nothing about other tables."""
    return piece.op == "is_null" and any(
        c.profile is not None and c.profile.nulls == 0 for c in piece.columns
    )


def _is_negation(book: Ledger, at: int) -> bool:
    word = book.lower(at)
    if word in _LEAVE:
        return book.lower(at + 1) == "out"
    if word == "out":
        return (
            book.lower(at + 1) == "of"
            and book.lower(at + 2) not in {"the", ""}
            and bool(book.where(lambda p: p.negative))
        )
    if word in {"other", "another"}:
        return "than" in {book.lower(i) for i in range(at + 1, at + 5)}
    if word == "apart" and book.lower(at - 1) == "far":
        return False
    if word == "but":
        before = {book.lower(at - 1)} | ({book.lower(at - 2)} & {"every", "any", "all"})
        return bool(before & _EVERYTHING)
    if word == "no" and (
        book.lower(at + 1).isdigit() or (book.lower(at + 1) == "." and at + 2 < len(book.words))
    ):
        return False
    return word in NOT


def _bind(book: Ledger, at: int, negative: list[int]) -> None:
    if book.follows and book.lower(at) == "yet":
        book.put_aside(at, at + 1)
        return
    for phrase in _HARMLESS:
        back = phrase.index(book.lower(at)) if book.lower(at) in phrase else -1
        if back >= 0 and all(book.lower(at - back + i) == w for i, w in enumerate(phrase)):
            book.put_aside(at, at + 1)
            return
    before = (
        book.bound[at - 1] if at > 0 and book.lower(at) == "yet" and book.lower(at - 1) in NOT else set[int]()
    )
    if before:
        book.bind(at, at + 1, before)
        return
    if named := _in_a_name(book, at):
        book.bind(at, at + 1, named)
        return
    near = [i for i in negative if any(book.near(at, n, _BEFORE, _AFTER) for n in (i, *book.inside(i)))]
    two = book.lower(at) in {"other", "apart", "leave", "leaving"} or book.lower(at + 1) in _LONGER
    end = at + 2 if two else at + 1
    if book.lower(at) in {"other", "another"} and book.lower(at + 1) != "than":
        # `some other design than arch`
        end = at + 1
        negative = [i for i in negative if book.pieces[i].op in {"!=", "not_in"} or book.pieces[i].is_negated]
    near = near or _only_one(book, at, negative) or _groups(book, at) or _state_meant(book, at, negative)
    near = near or ([] if negative else _remainder(book)) or _at_the_limit(book, at) or _twice(book, at)
    near = near or _long_ago(book, at)
    if near:
        book.bind(at, end, near)
        if book.lower(at) in {"other", "another"}:
            than = next(i for i in range(at + 1, len(book.words)) if book.lower(i) == "than")
            book.bind(than, than + 1, near)
        for place in book.places_of(near[0]):
            if not book.settled[place]:
                book.bind(place, place + 1, near[:1])
    else:
        why = "the plan negates something else" if negative else "no condition of the plan says not"
        book.mark_unbound("negation", at, end, why)


def _in_a_name(book: Ledger, at: int) -> list[int]:
    """`the no-show rate` where a metric is called so; `no sugar` where a column is called sugar free."""
    after = next((i for i in (at + 1, at + 2) if i < len(book.words) and not book.words[i].is_symbol), None)
    if after is None:
        return []
    pair = (stem(book.lower(at)), book.words[after].stem)

    def has(piece: Piece) -> bool:
        names = [c.stems for c in piece.columns]
        follows = any(pair in pairwise(stems) for stems in names)
        free = any(set(stems) & _FREE and pair[1] in stems for stems in names) and not piece.negative
        return (
            follows
            or (piece.kind != "where" and set(pair) <= piece.names)
            or (free and piece.kind == "where")
        )

    return book.where(has)


def _only_one(book: Ledger, at: int, negative: list[int]) -> list[int]:
    """The only negation of the question and the only negative condition of the plan, bound to no other word."""
    said = [i for i in range(len(book.words)) if _is_negation(book, i)]
    apart = [i for i in said if i == said[0] or (i - 1 not in said and book.lower(i) not in {"yet", "ever"})]
    outer = [i for i in negative if "exists" not in book.pieces[i].path[:-1]]
    free = [i for i in outer if not any(_claims(book, place) for place in book.words_of(i))]
    if len(apart) != 1 or len(outer) != 1 or len(free) != 1:
        return []
    held = {i for place in (at + 1, at + 2) if place < len(book.words) for i in book.bound[place]}
    kept = any(book.pieces[i].kind == "where" and book.pieces[i].values and i not in free for i in held)
    return [] if kept else free


def _claims(book: Ledger, at: int) -> bool:
    """A word that is itself negative is bound to the condition already."""
    word = book.lower(at)
    return _is_negation(book, at) or word in STATES or (word.startswith(PREFIXES) and len(word) > 6)


def _groups(book: Ledger, at: int) -> list[int]:
    """`with and without a coupon`, `rain vs no rain`: groups by a column of yes and no that is named."""
    before = {book.lower(i) for i in range(max(0, at - 7), at)}
    if not before & _SIDES:
        return []
    flags = [i for i in book.of_kind("by") if any(truth(c) is not None for c in book.pieces[i].columns)]
    return flags if len(flags) == 1 and (book.places_of(flags[0]) or not book.of_kind("where")) else []


def _at_the_limit(book: Ledger, at: int) -> list[int]:
    """`no later than`, `not after`: the limit itself is kept, by a condition that says so."""
    op = {**dict.fromkeys(_MORE, "<="), **dict.fromkeys(_LESS, ">=")}.get(book.lower(at + 1))
    return book.where(lambda p: p.kind == "where" and p.op == op) if op else []


def _long_ago(book: Ledger, at: int) -> list[int]:
    """`no activity for more than 30 days`, `not serviced in 2 years`: the last time is longer ago than that.

    No other condition may stand between the two: in `not in Linz, open for 30 days` the town is negated.
    """
    found: list[int] = []
    for number in book.where(lambda p: p.kind == "where" and "elapsed" in p.does and p.op in {">", ">="}):
        first = min((place for place in book.words_of(number) if place > at), default=at)
        between = {i for place in range(at + 1, first) for i in book.bound[place]} - {number}
        if at < first <= at + _BEFORE and not any(book.pieces[i].kind == "where" for i in between):
            found.append(number)
    return found


def _twice(book: Ledger, at: int) -> list[int]:
    """`leaving out jobs without one`, `ignoring those with none`: what is there is kept."""
    said = [i for i in range(len(book.words)) if _is_negation(book, i) or book.lower(i) in _IGNORING]
    if len(said) < 2 or not any(book.lower(i) in _IGNORING | _LEAVE for i in said):
        return []
    return book.where(
        lambda p: (
            p.kind == "where" and (p.op == "not_null" or (p.op, p.values) in {(">", (0,)), (">=", (1,))})
        )
    )


def _remainder(book: Ledger) -> list[int]:
    """`units that are missing`, `the part that was not paid`: one amount less another."""
    return [
        i for i in book.of_kind("measure")
        if "difference" in book.pieces[i].does and not book.pieces[i].does & {"elapsed", "change"}
        and len(book.pieces[i].columns) > 1
    ]  # fmt: skip


def _state_meant(book: Ledger, at: int, negative: list[int]) -> list[int]:
    """`not yet paid` where a status is pending: a value that says itself that something is not so, and is not said."""
    if negative or sum(_is_negation(book, i) for i in range(len(book.words))) > 2:
        return []
    return [
        i for i in book.of_kind("where")
        if book.pieces[i].op == "=" and not book.words_of(i)
        and {stem(w) for v in book.pieces[i].values if isinstance(v, str) for w in split_name(v)} & _UNDONE
    ]  # fmt: skip


def _state(book: Ledger, at: int, negative: list[int]) -> None:
    """`open`, `unpaid`, `still`: bound to an empty or false column; otherwise left to the other readers."""
    if negative and not any(book.naming(at, p) >= 0.7 for p in book.pieces):
        free = [i for i in negative if not book.words_of(i)] or negative
        book.bind(at, at + 1, free[:1])


def _prefixed(book: Ledger, at: int, negative: list[int]) -> None:
    """`unplanned` where a column is called planned: the negation is inside the word."""
    word = book.lower(at)
    roots = [stem(word.removeprefix(p)) for p in PREFIXES if word.startswith(p)]
    roots += [stem(word.removesuffix("less"))] if word.endswith("less") else []
    for rest in roots:
        if len(rest) < 4:
            continue
        for number, piece in enumerate(book.pieces):
            parts = [s for c in piece.columns for s in c.stems] + [stem(str(v).lower()) for v in piece.values]
            if not any(closeness(rest, part) >= 0.75 and part[:3] == rest[:3] for part in parts):
                continue
            if number in negative:
                book.bind(at, at + 1, [number])
                return
            if piece.kind == "where" and not any(stem(word) == part for part in parts):
                book.mark_unbound("negation", at, at + 1, "the plan keeps the opposite")
                return
