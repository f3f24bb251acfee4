"""Periods that a question groups by or asks for: `per month`, `daily`, `which year`, `over time`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sandtable.planner.language import fiscal
from sandtable.planner.language.reading import Reading

_UNIT = "minute|hour|day|week|month|quarter|year"
_BUCKET = re.compile(
    r"(?:(?:by |per |each |in |for |on )?(?:which |what )?(?:the )?(?P<week>days? of (?:the )?week|weekdays?)(?= |$)"
    r"|(?:by |per |each |in |at |what |which )?(?:the )?(?P<clock>hours? of (?:the )?day|time of (?:the )?day)(?= |$)"
    r"|(?:by |per |each |in )?(?:the )?(?P<calendar>months? of (?:the )?year|calendar months?)(?= |$)"
    rf"|(?:per|by|each|every|for each|for every|in each|of each|by each|by the|per each|on each|broken down by|"
    rf"grouped by|split by) (?P<unit>{_UNIT})(?= |$)"
    r"|(?P<adverb>hourly|daily|weekly|monthly|quarterly|yearly|annually|annual)(?= |$)"
    r"|(?P<over>(?:week|month|quarter|year|day) (?:over|by|on|to|after) (?:week|month|quarter|year|day))(?= |$)"
    r"|(?P<short>mom|yoy|qoq|wow)(?= |$)"
    r"|(?P<trend>over time|trends?|timeline|time series|evolution)(?= |$)"
    r"|(?:in |on |during )?(?:which|what) (?P<asked>day|week|month|quarter|year|hour)s?(?= |$)"
    r"|and (?P<also>hour|day|week|month|quarter|year)(?= |$))"
)
_GROUPED = re.compile(r"(?:^|.* )(?:by|per|each|every|which|what)(?: \w+){1,3} $")
_ADVERBS = {
    "hourly": "hour", "daily": "day", "weekly": "week", "monthly": "month", "quarterly": "quarter",
    "yearly": "year", "annual": "year", "annually": "year",
}  # fmt: skip
_SHORT = {"mom": "month", "yoy": "year", "qoq": "quarter", "wow": "week"}


@dataclass(frozen=True, slots=True)
class Bucket:
    start: int
    end: int
    unit: str
    """A bucket of the plan language; `auto` when the question leaves it open."""
    asked: bool = False
    """Whether the period itself is the answer: which month had …"""
    change: bool = False


def find_buckets(reading: Reading, *, in_fiscal: bool = False) -> list[Bucket]:
    """`in_fiscal`: fiscal quarters and years are known."""
    found = _fiscal(reading) if in_fiscal else []
    for start, end, match in reading.find(_BUCKET):
        if not reading.free(start, end):
            continue
        g = match.groupdict()
        if g["also"]:
            if _GROUPED.search(reading.line[: match.start()]):
                found.append(Bucket(start, end, g["also"]))
        elif g["unit"]:
            found.append(Bucket(start, end, g["unit"]))
        elif g["adverb"]:
            found.append(Bucket(start, end, _ADVERBS[g["adverb"]]))
        elif g["over"]:
            found.append(_repeated(start, end, g["over"]))
        elif g["short"]:
            found.append(Bucket(start, end, _SHORT[g["short"]], change=True))
        elif g["trend"]:
            found.append(Bucket(start, end, "auto"))
        elif g["asked"]:
            found.append(Bucket(start, end, g["asked"], asked=True))
        else:
            unit = "day_of_week" if g["week"] else "hour_of_day" if g["clock"] else "month_of_year"
            found.append(
                Bucket(start, end, unit, asked=match.group().startswith(("which", "what", "on wh", "in wh")))
            )
    return found


def _fiscal(reading: Reading) -> list[Bucket]:
    found = (Bucket(start, end, unit, asked) for start, end, unit, asked in fiscal.buckets(reading))
    return [bucket for bucket in found if reading.free(bucket.start, bucket.end)]


def _repeated(start: int, end: int, text: str) -> Bucket:
    """`month over month` is a change, `month by month` only a series."""
    words = text.split()
    return Bucket(start, end, words[0], change=words[0] == words[-1] and words[1] in {"over", "on", "to"})
