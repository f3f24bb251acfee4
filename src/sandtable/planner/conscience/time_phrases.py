"""Times that several words say together: two periods that are compared, the start or the end of one, `2025 Q1`.

Bound before single windows are read; what matches no part of the plan is left to those, and reported there.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable

from sandtable.planner.conscience.ledger import Ledger, time_phrases_in
from sandtable.planner.language import periods
from sandtable.planner.language.buckets import Bucket
from sandtable.planner.language.periods import Period
from sandtable.planner.language.reading import Reading
from sandtable.planner.language.spoken_before import moved, preceding
from sandtable.planner.language.times import Calendar, TimePhrase, find_periods
from sandtable.planner.language.words import read_number, stem

Ends = tuple[dt.date | None, dt.date | None]
_QUARTER = re.compile(r"(?:in |for |of |during )?(?P<y>(?:19|20)\d{2}) q(?P<q>[1-4])(?= |$)")
_BEFORE = re.compile(
    r"(?:(?:compared )?(?:to|with|over|on|vs|versus|against|from|than) )?(?:the )?(?:previous|prior|preceding|last) "
    r"(?P<unit>day|week|month|quarter|year)(?= |$)"
)
_THIS_YEAR = re.compile(r"(?:since|from) the (?:start|beginning) of (?:the|this) year(?= |$)")
_OPENING = re.compile(
    r"(?:in |for |during |over |of )?(?:the )?(?P<side>first|last) (?P<n>\d{1,2}|[a-z]+) "
    r"(?P<unit>days|weeks|months|quarters) of (?P<y>(?:19|20)\d{2})(?= |$)"
)
_QUARTERS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "last": 4}
_QUARTER_OF = re.compile(
    r"(?P<which>first|second|third|fourth|last) (?P<unit>quarter|half) (?:of |in )?(?P<y>(?:19|20)\d{2})(?= |$)"
)
_JOINING = frozenset("and or to vs versus against than the in from of with ,".split())
ADVERBS = {"hour": "hourly", "day": "daily", "week": "weekly", "month": "monthly", "year": "annual"}
_RECURRING = {"month": {"mrr"}, "year": {"arr", "yearly", "annually"}}
_ONE = frozenset({"avg", "median", "min", "max", "quantile", "count"})


def bind_phrases(book: Ledger, calendar: Calendar, ends: Callable[[int], Ends | None]) -> None:
    """`ends` gives the first and the last day of the window of a piece."""
    windows = {i: found for i in book.of_kind("when") if (found := ends(i)) is not None}
    for start, end, match in book.reading.find(_QUARTER):
        wanted = periods.quarter(int(match["y"]), int(match["q"]))
        _bind(book, start, end, [i for i, w in windows.items() if w == (wanted.first, wanted.last)])
    for start, end, match in book.reading.find(_OPENING):
        number = read_number(Reading.of(match["n"]).words, 0)
        count = number.value if number is not None else 0
        whole = _opening_of(match["side"], int(count), match["unit"], int(match["y"]))
        _bind(book, start, end, [i for i, w in windows.items() if w == whole])
    for start, end, match in book.reading.find(_QUARTER_OF):
        _beside_a_quarter(book, start, end, match["unit"], int(match["y"]), windows)
    for start, end, match in book.reading.find(_BEFORE):
        changing = book.doing("change", "previous")
        buckets = [i for i in book.doing("bucket") if match["unit"] in book.pieces[i].does]
        _bind(book, start, end, changing if buckets else [])
    if calendar.today is not None:
        first = dt.date(calendar.today.year, 1, 1)
        for start, end, _ in book.reading.find(_THIS_YEAR):
            _bind(book, start, end, [i for i, w in windows.items() if w[0] == first])
    if book.period is not None:
        _after_an_answer(book, calendar, book.period, windows)
    for start, end, period in find_periods(book.reading, calendar):
        _at_an_end(book, start, end, period, windows)


def _opening_of(side: str, count: int, unit: str, year: int) -> Ends | None:
    """The first or last so many months of a year."""
    if count < 1:
        return None
    months = {"months": 1, "quarters": 3}.get(unit)
    first, last = dt.date(year, 1, 1), dt.date(year, 12, 31)
    if months is None:
        days = dt.timedelta(days=count * (7 if unit == "weeks" else 1) - 1)
        return (first, first + days) if side == "first" else (last - days, last)
    span = count * months
    if span > 12:
        return None
    if side == "last":
        return dt.date(year, 13 - span, 1), last
    after = dt.date(year, span + 1, 1) if span < 12 else dt.date(year + 1, 1, 1)
    return first, after - dt.timedelta(days=1)


def _beside_a_quarter(
    book: Ledger, start: int, end: int, unit: str, year: int, windows: dict[int, Ends]
) -> None:
    """`the first and the fourth quarter of 2025`, `the second quarter of 2025 than in the first`."""
    before = start - 1
    while before > 0 and book.lower(before) in _JOINING:
        before -= 1
    after = end
    while book.lower(after) in _JOINING:
        after += 1
    for at in (before, after):
        which = _QUARTERS.get(book.lower(at))
        apart = (
            at == start - 1 or at == end or book.lower(at + 1) in {"quarter", "half", "quarters", "halves"}
        )
        if which is None or apart or not book.open(at):
            continue
        if unit == "quarter":
            period = periods.quarter(year, which)
            wanted = (period.first, period.last)
        elif which <= 2:
            wanted = (
                dt.date(year, 6 * which - 5, 1),
                dt.date(year, 6, 30) if which == 1 else dt.date(year, 12, 31),
            )
        else:
            continue
        _bind(book, at, at + 1, [i for i, w in windows.items() if w == wanted])


def _bind(book: Ledger, start: int, end: int, fitting: list[int]) -> None:
    if fitting:
        book.bind(start, end, fitting)


def _after_an_answer(book: Ledger, calendar: Calendar, mine: Period, windows: dict[int, Ends]) -> None:
    """`and in May?` of the year that was mentioned, `the month before`."""
    said = [
        (s.start, s.end, s.period) for s in time_phrases_in(book.reading.text, calendar) if s.bound == "in"
    ]
    told = [(start, end, moved(book.reading, start, end, p, mine)) for start, end, p in said if p is not None]
    for start, end, period in (*told, *preceding(book.reading, mine)):
        _bind(book, start, end, [i for i, w in windows.items() if w == (period.first, period.last)])


def _at_an_end(book: Ledger, start: int, end: int, period: Period, windows: dict[int, Ends]) -> None:
    """`since the start of May`, `up to the end of 2024`, `after the end of June`, `2020 or later`."""
    wanted: Ends | None = None
    if book.lower(end) in {"or", "and"} and book.lower(end + 1) in {"later", "after", "newer"}:
        wanted, end = (period.first, None), end + 2
    elif book.lower(end) in {"or", "and"} and book.lower(end + 1) in {"earlier", "before", "older"}:
        wanted, end = (None, period.last), end + 2
    elif book.lower(end) in {"onwards", "onward", "on"} and book.lower(start - 1) in {
        "from",
        "since",
        "starting",
    }:
        wanted, start, end = (period.first, None), start - 1, end + 1
    elif book.lower(start - 1) in {"of", "in"} and book.lower(start - 3) in {"the", "very"}:
        side, opening = book.lower(start - 2), book.lower(start - 4)
        if side in {"start", "beginning"} and opening in {"since", "from", "starting"}:
            wanted = (period.first, None)
        elif side == "end" and opening in {"to", "until", "till", "through", "by"}:
            wanted = (None, period.last)
        elif side == "end" and opening in {"after", "since"}:
            wanted = (period.last + dt.timedelta(days=1), None)
        start = start - 5 if book.lower(start - 5) == "up" else start - 4
    if wanted is not None:
        _bind(book, start, end, [i for i, w in windows.items() if w == wanted])


def two_windows(book: Ledger, phrase: TimePhrase, ends: Callable[[int], Ends | None]) -> list[int]:
    """`from 2023 to 2024` in a plan that compares the two: a window for each, in separate measures."""
    if phrase.period is None or phrase.bound != "in":
        return []
    held = {i: found for i in book.of_kind("when") if "select" in book.pieces[i].path if (found := ends(i))}
    first = [i for i, w in held.items() if w[0] == phrase.period.first and w[1] != phrase.period.last]
    last = [i for i, w in held.items() if w[1] == phrase.period.last and w[0] != phrase.period.first]
    return [*first, *last] if first and last and len(set(held.values())) == 2 else []


def said_loosely(book: Ledger, phrase: TimePhrase, found: Ends | None, calendar: Calendar) -> bool:
    """`invoices from May 2024` and `through 2024` may mean that time alone; `so far this year` is this year."""
    if found is None:
        return False
    if phrase.bound == "from" and phrase.period is None:
        said = [
            p
            for start, end, p in find_periods(book.reading, calendar)
            if phrase.start <= start and end <= phrase.end
        ]
        return (
            len(said) == 1 and book.lower(phrase.start) == "from" and found == (said[0].first, said[0].last)
        )
    if phrase.period is None:
        return False
    if book.lower(phrase.start) in {"from", "through", "throughout"} and found == (
        phrase.period.first,
        phrase.period.last,
    ):
        return True
    to_date = phrase.window.get("period") == "ytd" and calendar.today is not None
    return to_date and found == (phrase.period.first, dt.date(phrase.period.first.year, 12, 31))


def in_a_name(book: Ledger, bucket: Bucket) -> list[int]:
    """`pay per month` of a monthly fee, `median daily sales` of a table with a row for each day."""
    unit = bucket.unit
    wanted = {stem(unit), stem(ADVERBS.get(unit, unit)), *map(stem, _RECURRING.get(unit, ()))}
    named = book.where(
        lambda p: (
            "all" not in p.does and bool({s for c in p.columns for s in c.stems} & wanted or p.names & wanted)
        )
    )
    if named:
        return named
    measures = [book.pieces[i] for i in book.of_kind("measure")]
    one_by_one = all(p.does & _ONE and "sum" not in p.does for p in measures)
    return (
        book.where(lambda p: p.table is not None and bool(set(p.table.stems) & wanted)) if one_by_one else []
    )


def days_shown(book: Ledger, bucket: Bucket) -> list[int]:
    """`on what day was it`: a date that is shown."""
    if bucket.unit != "day" or not {book.lower(i) for i in range(bucket.start, bucket.end)} & {
        "what",
        "which",
    }:
        return []
    shown = book.of_kind("shape", "by")
    return [i for i in shown if book.pieces[i].columns and all(c.temporal for c in book.pieces[i].columns)]
