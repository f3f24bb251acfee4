"""Windows, periods and other words of time: bound to windows, buckets and conditions on dates."""

from __future__ import annotations

import datetime as dt

from sandtable.catalog.calendar import Calendar as Rules
from sandtable.planner.conscience.ledger import Ledger, buckets_in, time_phrases_in
from sandtable.planner.conscience.pieces import Piece
from sandtable.planner.conscience.terms import (
    CURRENT,
    FUTURE,
    MONTH_NAMES,
    PARTS_OF_DAY,
    PARTS_OF_WEEK,
    PASSED,
    SEASONS,
)
from sandtable.planner.conscience.time_phrases import (
    bind_phrases,
    days_shown,
    in_a_name,
    said_loosely,
    two_windows,
)
from sandtable.planner.language import periods
from sandtable.planner.language.buckets import Bucket
from sandtable.planner.language.periods import Period
from sandtable.planner.language.times import Calendar, TimePhrase
from sandtable.planner.language.words import stem
from sandtable.planner.schema.columns import is_year

_UNITS = ("day", "week", "month", "quarter", "year", "fiscal_quarter", "fiscal_year")
_NAMED = {
    "hour": {"hour", "hour_of_day", "hour_name"}, "day": {"day", "day_of_week", "day_name"}, "week": {"week"},
    "month": {"month", "month_of_year", "month_name"}, "quarter": {"quarter"}, "year": {"year"}, "minute": {"minute"},
    "day_of_week": {"day_of_week", "day_name"}, "hour_of_day": {"hour_of_day", "hour_name"},
    "month_of_year": {"month_of_year", "month_name"},
}  # fmt: skip
_ANY_UNIT = {unit for units in _NAMED.values() for unit in units}
_EVENTS = frozenset(stem(w) for w in "founded opened closed built born established elected joined".split())
_PREPOSITIONS = frozenset(
    "in on at for of the during since from until before after by between and to".split()
)
_PARTS = {"hour": PARTS_OF_DAY, "day": PARTS_OF_WEEK}


def bind_times(book: Ledger) -> None:
    calendar = Calendar.at(book.index.dataset.as_of, book.index.rules)
    bind_phrases(book, calendar, lambda piece: _ends(book, piece, calendar))
    phrases = [s for s in time_phrases_in(book.reading.text, calendar) if not _is_bound(book, s.start, s.end)]
    for bucket in buckets_in(book.reading.text, book.index.in_fiscal):
        _bucket(book, bucket)
    for phrase in phrases:
        _time_phrase(book, phrase, phrases, calendar)
    for at in range(len(book.words)):
        if book.open(at):
            _word(book, at)


def _ends(book: Ledger, piece: int, calendar: Calendar) -> tuple[dt.date | None, dt.date | None] | None:
    return _period(dict(book.pieces[piece].window), calendar)


def _is_bound(book: Ledger, start: int, end: int) -> bool:
    """All of it that carries meaning is a value or a name already."""
    telling = [at for at in range(start, end) if book.lower(at) not in _PREPOSITIONS]
    return all(book.settled[at] for at in telling)


def _bucket(book: Ledger, bucket: Bucket) -> None:
    if any(book.bound[at] for at in range(bucket.start, bucket.end)):
        return
    wanted = _ANY_UNIT if bucket.unit == "auto" else _NAMED.get(bucket.unit, {bucket.unit})
    fitting = [i for i in book.doing("bucket") if book.pieces[i].does & wanted]
    if not fitting:
        # A column of years or months serves as well.
        fitting = [i for i in book.of_kind("by", "shape") if _is_called(book.pieces[i], bucket.unit)]
    if not fitting and bucket.unit == "auto":
        fitting = book.doing("change")
    if fitting and bucket.change:
        fitting = [*fitting, *book.doing("change")] if book.doing("change") else []
    fitting = fitting or days_shown(book, bucket)
    if not fitting and (named := in_a_name(book, bucket)):
        book.bind(bucket.start, bucket.end, named, named=True)
        return
    if not fitting and book.lower(bucket.start) == "calendar":
        fitting = [i for i in book.of_kind("when") if "month" in str(book.pieces[i].window.get("period"))]
    if fitting:
        book.bind(bucket.start, bucket.end, fitting)
    else:
        book.mark_unbound("time", bucket.start, bucket.end, "the plan has no such periods")


