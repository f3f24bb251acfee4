"""What the words of a question may refer to: columns, values, numbers with units, times, parts of texts."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sandtable.catalog.units import canonical, units_like
from sandtable.planner.language import periods
from sandtable.planner.language.buckets import find_buckets
from sandtable.planner.language.demonyms import COUNTRIES
from sandtable.planner.language.periods import Period
from sandtable.planner.language.reading import Reading
from sandtable.planner.language.spoken_before import moved, preceding
from sandtable.planner.language.times import Calendar, find_periods, find_time_phrases
from sandtable.planner.language.vocabulary import FILLER, NEVER_VALUES
from sandtable.planner.language.words import read_number, stem
from sandtable.planner.mentions.finding import now_of
from sandtable.planner.mentions.matching import Match, find_mentions
from sandtable.planner.mentions.values import ValueMatch, find_near, find_quoted, find_values
from sandtable.planner.schema.index import SchemaIndex

_FEW = 4
_ONE = frozenset({"a", "an"})
"""Words that are one before a unit: an hour."""
_NO_UNITS = frozenset("in share ratio percent pct percentage fraction".split())
"""Words that name a unit and mean something else in a question."""
_PARTS_OF_TEXTS = frozenset(
    stem(w)
    for w in (
        "contains including starts begins ends name called named mentions about text title path note numbered letter "
        "word"
    ).split()
)
_BEFORE_TEXTS = frozenset({"with", "letter", "by", "word"})
_LATER = re.compile(r"(?:or|and) (?:later|after|newer)|onwards?")
_EARLIER = re.compile(r"(?:or|and) (?:earlier|before|older)")
_FROM_START = re.compile(r"(?:since|from|starting) the (?:very )?(?:start|beginning)(?: of)?$")
_TO_END = re.compile(r"(?:to|until|till|through|by) the (?:very )?end(?: of)?$")
_PAST_END = re.compile(r"(?:after|since) the (?:very )?end(?: of)?$")
_BEFORE_START = re.compile(r"before the (?:very )?(?:start|beginning)(?: of)?$")
Window = tuple[tuple[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Amount:
    """A number with the unit that follows it."""

    value: float
    unit: str
    start: int
    end: int


@dataclass(slots=True)
class References:
    """What the words of the question may refer to."""

    reading: Reading
    mentions: list[Match]
    values: list[ValueMatch]
    numbers: list[Amount]
    units: list[tuple[int, int, str]]
    windows: list[tuple[int, int, Window]]
    texts: list[tuple[int, int, str]]
    buckets: list[tuple[int, int]]
    stems: frozenset[str]


def find_references(question: str, index: SchemaIndex, window: dict[str, Any] | None = None) -> References:
    """`window` is that of the previous answer: a month without a year is one of the same year."""
    reading = Reading.of(question)
    mine = periods.of_window(window, now_of(index), index.rules) if window else None
    quoted = find_quoted(reading, index)
    phrases = find_time_phrases(reading, Calendar.at(now_of(index), index.rules))
    buckets = [(b.start, b.end) for b in find_buckets(reading, in_fiscal=index.in_fiscal)]
    values = [*quoted, *find_values(reading, index)]
    mentions = find_mentions(reading, index)
    numbers = list(_numbers(reading))
    values += _numbers_as_values(reading, numbers, index)
    units = [(at, at + 1, unit) for at in range(len(reading)) if (unit := _unit(reading, at))]
    covered = {at for v in values for at in range(v.start, v.end)}
    covered |= {at for m in mentions for at in range(m.start, m.end)}
    covered |= {at for s in phrases for at in range(s.start, s.end)}
    for at, word in enumerate(reading.words):
        if word.is_symbol or word.lower in FILLER or word.lower in NEVER_VALUES:
            continue
        near = find_near(reading, index, at, at + 1) if at not in covered else None
        if near is not None and len(near.hits) <= _FEW:
            values.append(near)
        country = COUNTRIES.get(word.lower)
        if country is not None and (hits := index.find_value(country)):
            values.append(ValueMatch(at, at + 1, word.text, hits, quality=0.8))
        kin = index.values_of_root(word.lower)
        if 0 < len(kin) <= _FEW:
            values.append(ValueMatch(at, at + 1, word.text, kin, quality=0.6))
    texts = [(v.start, v.end, v.text) for v in quoted] or list(_named_texts(reading))
    windows: list[tuple[int, int, Window]] = [
        (s.start, s.end, _window(reading, s.start, s.end, s.window, s.period, mine)) for s in phrases
    ]
    known = {window for _, _, window in windows}
    for start, end, period in find_periods(reading, Calendar.at(now_of(index), index.rules)):
        found = _window(reading, start, end, dict(period.window), period, mine)
        if found not in known:
            windows.append((start, end, found))
    if mine is not None:
        windows += [(a, b, tuple(sorted(p.window.items()))) for a, b, p in preceding(reading, mine)]
    windows = _one_for_each_span(reading, windows)
    stems = frozenset(w.stem for w in reading.words if not w.is_symbol)
    return References(reading, mentions, values, numbers, units, windows, texts, buckets, stems)


def _window(
    reading: Reading, start: int, end: int, window: dict[str, Any], said: Period | None, mine: Period | None
) -> Window:
    """The window as it is compared, after an answer about `mine`."""
    if mine is not None and said is not None and window.keys() == {"from", "to"}:
        window = dict(moved(reading, start, end, said, mine).window)
    return tuple(sorted(window.items()))


def _named_texts(reading: Reading) -> Iterator[tuple[int, int, str]]:
    """Words that a part of a text may be compared with, where the question refers to such parts."""
    if not any(word.stem in _PARTS_OF_TEXTS for word in reading.words):
        return
    for at, word in enumerate(reading.words):
        led = at > 0 and reading.words[at - 1].lower in _BEFORE_TEXTS
        if not word.is_symbol and (led or (word.lower not in FILLER and word.stem not in _PARTS_OF_TEXTS)):
            yield at, at + 1, word.text


def _one_for_each_span(
    reading: Reading, windows: list[tuple[int, int, Window]]
) -> list[tuple[int, int, Window]]:
    """The windows, one for the same words: the network could not distinguish two. `in 2021 or later` has no end."""
    found: dict[tuple[int, int], Window] = {}
    for start, end, window in windows:
        found.setdefault((start, end), _open_end(reading, start, end, window))
    return [(start, end, window) for (start, end), window in found.items()]


def _open_end(reading: Reading, start: int, end: int, window: Window) -> Window:
    bounds = dict(window)
    if bounds.keys() != {"from", "to"}:
        return window
    words = [word.lower for word in reading.words]
    before, after = " ".join(words[max(0, start - 4) : start]), " ".join(words[end : end + 2])
    if _LATER.match(after) or _FROM_START.search(before):
        return (("from", bounds["from"]),)
    if _EARLIER.match(after) or _TO_END.search(before):
        return (("to", bounds["to"]),)
    if _PAST_END.search(before):
        return (("from", _moved(bounds["to"], 1)),)
    return (("to", _moved(bounds["from"], -1)),) if _BEFORE_START.search(before) else window


def _moved(day: str, days: int) -> str:
    return (dt.date.fromisoformat(day[:10]) + dt.timedelta(days=days)).isoformat()


def _numbers(reading: Reading) -> Iterator[Amount]:
    at = 0
    while at < len(reading):
        number = read_number(reading.words, at)
        if number is not None:
            end = max(number.end, at + 1)
            unit = (
                "%" if number.percent else _unit(reading, end) or _unit_of_range(reading, number.start, end)
            )
            yield Amount(number.value, unit, number.start, end)
            at = end
        elif reading.words[at].lower in _ONE and (unit := _unit(reading, at + 1)):
            half = at > 0 and reading.words[at - 1].lower == "half"
            yield Amount(0.5 if half else 1.0, unit, at, at + 2)
            at += 2
        else:
            at += 1


def _unit_of_range(reading: Reading, start: int, end: int) -> str:
    """The unit of `between 2 and 4 hours`, of which the first number is read."""
    if reading.lower(start - 1) not in {"between", "from"} or reading.lower(end) not in {"and", "to"}:
        return ""
    other = read_number(reading.words, end + 1) if end + 1 < len(reading) else None
    return _unit(reading, other.end) if other is not None else ""


def _unit(reading: Reading, at: int) -> str:
    """The unit that the word names; an empty text when it names none."""
    word = reading.words[at].lower if at < len(reading) else ""
    is_unit = len(word) > 1 and word not in _NO_UNITS and bool(units_like(word))
    return canonical(word) if is_unit else ""


def _numbers_as_values(reading: Reading, numbers: list[Amount], index: SchemaIndex) -> Iterator[ValueMatch]:
    """Digits that are a text cell: a year in a column of texts."""
    for number in numbers:
        text = reading.written(number.start, number.end)
        hits = tuple(h for h in index.find_value(text) if isinstance(h.value, str))
        if hits:
            yield ValueMatch(number.start, number.end, text, hits)
