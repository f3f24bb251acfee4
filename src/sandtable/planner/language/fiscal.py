"""Fiscal years and quarters in a question: `FY2024`, `fiscal Q1 2024`, `this fiscal quarter`, `by fiscal year`.

They are read only where the catalog declares when a fiscal year begins.
"""

from __future__ import annotations

import datetime as dt
import re

from sandtable.catalog.calendar import Calendar as Rules
from sandtable.planner.language import periods
from sandtable.planner.language.periods import Period
from sandtable.planner.language.reading import Reading

_YEAR = r"(?:fy ?|fiscal(?: year)? |financial year )(?:of )?"
_SPOKEN = re.compile(
    r"(?:the )?(?:"
    rf"(?:fiscal )?q(?P<q1>[1-4])(?: of| in)?(?: the)? {_YEAR}(?P<y1>(?:19|20)\d\d|\d\d)"
    rf"|{_YEAR}(?P<y2>(?:19|20)\d\d|\d\d) q(?P<q2>[1-4])"
    r"|(?:fiscal|financial) (?:quarter (?P<q3>[1-4])|q(?P<q4>[1-4]))(?:(?: of| in)? (?P<y3>(?:19|20)\d\d))?"
    rf"|{_YEAR}(?P<y4>(?:19|20)\d\d|\d\d)"
    r"|(?P<this>this|current|last|previous|past|next) (?:fiscal|financial) (?P<unit>quarter|year)"
    r")(?:'s)?(?= |$)"
)
_TO_DATE = re.compile(
    r"(?:(?:fiscal|financial) (?:ytd|year to date)|so far this (?:fiscal|financial) year"
    r"|this (?:fiscal|financial) year (?:so far|to date))(?= |$)"
)
_BUCKET = re.compile(
    r"(?:(?:per|by|each|every|for each|for every|in each|by each|by the|per each|broken down by|grouped by|split by) "
    r"(?:fiscal|financial) (?P<unit>quarter|year)s?(?= |$)"
    r"|(?:in |during )?(?:which|what) (?:fiscal|financial) (?P<asked>quarter|year)s?(?= |$)"
    r"|and (?:fiscal|financial) (?P<also>quarter|year)(?= |$))"
)
MENTION = re.compile(r"(?:^| )(?:fiscal|fy(?: ?(?:\d{2}|\d{4}))?)(?= |$|'s)")
_OFFSETS = {"this": 0, "current": 0, "last": -1, "previous": -1, "past": -1, "next": 1}


def spoken(reading: Reading, at: int, today: dt.date | None, rules: Rules) -> tuple[Period, int] | None:
    """The fiscal period that begins at this word, and the word after it."""
    hit = reading.match_at(_SPOKEN, at) if rules.fiscal_month is not None else None
    period = _period(hit[1].groupdict(), today, rules) if hit is not None else None
    return (period, hit[0]) if hit is not None and period is not None else None


def _period(g: dict[str, str | None], today: dt.date | None, rules: Rules) -> Period | None:
    said = g["y1"] or g["y2"] or g["y3"] or g["y4"]
    quarter = g["q1"] or g["q2"] or g["q3"] or g["q4"]
    if said is not None:
        year = int(said) if len(said) == 4 else 2000 + int(said)
        if quarter is not None:
            return periods.fiscal_quarter(year, int(quarter), rules)
        return periods.fiscal_year(year, rules)
    if today is None:
        return None
    if quarter is None:
        return periods.around(today, f"fiscal_{g['unit']}", _OFFSETS[g["this"] or "this"], rules)
    # Without a year, the latest one that has begun.
    year = rules.fiscal_year(today)
    found = periods.fiscal_quarter(year, int(quarter), rules)
    return found if found.first <= today else periods.fiscal_quarter(year - 1, int(quarter), rules)


def to_date(reading: Reading, at: int, rules: Rules) -> int | None:
    """The word after `fiscal year to date`."""
    hit = reading.match_at(_TO_DATE, at) if rules.fiscal_month is not None else None
    return hit[0] if hit is not None else None


def buckets(reading: Reading) -> list[tuple[int, int, str, bool]]:
    """Fiscal periods that a question groups by: the words, the bucket, and whether it is what the question asks for."""
    found: list[tuple[int, int, str, bool]] = []
    for start, end, match in reading.find(_BUCKET):
        unit = match["unit"] or match["asked"] or match["also"]
        found.append((start, end, f"fiscal_{unit}", bool(match["asked"])))
    return found