def _is_called(piece: Piece, unit: str) -> bool:
    return any(
        stem(unit.partition("_")[0]) in c.stems or (unit == "year" and (is_year(c) or set(c.stems) & _EVENTS))
        for c in piece.columns
    )


def _time_phrase(book: Ledger, phrase: TimePhrase, phrases: list[TimePhrase], calendar: Calendar) -> None:
    fitting = [i for i, piece in enumerate(book.pieces) if _means(piece, phrase, phrases, calendar)]
    fitting = fitting or two_windows(book, phrase, lambda piece: _ends(book, piece, calendar))
    fitting = fitting or [
        i for i in book.of_kind("when") if said_loosely(book, phrase, _ends(book, i, calendar), calendar)
    ]
    if fitting:
        book.bind(phrase.start, phrase.end, fitting)
        return
    if _year_value(book, phrase):
        return
    why = "the plan keeps another time" if book.of_kind("when") else "the plan keeps no such time"
    book.mark_unbound("time", phrase.start, phrase.end, why)


def _year_value(book: Ledger, phrase: TimePhrase) -> bool:
    """A year that is a number of a condition (`published before 2000`), or a word of a name (`the 2007 population`)."""
    said = {book.lower(at) for at in range(phrase.start, phrase.end) if book.lower(at).isdigit()}
    said |= {str(year) for year in phrase.years or ()}
    for number, piece in enumerate(book.pieces):
        if piece.kind == "where" and said & {str(v)[:4] for v in piece.values}:
            book.bind(phrase.start, phrase.end, [number])
            return True
    named = [i for i, p in enumerate(book.pieces) if any(said & set(c.stems) for c in p.columns)]
    if named:
        book.bind(phrase.start, phrase.end, named, named=True)
    return bool(named)


def _means(piece: Piece, phrase: TimePhrase, phrases: list[TimePhrase], calendar: Calendar) -> bool:
    if piece.kind == "when":
        return _same_window(piece, phrase, phrases, calendar)
    if piece.kind != "where" or not any(c.temporal for c in piece.columns):
        return False
    ends = {str(phrase.window.get(end, "none"))[:10] for end in ("from", "to")}
    if "to" in phrase.window:
        ends.add(_day_after(str(phrase.window["to"])))
    return bool(ends & {str(value)[:10] for value in piece.values})


def _day_after(day: str) -> str:
    try:
        return (dt.date.fromisoformat(day[:10]) + dt.timedelta(days=1)).isoformat()
    except ValueError:
        return day


def _same_window(piece: Piece, phrase: TimePhrase, phrases: list[TimePhrase], calendar: Calendar) -> bool:
    window = {k: v for k, v in piece.window.items() if k not in {"column", "as_of"}}
    if window == phrase.window:
        return True
    mine = _period(window, calendar)
    if mine is None:
        return False
    if (
        phrase.period is not None
        and mine == (phrase.period.first, phrase.period.last)
        and phrase.bound == "in"
    ):
        return True
    told = [s.period for s in phrases if s.period is not None]
    if len(told) > 1 and phrase.period is not None:
        # Two periods side by side: the window holds both.
        whole = told[0]
        for other in told[1:]:
            whole = whole.joined(other)
        return mine == (whole.first, whole.last)
    theirs = _period(dict(phrase.window), calendar)
    return theirs is not None and mine == theirs


def _period(window: dict[str, object], calendar: Calendar) -> tuple[dt.date | None, dt.date | None] | None:
    try:
        if "from" in window or "to" in window:
            first, last = window.get("from"), window.get("to")
            return (
                dt.date.fromisoformat(str(first)[:10]) if first else None,
                dt.date.fromisoformat(str(last)[:10]) if last else None,
            )
    except ValueError:
        return None
    name = str(window.get("period", ""))
    if calendar.today is None or not name:
        return None
    return _named_period(name, calendar.today, calendar.rules)


