"""Words that ask for a computation or a grouping: average, share, how many, per, each, why."""

from __future__ import annotations

import re
from collections.abc import Callable

from sandtable.planner.conscience.amounts import amounts_asked, looked_up
from sandtable.planner.conscience.computed_senses import how_large, other_sense, reasons_shown
from sandtable.planner.conscience.grouping_words import each_of
from sandtable.planner.conscience.ledger import Ledger
from sandtable.planner.conscience.naming import closeness, head_of, significant
from sandtable.planner.conscience.pieces import Piece, adds_codes
from sandtable.planner.conscience.terms import ADDED, ASIDE, CAUSES, COMPUTED, DURATIONS, IMPLIED_COLUMNS
from sandtable.planner.conscience.units import unit_of
from sandtable.planner.language.words import stem
from sandtable.planner.schema.entries import ColumnEntry

_HOW = re.compile(
    r"how (?P<much>many|much|long|old|often|far|late|big|large|tall|heavy|expensive|fast)(?= |$)"
)
_NUMBER_OF = re.compile(r"(?:the )?(?:number|count|amount) of|# of|no \. of")
_RUNNING = re.compile(r"running (?:total|sum|count|average)s?")
_ADD_UP = re.compile(
    r"add(?:s|ed)? (?:it |them )?(?:all )?up|sum(?:s|med)? up|in total|all together|all in all"
)
_ON_TIME = re.compile(r"(?:on|in) time|on schedule|out of stock|in stock|sold out")
_ASIDE = re.compile(
    r"true or false|in terms of|with respect to|in order to|due to|as well as|at all|so far|to date|by the way"
    r"|on record|on file|care about"
)
_STARTS = re.compile(r"(?:starts?|begins?|starting|beginning|ends?|ending)(?= with )")
_Z_SCORE = re.compile(r"z - scores?|z scores?")
_DOING = re.compile(
    r"how (?:is|are|was|were|did|do|does) (?:\S+ ){1,5}"
    r"(?:doing|do|perform|performing|performed|looking|going)(?= \?| |$)"
)
_WORTH = frozenset({"value", "amount", "amounts", "worth"})
_LATE = frozenset({stem("delay"), stem("late")})
_PER = frozenset({"per", "each", "every"})
_LABELS = frozenset(stem(w) for w in "name id number no code title key label nr".split())
_COUNTS = frozenset({"count", "count_distinct"})
_VALUED = frozenset(
    {"sum", "avg", "min", "max", "median", "metric", "share", "ratio", "difference", "elapsed"}
)


def bind_computed(book: Ledger) -> None:
    for start, end, _ in book.reading.find(_ASIDE):
        book.put_aside(start, end)
    for pattern, fitting, why in _PHRASES:
        for start, end, _ in book.reading.find(pattern):
            if book.open(end - 1):
                _settle(book, start, end, fitting(book, end), why)
    for start, end, match in book.reading.find(_HOW):
        if book.open(end - 1):
            _how(book, start, end, match["much"])
    for start, end, _ in book.reading.find(_ON_TIME):
        if all(book.open(at) for at in range(start, end)):
            _idiom(book, start, end)
    _how_is_it(book)
    for at in range(len(book.words)):
        if book.open(at):
            _word(book, at)


def _how_is_it(book: Ledger) -> None:
    """`how did we do`: the question asks for a judgement without naming a measure."""
    for _, end, _ in book.reading.find(_DOING):
        valued = [i for i in book.of_kind("measure") if book.pieces[i].does & _VALUED]
        _settle(book, end - 1, end, valued, "the question leaves open what to measure")


def _idiom(book: Ledger, start: int, end: int) -> None:
    """`on time`, `out of stock`: a condition or a measure that is called so."""
    said = range(start, end)
    near = [
        i
        for i in book.of_kind("where", "measure")
        if any(book.naming(at, book.pieces[i]) >= 0.7 for at in said)
    ]
    _settle(book, start, end, near, "no part of the plan says so", "content")


