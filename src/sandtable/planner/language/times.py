"""Time in a question: windows ("since June 2025", "last 90 days").

Everything relative is counted from the dataset's own `now`, never from the clock.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from dataclasses import dataclass

from sandtable.catalog.calendar import USUAL
from sandtable.catalog.calendar import Calendar as Rules
from sandtable.planner.language import fiscal, periods
from sandtable.planner.language.lexicon import MONTHS, NUMBER_WORDS
from sandtable.planner.language.periods import Period
from sandtable.planner.language.reading import Reading

_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_UNIT = "minute|hour|day|week|month|quarter|year"
_ORDINAL = {
    "first": 1,
    "1st": 1,
    "second": 2,
    "2nd": 2,
    "third": 3,
    "3rd": 3,
    "fourth": 4,
    "4th": 4,
    "last": 0,
}
_COUNT = "|".join(NUMBER_WORDS)

_SPOKEN = re.compile(
    rf"(?:the )?(?:(?P<iso>\d{{4}}-\d{{1,2}}-\d{{1,2}})"
    rf"|(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<m1>{_MONTH})(?: ,)? (?P<y1>\d{{4}})"
    rf"|(?P<m2>{_MONTH}) (?P<d2>\d{{1,2}})(?:st|nd|rd|th)?(?: ,)? (?P<y2>\d{{4}})"
    rf"|(?P<m3>{_MONTH})(?: of| ,)? (?P<y3>(?:19|20)\d{{2}})"
    rf"|(?P<d5>\d{{1,2}}(?:st|nd|rd|th)?|first)(?: of)? (?P<m5>{_MONTH})"
    rf"|(?P<m6>{_MONTH}) (?P<d6>\d{{1,2}})(?:st|nd|rd|th)?(?! ?[%\d])"
    rf"|q(?P<q>[1-4])(?: of| in)?(?: (?P<y4>(?:19|20)\d{{2}}))?"
    rf"|(?P<qo>first|second|third|fourth|last|1st|2nd|3rd|4th) quarter (?:of )?(?P<y5>(?:19|20)\d{{2}})"
    rf"|(?P<qy>first|second|third|fourth|1st|2nd|3rd|4th) quarter(?: of (?:the|this) year)?"
    rf"|h(?P<h>[12])(?: of| in)? (?P<y6>(?:19|20)\d{{2}})"
    rf"|(?P<ho>first|second|last) half (?:of )?(?P<y7>(?:19|20)\d{{2}})"
    rf"|(?P<hy>first|second) half(?: of (?:the|this) year)?(?! of)"
    rf"|(?P<ym>(?:19|20)\d{{2}} - (?:0[1-9]|1[0-2]))"
    rf"|(?:year |all of |the year )?(?P<y8>(?:19|20)\d{{2}})"
    rf"|(?P<this>this|current|last|previous|past|next) (?:calendar )?(?P<unit>week|month|quarter|year)"
    rf"|(?P<day>today|yesterday)"
    rf"|(?P<m9>{_MONTH}))(?:'s)?(?= |$)"
)
_LAST = re.compile(
    rf"(?:(?:in|during|over|for|within|from) )?(?:the )?(?:last|past|previous|latest|most recent|recent) "
    rf"(?:(?P<n>\d+|{_COUNT}) )?(?P<unit>{_UNIT})(?P<s>s?)(?= |$)"
)
_TO_DATE = re.compile(r"(?:ytd|year to date|so far this year|this year so far|this year to date)(?= |$)")
_OPENING = {
    "in": "in", "during": "in", "for": "in", "of": "in", "on": "in", "throughout": "in", "within": "in",
    "since": "from", "from": "from", "starting": "from", "after": "after", "before": "before",
    "until": "to", "till": "to", "through": "to", "between": "between", "by": "to", "as": "in",
}  # fmt: skip
_OPENING_PHRASES = {
    ("up", "to"): "to", ("earlier", "than"): "before", ("prior", "to"): "before", ("later", "than"): "after",
}  # fmt: skip
_SEVERE = frozenset(
    "over above than least most exactly under below top first bottom number limit = > < is was are".split()
)


@dataclass(frozen=True, slots=True)
class TimePhrase:
    """A stretch of time that the words `start` to `end` name."""

    start: int
    end: int
    window: dict[str, str | int]
    period: Period | None
    """The whole days it covers, when it has two ends."""
    years: tuple[int, int] | None = None
    """Set when it is whole years: a column of year numbers may be meant."""
    bound: str = "in"
    """in, from, after, before or to."""


@dataclass(frozen=True, slots=True)
class Calendar:
    """Where `now` is, and when weeks and fiscal years begin."""

    today: dt.date | None
    rules: Rules = USUAL

    @staticmethod
    def at(moment: str | None, rules: Rules = USUAL) -> Calendar:
        return Calendar(dt.date.fromisoformat(moment[:10]) if moment else None, rules)


def find_time_phrases(reading: Reading, calendar: Calendar) -> list[TimePhrase]:
    """Every stretch of time, left to right; none of them overlap."""
    found: list[TimePhrase] = []
    at = 0
    while at < len(reading):
        phrase = _time_phrase_at(reading, calendar, at)
        if phrase is None:
            at += 1
        else:
            found.append(phrase)
            at = phrase.end
    return found


def find_periods(reading: Reading, calendar: Calendar) -> list[tuple[int, int, Period]]:
    """Every period that is named, by its first word and the word after it, whatever the words around it say."""
    found: list[tuple[int, int, Period]] = []
    for at in range(len(reading)):
        spoken = _spoken(reading, calendar, at, None) if not found or at >= found[-1][1] else None
        if spoken is not None:
            found.append((at, spoken[1], spoken[0]))
    return found


def _time_phrase_at(reading: Reading, calendar: Calendar, at: int) -> TimePhrase | None:
    opening = _OPENING.get(reading.lower(at), "")
    begin = at + (1 if opening else 0)
    if reading.lower(at) == "starting" and reading.lower(begin) in {"in", "from", "on"}:
        begin += 1
    if phrase := _OPENING_PHRASES.get((reading.lower(at), reading.lower(at + 1))):
        opening, begin = phrase, at + 2
    if reading.lower(at) == "as" and reading.lower(begin) != "of":
        return None
    if reading.lower(at) == "as":
        opening, begin = "to", begin + 1
    return (
        _rolling(reading, calendar, at)
        or _to_date(reading, calendar, at, begin)
        or _decade(reading, at, begin, opening)
        or _days_of_a_year(reading, at, begin, opening)
        or _pair(reading, calendar, at, begin, opening)
        or _single(reading, calendar, at, begin, opening)
    )


def _rolling(reading: Reading, calendar: Calendar, at: int) -> TimePhrase | None:
    hit = reading.match_at(_LAST, at)
    if hit is None or calendar.today is None:
        return None
    end, match = hit
    unit, count = match.group("unit"), match.group("n")
    if count is None:
        spoken_last = any(w in match.group() for w in ("last ", "previous "))
        if match.group("s") or spoken_last or "recent" in match.group() or "latest" in match.group():
            return None
        return TimePhrase(at, end, {"last": 1, "unit": unit}, None)
    number = NUMBER_WORDS.get(count) if not count.isdigit() else int(count)
    if not number or number > 100_000:
        return None
    return TimePhrase(at, end, {"last": number, "unit": unit}, None)


_DECADE = re.compile(r"(?:the )?(?P<year>1[4-9]\d0|20\d0)'?s(?= |$)")


def _decade(reading: Reading, at: int, begin: int, opening: str) -> TimePhrase | None:
    """`in the 1980s`: ten years."""
    hit = reading.match_at(_DECADE, begin)
    if hit is None or opening not in {"", "in", "from"}:
        return None
    first = int(hit[1].group("year"))
    period = Period(dt.date(first, 1, 1), dt.date(first + 9, 12, 31), "range")
    return TimePhrase(at, hit[0], dict(period.window), period, (first, first + 9))


def _to_date(reading: Reading, calendar: Calendar, at: int, begin: int) -> TimePhrase | None:
    if calendar.today is None:
        return None
    for start in (at, begin):
        fiscal_end = fiscal.to_date(reading, start, calendar.rules)
        if fiscal_end is not None:
            year = periods.around(calendar.today, "fiscal_year", rules=calendar.rules)
            period = Period(year.first, calendar.today, "range")
            return TimePhrase(at, fiscal_end, {"period": "fiscal_ytd"}, period)
        hit = reading.match_at(_TO_DATE, start)
        if hit:
            return TimePhrase(
                at,
                hit[0],
                {"period": "ytd"},
                Period(periods.year(calendar.today.year).first, calendar.today, "range"),
            )
    return None


_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_DAYS = re.compile(
    rf"(?:the )?(?:(?P<d1>{_DAY})(?: (?:of )?(?P<m1>{_MONTH}))?|(?P<m2>{_MONTH}) (?P<d2>{_DAY}))"
    rf" (?:and|to|until|through|till|-|–) (?:the )?"
    rf"(?:(?P<d3>{_DAY}) (?:of )?(?P<m3>{_MONTH})|(?P<m4>{_MONTH}) (?P<d4>{_DAY}))(?: ,)?"
    rf" (?P<y>(?:19|20)\d{{2}})(?= |$)"
)


def _days_of_a_year(reading: Reading, at: int, begin: int, opening: str) -> TimePhrase | None:
    """`between 1 November and 24 December 2024`, `from 24 to 31 December 2024`: the year is said once."""
    hit = reading.match_at(_DAYS, begin)
    if hit is None or opening not in {"between", "from", "in", ""}:
        return None
    g = hit[1].groupdict()
    last_month = MONTHS[g["m3"] or g["m4"]]
    first_month = MONTHS[named] if (named := g["m1"] or g["m2"]) else last_month
    first, last = (int(re.sub(r"\D", "", str(day))) for day in (g["d1"] or g["d2"], g["d3"] or g["d4"]))
    try:
        begun = dt.date(int(g["y"]) - (first_month > last_month), first_month, first)
        period = Period(begun, dt.date(int(g["y"]), last_month, last), "range")
    except ValueError:
        return None
    return TimePhrase(at, hit[0], dict(period.window), period) if period.first <= period.last else None


def _pair(reading: Reading, calendar: Calendar, at: int, begin: int, opening: str) -> TimePhrase | None:
    """`between March and May 2025`, `from 2024-01-01 to 2024-03-31`."""
    first = _spoken(reading, calendar, begin, None) if opening in {"between", "from", "in", ""} else None
    if first is None or (not opening and first[0].unit not in {"day", "month"}):
        return None
    middle = reading.lower(first[1])
    if middle not in {"and", "to", "until", "through", "till", "-", "–"} or (
        middle == "and" and opening != "between"
    ):
        return None
    second = _spoken(reading, calendar, first[1] + 1, None)
    if second is None:
        return None
    if not first[2]:
        again = _spoken(reading, calendar, begin, second[0].first.year)
        first = again or first
    whole = first[0].joined(second[0])
    both = first[0].unit == second[0].unit == "year"
    years = (whole.first.year, whole.last.year) if both else None
    return TimePhrase(at, second[1], dict(whole.window), whole, years)


def _single(reading: Reading, calendar: Calendar, at: int, begin: int, opening: str) -> TimePhrase | None:
    spoken = _spoken(reading, calendar, begin, None)
    if spoken is None or opening == "between":
        return None
    period, end, dated = spoken
    before = reading.lower(at - 1)
    lone_year = period.unit == "year" and end == begin + 1
    if lone_year and reading.lower(at) == "through":
        opening = "in"
    if lone_year and not opening and before in _SEVERE:
        return None
    if not dated and not opening and not _named_month(reading, begin, end):
        return None
    if opening == "by" and period.unit not in {"year", "month", "day"}:
        return None
    number = (period.first.year, period.first.year) if lone_year else None
    bound = opening if opening in {"from", "after", "before", "to"} else "in"
    return TimePhrase(at, end, _bounded(period, bound), period if bound == "in" else None, number, bound)


def _bounded(period: Period, bound: str) -> dict[str, str | int]:
    day = dt.timedelta(days=1)
    if bound == "from":
        return {"from": period.first.isoformat()}
    if bound == "after":
        return {"from": (period.last + day).isoformat()}
    if bound == "before":
        return {"to": (period.first - day).isoformat()}
    if bound == "to":
        return {"to": period.last.isoformat()}
    return dict(period.window)


def _named_month(reading: Reading, begin: int, end: int) -> bool:
    """A month without year or preposition counts when it is written as a name: `June`, not `may`."""
    word = reading.words[begin]
    return end == begin + 1 and word.text[0].isupper() and begin > 0 and len(word.text) > 3


def _spoken(
    reading: Reading, calendar: Calendar, at: int, default_year: int | None
) -> tuple[Period, int, bool] | None:
    """The period that begins at this word, the word after it, and whether its year was said."""
    in_fiscal = fiscal.spoken(reading, at, calendar.today, calendar.rules)
    if in_fiscal is not None and reading.free(at, in_fiscal[1]):
        return (*in_fiscal, True)
    hit = reading.match_at(_SPOKEN, at)
    if hit is None or not reading.free(at, hit[0]):
        return None
    end, match = hit
    try:
        period, dated = _period(match, calendar, default_year)
    except ValueError:
        return None
    return (period, end, dated) if period else None


def _period(match: re.Match[str], calendar: Calendar, default_year: int | None) -> tuple[Period | None, bool]:
    g = match.groupdict()
    if g["iso"]:
        y, m, d = (int(part) for part in g["iso"].split("-"))
        return periods.day(dt.date(y, m, d)), True
    for y, m, d in (("y1", "m1", "d1"), ("y2", "m2", "d2")):
        if g[y]:
            return periods.day(dt.date(int(g[y]), MONTHS[g[m]], int(g[d]))), True
    if g["y3"]:
        return periods.month(int(g["y3"]), MONTHS[g["m3"]]), True
    if g["d5"] or g["d6"]:
        number = MONTHS[g["m5"] or g["m6"] or ""]
        spoken = g["d5"] or g["d6"] or ""
        of_month = 1 if spoken == "first" else int(re.sub(r"\D", "", spoken))
        made = _recent(lambda y: periods.day(dt.date(y, number, of_month)), calendar, default_year)
        return made, default_year is not None
    if g["q"] or g["qo"] or g["qy"]:
        return _quarter(g, calendar, default_year)
    if g["y6"] or g["y7"]:
        return periods.half(int(g["y6"] or g["y7"]), int(g["h"]) if g["h"] else _ORDINAL[g["ho"]] or 2), True
    if g["hy"]:
        part = _ORDINAL[g["hy"]]
        return _recent(lambda y: periods.half(y, part), calendar, default_year), True
    if g["ym"]:
        return periods.month(int(g["ym"][:4]), int(g["ym"][-2:])), True
    if g["y8"]:
        return periods.year(int(g["y8"])), True
    if g["m9"]:
        number = MONTHS[g["m9"]]
        return _recent(lambda y: periods.month(y, number), calendar, default_year), default_year is not None
    return _relative(g, calendar), True


def _quarter(
    g: dict[str, str | None], calendar: Calendar, default_year: int | None
) -> tuple[Period | None, bool]:
    number = int(g["q"]) if g["q"] else (_ORDINAL[g["qo"] or g["qy"] or "first"] or 4)
    year = g["y4"] or g["y5"]
    if year:
        return periods.quarter(int(year), number), True
    return _recent(lambda y: periods.quarter(y, number), calendar, default_year), True


def _relative(g: dict[str, str | None], calendar: Calendar) -> Period | None:
    if calendar.today is None:
        return None
    if g["day"]:
        return periods.around(calendar.today, "day", 0 if g["day"] == "today" else -1)
    offset = {"this": 0, "current": 0, "last": -1, "previous": -1, "past": -1, "next": 1}[g["this"] or "this"]
    return periods.around(calendar.today, g["unit"] or "day", offset, calendar.rules)


def _recent(make: Callable[[int], Period], calendar: Calendar, default_year: int | None) -> Period | None:
    """The period in the given year, else the latest one that has begun."""
    if default_year is not None:
        return make(default_year)
    if calendar.today is None:
        return None
    period = make(calendar.today.year)
    return period if period.first <= calendar.today else make(calendar.today.year - 1)