def _named_period(name: str, today: dt.date, rules: Rules) -> tuple[dt.date, dt.date] | None:
    if name == "fiscal_ytd":
        return periods.around(today, "fiscal_year", rules=rules).first, today
    if name == "ytd":
        return periods.year(today.year).first, today
    if name in {"today", "yesterday"}:
        day = periods.around(today, "day", 0 if name == "today" else -1)
        return day.first, day.last
    which, _, unit = name.partition("_")
    if unit not in _UNITS:
        return None
    found: Period = periods.around(today, unit, 0 if which == "this" else -1, rules)
    return found.first, found.last


def _word(book: Ledger, at: int) -> None:
    """Words of time that are no window by themselves."""
    word = book.lower(at)
    dated = book.where(
        lambda p: p.kind == "when" or (p.kind == "where" and any(c.temporal for c in p.columns))
    )
    if (word in {"am", "pm"} and not book.lower(at - 1)[-1:].isdigit()) or _ago(book, at):
        return
    for unit, words in _PARTS.items():
        if word in words:
            marks = _NAMED[unit]
            fitting = book.where(
                lambda p, m=marks: bool(p.does & m) or (p.kind == "where" and bool(p.does & m))
            )
            named = book.where(lambda p: book.naming(at, p) >= 0.7)
            _settle(book, at, fitting if word not in {"night", "nights"} else fitting + named, "time")
            return
    if word in {"working", "business"} and book.lower(at + 1) in {"day", "days"}:
        workdays = [i for i in book.of_kind("where") if book.pieces[i].does & _NAMED["day"]]
        if workdays:
            book.bind(at, at + 2, workdays)
        return
    if word in SEASONS or (word in MONTH_NAMES and word != "may"):
        _settle(book, at, dated if word in MONTH_NAMES else [], "time")
    elif word in CURRENT:
        _current(book, at)
    elif word in PASSED:
        _settle(book, at, dated + book.where(lambda p: p.kind == "where"), "time")
    elif word in FUTURE and not _polite(book, at):
        called = [i for i, p in enumerate(book.pieces) if word != "will" and book.naming(at, p) >= 0.75]
        _settle(book, at, called, "time")
    elif word == "next" and book.lower(at + 1) == "to":
        several = (
            book.of_kind("measure")
            if len(book.of_kind("measure")) > 1
            else book.doing("ratio", "change", "or")
        )
        _settle(book, at, several, "time")
    elif word == "next":
        _settle(book, at, book.doing("next"), "time")


def _ago(book: Ledger, at: int) -> bool:
    """`how many years ago`: the time that has passed since."""
    passed = book.doing("elapsed") if book.lower(at) == "ago" else []
    if passed:
        book.bind(at, at + 1, passed)
    return bool(passed)


def _polite(book: Ledger, at: int) -> bool:
    return book.lower(at) == "will" and book.lower(at + 1) == "you"


def _current(book: Ledger, at: int) -> None:
    """`currently` asks for a state, where the rows have one."""
    states = book.where(lambda p: p.kind in {"where", "when"} or "asc" in p.does or "desc" in p.does)
    states.sort(key=lambda i: not book.pieces[i].negative)
    if states:
        book.bind(at, at + 1, states[:1])
        verb = book.lower(at + 1)
        if verb.endswith("ed") and book.open(at + 1):
            book.bind(at + 1, at + 2, states[:1])
    elif not _has_states(book):
        book.put_aside(at, at + 1)
    else:
        book.mark_unbound("time", at, at + 1, "the plan takes all rows, the past ones too")


def _has_states(book: Ledger) -> bool:
    """Whether the rows have a status, or a date that is still empty in some of them."""
    tables = [p.table for p in book.pieces if p.table is not None]
    for column in (c for table in tables for c in table.columns):
        if {"status", "state", stem("active")} & set(column.stems):
            return True
        if column.temporal and column.profile is not None and column.profile.nulls:
            return True
    return False


def _settle(book: Ledger, at: int, fitting: list[int], kind: str) -> None:
    named = [i for i, p in enumerate(book.pieces) if book.naming(at, p) >= 0.9]
    if fitting or named:
        book.bind(at, at + 1, fitting or named)
    else:
        book.mark_unbound("time", at, at + 1, "no part of the plan has this time")