def _how(book: Ledger, start: int, end: int, much: str) -> None:
    if much == "many":
        _settle(book, start, end, _counted(book, end), "the plan counts nothing of this kind")
    elif much == "much":
        fitting = [i for i in book.of_kind("measure") if book.pieces[i].does & _VALUED]
        fitting = [i for i in fitting if not adds_codes(book.pieces[i])] or _varying(book) or looked_up(book)
        _settle(book, start, end, fitting, "the plan computes no amount")
    elif much == "often":
        fitting = book.doing("count", "count_distinct") or amounts_asked(book, end)
        _settle(book, start, end, fitting, "the plan counts nothing")
    else:
        if much in {"far", "big", "large", "fast"} and (sized := how_large(book, much)):
            book.bind(start, end, sized)
            return
        words = _LATE if much == "late" else IMPLIED_COLUMNS.get(much, (frozenset[str](), True))[0]
        fitting = book.where(
            lambda p: (
                p.kind in {"measure", "shape", "where", "order"} and _is_of(p, words) and bool(p.columns)
            )
        )
        _settle(book, start, end, fitting, "the plan shows nothing of this kind")


def _varying(book: Ledger) -> list[int]:
    """`how much does it vary`, `does it depend on how much they give`: a spread, or a correlation."""
    return book.doing("stddev", "correlation")


def _is_of(piece: Piece, words: frozenset[str]) -> bool:
    if "elapsed" in piece.does:
        return True
    stems = {s for c in piece.columns for s in c.stems} | piece.names
    if stems & words:
        return True
    return bool(words & DURATIONS) and any(
        (u := unit_of(c)) is not None and u.kind == 0 for c in piece.columns
    )


def _counted(book: Ledger, end: int) -> list[int]:
    """A count; or a sum over a column of counts that is called what is counted; or `a number of 39`."""
    if book.lower(end - 2) == "amount":
        amounts = [i for i in book.of_kind("measure") if book.pieces[i].does & _VALUED] or looked_up(book)
        return [i for i in amounts if not adds_codes(book.pieces[i])]
    following = book.bound[end] if end < len(book.words) else set[int]()
    if book.lower(end).isdigit() and following:
        return sorted(following)
    counts = [
        i for i in book.of_kind("measure", "where", "order")
        if book.pieces[i].does & _COUNTS and _counts_this(book, book.pieces[i])
    ]  # fmt: skip
    if counts:
        return counts
    metrics = [
        i for i in book.doing("metric") if "sum" in book.pieces[i].does or "count" in book.pieces[i].does
    ]
    for number in book.of_kind("measure", "shape", "order", "by"):
        piece = book.pieces[number]
        if not piece.columns or ("share" in piece.does):
            continue
        column = piece.columns[0]
        beside = {w.stem for w in book.words[end : end + 3]} & set(column.stems)
        if (
            piece.kind in {"shape", "by"}
            and beside
            and not _PER & {w.lower for w in book.words[end : end + 3]}
        ):
            return [number]
        said = any(book.naming(at, piece) >= 0.7 for at in range(end, min(len(book.words), end + 4)))
        said = said or any(book.words[at].stem in column.stems for at in range(len(book.words)))
        if column.numeric and said and _is_count(column.stems, unit_of(column) is not None, book, end):
            return [number]
    return amounts_asked(book, end) or metrics


def _counts_this(book: Ledger, piece: Piece) -> bool:
    """`how many tickets` is not how many types of ticket there are: the head of the name must be said."""
    if "count_distinct" not in piece.does or not piece.columns:
        return True
    column = piece.columns[0]
    heads = head_of(column)
    if set(heads) <= _LABELS or len(significant(column)) == 1:
        return True
    return any(closeness(w.stem, h) >= 0.7 for w in book.words if not w.is_symbol for h in heads)


def _is_count(stems: tuple[str, ...], has_unit: bool, book: Ledger, end: int) -> bool:
    """A column in minutes or euros counts no things, unless the minutes themselves are asked for."""
    return not has_unit or stems[-1] in {w.stem for w in book.words[end : end + 3]}


def _added(book: Ledger) -> list[int]:
    return book.where(
        lambda p: (
            p.kind == "measure" and bool(p.does & {"sum", "count", "metric", "count_distinct", "running"})
        )
    )


def _word(book: Ledger, at: int) -> None:
    word = book.lower(at)
    if word in CAUSES and (reasons := reasons_shown(book, at)):
        book.bind(at, at + 1, reasons)
    elif word in CAUSES:
        book.mark_unbound("aggregate", at, at + 1, "a plan shows what happened, not the reasons")
    elif word in COMPUTED:
        _settle(book, at, at + 1, _computing(book, at), "the plan does not compute this")
    elif word in ADDED:
        _total(book, at)
    elif word in _WORTH:
        _worth(book, at)
    elif word == "different":
        chosen = [*book.doing("distinct", "count_distinct"), *book.of_kind("by")]
        _settle(book, at, at + 1, chosen, "the plan does not tell different ones apart")
    elif word in _PER:
        grouping = each_of(book, at)
        if grouping is not None:
            _settle(book, at, at + 1, grouping, "the plan does not group by that")
    elif word == "both":
        _settle(book, at, at + 1, _both(book), "the plan does not show both")
    elif word in {"or", "either"}:
        _either(book, at)
    elif word == "only":
        _only(book, at)


def _computing(book: Ledger, at: int) -> list[int]:
    """The pieces that do what the word says."""
    word = book.lower(at)
    wanted = COMPUTED[word]
    fitting = book.where(lambda p: bool(p.does & wanted) and p.kind != "limit") or other_sense(book, at)
    if "group" in wanted and not fitting and (word in {"distinct", "unique"} or book.of_kind("measure")):
        fitting = book.of_kind("by")
    if "share" in wanted and not fitting:
        fitting = book.where(lambda p: any(_holds_percents(c) for c in p.columns))
    return [i for i in fitting if "share" not in wanted or not _is_other_share(book, at, i)]


def _both(book: Ledger) -> list[int]:
    pairs = (book.of_kind("measure"), _shown(book), book.of_kind("where"))
    return book.where(lambda p: "or" in p.does) or next(
        (pair for pair in pairs if len(pair) > 1), list[int]()
    )


def _holds_percents(column: ColumnEntry) -> bool:
    values = column.profile.values[:3] if column.profile is not None and column.text else ()
    return bool(values) and all(str(counted.value).rstrip().endswith("%") for counted in values)


def _is_other_share(book: Ledger, at: int, piece: int) -> bool:
    """`the cancelled share by region`: of each region's rows, not each region's part of all cancelled ones."""
    if book.pieces[piece].path[-2:-1] != ("derive",):
        return False
    kept = [
        i
        for i in book.of_kind("where")
        if book.pieces[i].path[0] == "filters" and book.pieces[i].op != "not_null"
    ]
    return any(book.near(at, i, 4, 4) for i in kept)


def _worth(book: Ledger, at: int) -> None:
    """`order value`: an amount, never a count of rows."""
    named = [i for i, p in enumerate(book.pieces) if book.naming(at, p) >= 0.8]
    valued = [i for i in book.of_kind("measure", "order") if book.pieces[i].does & _VALUED]
    shown = [
        i for i in book.of_kind("shape", "where", "order") if any(c.numeric for c in book.pieces[i].columns)
    ]
    chosen = named or valued or shown
    if chosen or not book.of_kind("measure"):
        book.bind(at, at + 1, chosen) if chosen else book.put_aside(at, at + 1)
    else:
        book.mark_unbound("aggregate", at, at + 1, "the plan only counts")


def _shown(book: Ledger) -> list[int]:
    return [i for i in book.of_kind("shape") if book.pieces[i].columns]


def _total(book: Ledger, at: int) -> None:
    """`total` needs a sum, a count, or no average at all; `overall` only that nothing is left out."""
    fitting = _added(book)
    counted = [i for i in fitting if book.pieces[i].does & _COUNTS]
    following = book.next_said(at)
    if book.lower(at + 1) == "of" and at + 2 < len(book.words) and book.bound[at + 2]:
        # `a total of 10 wins`: what the number is.
        book.bind(at, at + 2, book.bound[at + 2])
        return
    if counted and counted == fitting and book.lower(at) in {"total", "totals"}:
        # A count of rows is the total of what the rows are called, and of nothing else.
        rows = [
            i
            for i in book.of_kind("shape")
            if following is not None and book.naming(following, book.pieces[i]) >= 0.7
        ]
        beside = book.lower(at + 1) in {"number", "count"} or book.lower(at - 1) == "in"
        fitting = fitting if rows or beside else []
    if not fitting:
        fitting = book.where(lambda p: any(stem("total") in c.stems for c in p.columns))
    if not fitting and book.lower(at) in {"total", "overall"} and book.lower(at - 1) in {"the", "of"}:
        fitting = book.doing("share")
    if not fitting and book.lower(at) in {"overall", "altogether"} and not book.of_kind("by"):
        fitting = book.of_kind("measure")
    _settle(book, at, at + 1, fitting, "the plan adds nothing up")


def _either(book: Ledger, at: int) -> None:
    alternatives = book.where(lambda p: "or" in p.does or p.op == "between")
    before = next((i for i in range(at - 1, -1, -1) if book.says(i) or book.bound[i]), None)
    after = book.next_said(at)
    sides = [
        {p for p in book.bound[i] if book.pieces[p].kind == "where"} for i in (before, after) if i is not None
    ]
    if alternatives:
        book.bind(at, at + 1, alternatives)
    elif len(sides) == 2 and sides[0] and sides[1] and not sides[0] & sides[1]:
        book.mark_unbound("comparison", at, at + 1, "the plan asks for both at once")
    else:
        book.put_aside(at, at + 1)


def _only(book: Ledger, at: int) -> None:
    """`only X` keeps X alone; at the end of a sentence it says how much to show."""
    near = [i for i in book.of_kind("where", "when", "limit") if book.near(at, i, 3, 6)]
    if near:
        book.bind(at, at + 1, near)
    elif any(book.says(i) for i in range(at + 1, len(book.words))):
        book.mark_unbound("content", at, at + 1, "no condition of the plan keeps only that")
    else:
        book.put_aside(at, at + 1)


def _settle(
    book: Ledger, start: int, end: int, fitting: list[int], why: str, kind: str = "aggregate"
) -> None:
    if not any(book.open(at) for at in range(start, end)):
        return
    last = next(at for at in range(end - 1, start - 1, -1) if book.open(at))
    named = [
        i for i, p in enumerate(book.pieces) if book.lower(last) not in ASIDE and book.naming(last, p) >= 0.8
    ]
    if fitting or named:
        book.bind(start, end, fitting or named)
    else:
        book.mark_unbound("content" if kind == "content" else "aggregate", start, end, why)


_PHRASES: tuple[tuple[re.Pattern[str], Callable[[Ledger, int], list[int]], str], ...] = (
    (
        _STARTS,
        lambda b, _: b.where(lambda p: p.op in {"startswith", "endswith"}),
        "no condition of the plan says so",
    ),
    (_Z_SCORE, lambda b, _: b.doing("zscore"), "the plan does not compute this"),
    (_RUNNING, lambda b, _: b.doing("running"), "the plan adds nothing up row by row"),
    (_NUMBER_OF, _counted, "the plan counts nothing of this kind"),
    (_ADD_UP, lambda b, _: _added(b), "the plan adds nothing up"),
)
"""Phrases that ask for a computation, the pieces that are it, and what to say when there is none."""
