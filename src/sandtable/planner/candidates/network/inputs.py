"""A question and a dataset as the network reads them: pieces with marks, and the things a sketch may point at.

The pieces of the question come first, then those of tables, columns and metrics. `Inputs.items` lists everything that
a sketch of this question may point at, each with the pieces it stands on. A dataset that is too wide for the network
loses the columns that the question speaks of least.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from sandtable.catalog.model import ColumnType
from sandtable.planner.candidates.network.pieces import Pieces
from sandtable.planner.candidates.network.sketch import Item
from sandtable.planner.language.reading import Reading
from sandtable.planner.language.times import Calendar, find_buckets, find_periods, find_spells
from sandtable.planner.language.vocabulary import FILLER, NEVER_VALUES
from sandtable.planner.language.words import Number, read_number, split_words, stem
from sandtable.planner.mentions.finding import now_of
from sandtable.planner.mentions.matching import Match, find_mentions
from sandtable.planner.mentions.values import ValueMatch, find_near, find_quoted, find_values
from sandtable.planner.schema.columns import is_identifier
from sandtable.planner.schema.entries import ColumnEntry, MetricEntry, TableEntry
from sandtable.planner.schema.index import SchemaIndex

SIZE = 192
"""Pieces at most."""
MOST_WORDS = 48
MOST_ITEMS = 160
MOST_VALUES = 24
QUESTION, TABLE, COLUMN, COLUMN_MORE, DETAIL, METRIC, METRIC_MORE, SPECIAL = range(8)
PARTS = 8
_TYPES = {
    ColumnType.TEXT: 1,
    ColumnType.INTEGER: 2,
    ColumnType.DECIMAL: 3,
    ColumnType.FLOAT: 3,
    ColumnType.BOOLEAN: 4,
    ColumnType.DATE: 5,
    ColumnType.TIMESTAMP: 6,
}
_OTHER, _NUMBER, _WINDOW, _VALUE, _QUOTED, _BUCKET = 7, 8, 9, 10, 11, 12
TYPES = 13
EXACT, PARTLY, HAS_VALUE, MAIN_TIME, KEY = 1, 2, 4, 8, 16
MARKS = 32
_DETAIL_WORDS = 6
_FEW = 4
_MOST_HITS = 6
"""Columns that one value may stand in, the most frequent first."""
_PARTS_OF_TEXTS = frozenset(
    stem(w) for w in "contains including starts begins ends name called named mentions".split()
)


@dataclass(slots=True)
class Placed:
    """An item with the pieces it stands on; a value also with those of its column."""

    item: Item
    start: int
    end: int
    column: int = -1
    """The place of a value's column among the items."""


@dataclass(slots=True)
class Inputs:
    pieces: list[int] = field(default_factory=list[int])
    parts: list[int] = field(default_factory=list[int])
    types: list[int] = field(default_factory=list[int])
    marks: list[int] = field(default_factory=list[int])
    items: list[Placed] = field(default_factory=list[Placed])

    def add(self, numbers: tuple[int, ...], part: int, kind: int = 0, mark: int = 0) -> None:
        self.pieces.extend(numbers)
        self.parts.extend([part] * len(numbers))
        self.types.extend([kind] * len(numbers))
        self.marks.extend([mark] * len(numbers))


@dataclass(slots=True)
class _Heard:
    """What the words of the question may speak of."""

    reading: Reading
    mentions: list[Match]
    values: list[ValueMatch]
    numbers: list[Number]
    windows: list[tuple[int, int, tuple[tuple[str, Any], ...]]]
    texts: list[tuple[int, int, str]]
    buckets: list[tuple[int, int]]
    stems: frozenset[str]


def inputs_of(question: str, index: SchemaIndex, pieces: Pieces) -> Inputs:
    heard = _hear(question, index)
    made = Inputs()
    spans = _say(made, heard, pieces)
    columns = _tables(made, heard, index, pieces)
    _metrics(made, heard, index, pieces)
    made.add((pieces.end,), SPECIAL)
    _point(made, heard, spans, columns)
    return made


def _hear(question: str, index: SchemaIndex) -> _Heard:
    reading = Reading.of(question)
    quoted = find_quoted(reading, index)
    spells = find_spells(reading, Calendar.at(now_of(index)))
    buckets = [(b.start, b.end) for b in find_buckets(reading)]
    values = [*quoted, *find_values(reading, index)]
    mentions = find_mentions(reading, index)
    numbers = list(_numbers(reading))
    values += _numbers_as_values(reading, numbers, index)
    covered = {at for v in values for at in range(v.start, v.end)}
    covered |= {at for m in mentions for at in range(m.start, m.end)}
    covered |= {at for s in spells for at in range(s.start, s.end)}
    for at, word in enumerate(reading.words):
        if word.is_symbol or word.lower in FILLER or word.lower in NEVER_VALUES:
            continue
        near = find_near(reading, index, at, at + 1) if at not in covered else None
        if near is not None and len(near.hits) <= _FEW:
            values.append(near)
        kin = index.values_of_root(word.lower)
        if 0 < len(kin) <= _FEW:
            values.append(ValueMatch(at, at + 1, word.text, kin, quality=0.6))
    texts = [(v.start, v.end, v.text) for v in quoted] or list(_named_texts(reading))
    windows = [(s.start, s.end, tuple(sorted(s.window.items()))) for s in spells]
    known = {window for _, _, window in windows}
    for start, end, period in find_periods(reading, Calendar.at(now_of(index))):
        window = tuple(sorted(period.window.items()))
        if window not in known:
            windows.append((start, end, window))
    stems = frozenset(w.stem for w in reading.words if not w.is_symbol)
    return _Heard(reading, mentions, values, numbers, windows, texts, buckets, stems)


def _named_texts(reading: Reading) -> Iterator[tuple[int, int, str]]:
    """Words that a part of a text may be compared with, where the question speaks of such parts."""
    if not any(word.stem in _PARTS_OF_TEXTS for word in reading.words):
        return
    for at, word in enumerate(reading.words):
        if not word.is_symbol and word.lower not in FILLER and word.stem not in _PARTS_OF_TEXTS:
            yield at, at + 1, word.text


def _numbers(reading: Reading) -> Iterator[Number]:
    at = 0
    while at < len(reading):
        number = read_number(reading.words, at)
        if number is None:
            at += 1
        else:
            yield number
            at = max(number.end, at + 1)


def _numbers_as_values(reading: Reading, numbers: list[Number], index: SchemaIndex) -> Iterator[ValueMatch]:
    """Digits that are a text cell: a year in a column of texts."""
    for number in numbers:
        text = reading.written(number.start, number.end)
        hits = tuple(h for h in index.find_value(text) if isinstance(h.value, str))
        if hits:
            yield ValueMatch(number.start, number.end, text, hits)


def _say(made: Inputs, heard: _Heard, pieces: Pieces) -> list[tuple[int, int]]:
    """The question's pieces, and for each of its words where they are."""
    kinds, marks = [0] * len(heard.reading), [0] * len(heard.reading)
    for start, end in heard.buckets:
        kinds[start:end] = [_BUCKET] * (end - start)
    for value in heard.values:
        kinds[value.start : value.end] = [_QUOTED if value.quoted else _VALUE] * (value.end - value.start)
    for number in heard.numbers:
        kinds[number.start : number.end] = [_NUMBER] * (number.end - number.start)
    for start, end, _ in heard.windows:
        kinds[start:end] = [_WINDOW] * (end - start)
    for match in heard.mentions:
        mark = EXACT if match.coverage >= 0.99 else PARTLY
        if isinstance(match.target, TableEntry):
            mark = HAS_VALUE
        elif isinstance(match.target, MetricEntry):
            mark = MAIN_TIME
        for at in range(match.start, match.end):
            marks[at] |= mark
    made.add((pieces.start,), SPECIAL)
    spans: list[tuple[int, int]] = []
    for at, word in enumerate(heard.reading.words):
        begin = len(made.pieces)
        if at < MOST_WORDS:
            made.add(pieces.of_word(word.lower), QUESTION, kinds[at], marks[at])
        spans.append((begin, len(made.pieces)))
    made.add((pieces.end,), SPECIAL)
    return spans


def _tables(made: Inputs, heard: _Heard, index: SchemaIndex, pieces: Pieces) -> dict[tuple[str, str], int]:
    """Tables with their columns, as many as there is room for; the places of the columns among the items."""
    matched = _matched(heard)
    linked = {(h.table, h.column) for v in heard.values for h in v.hits}
    words = {c.ref: _words(c, heard) for t in index.tables for c in t.columns}
    kept = _kept(index, matched, linked, words, pieces, SIZE - len(made.pieces) - 2)
    columns: dict[tuple[str, str], int] = {}
    for table in index.tables:
        shown = [c for c in table.columns if c.ref in kept]
        if not shown:
            continue
        mark = max((m for (t, n), m in matched.items() if t == table.name and not n), default=0)
        begin = len(made.pieces)
        for word in table.words or (table.name.lower(),):
            made.add(pieces.of_word(word), TABLE, 0, mark)
        made.items.append(Placed(Item("table", table.name), begin, len(made.pieces)))
        for column in shown:
            mark = matched.get((table.name, column.name), 0)
            mark |= HAS_VALUE * ((table.name, column.name) in linked)
            mark |= MAIN_TIME * (column.name == table.time_column) | KEY * is_identifier(column)
            kind = _TYPES.get(column.type, _OTHER)
            begin = len(made.pieces)
            names, details = words[column.ref]
            for at, word in enumerate(names):
                made.add(pieces.of_word(word), COLUMN if at == 0 else COLUMN_MORE, kind, mark)
            end = len(made.pieces)
            for word in details:
                made.add(pieces.of_word(word), DETAIL, kind, mark)
            columns[table.name, column.name] = len(made.items)
            made.items.append(Placed(Item("column", table.name, column.name), begin, end))
    return columns


def _matched(heard: _Heard) -> dict[tuple[str, str], int]:
    """Tables and columns that words name, with how well."""
    found: dict[tuple[str, str], int] = {}
    for match in heard.mentions:
        mark = EXACT if match.coverage >= 0.99 else PARTLY
        if isinstance(match.target, ColumnEntry):
            key = (match.target.table, match.target.name)
        elif isinstance(match.target, TableEntry):
            key = (match.target.name, "")
        else:
            continue
        found[key] = EXACT if EXACT in (mark, found.get(key)) else mark
    return found


def _words(column: ColumnEntry, heard: _Heard) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The name's words, and what else may tell what the column is: its unit, and a description that is spoken of."""
    details: list[str] = []
    if column.unit and column.unit.lower() not in column.words:
        details += [w.lower for w in split_words(column.unit)][:2]
    if column.description_stems & heard.stems:
        details += [w.lower for w in split_words(column.description) if w.stem in heard.stems][:_DETAIL_WORDS]
    return column.words[:8], tuple(details)


def _kept(
    index: SchemaIndex,
    matched: dict[tuple[str, str], int],
    linked: set[tuple[str, str]],
    words: dict[str, tuple[tuple[str, ...], tuple[str, ...]]],
    pieces: Pieces,
    room: int,
) -> frozenset[str]:
    """The columns that fit: those that words or values name, then those of spoken tables, then in order."""
    spoken = {t for t, n in matched if not n} | {t for t, _ in linked}
    ranked: list[tuple[float, int, ColumnEntry, int]] = []
    for number, table in enumerate(index.tables):
        for column in table.columns:
            names, details = words[column.ref]
            length = sum(len(pieces.of_word(word)) for word in (*names, *details))
            merit = 4.0 * (matched.get((table.name, column.name), 0) == EXACT)
            merit += 2.0 * ((table.name, column.name) in matched) + 4.0 * (
                (table.name, column.name) in linked
            )
            merit += 1.5 * (table.name in spoken) + 1.0 * (column.name == table.time_column)
            merit += 1.0 * bool(column.description_stems & set(details))
            ranked.append((-merit, number * 1000 + column.position, column, length))
    ranked.sort(key=lambda each: each[:2])
    room -= sum(3 for _ in index.tables) + 8 * len(index.metrics)
    kept: set[str] = set()
    for _, _, column, length in ranked:
        if length <= room and len(kept) < MOST_ITEMS - 60:
            kept.add(column.ref)
            room -= length
    return frozenset(kept)


def _metrics(made: Inputs, heard: _Heard, index: SchemaIndex, pieces: Pieces) -> None:
    for entry in index.metrics:
        if len(made.pieces) > SIZE - 10:
            return
        mark = 0
        for match in heard.mentions:
            if match.target is entry:
                mark |= EXACT if match.coverage >= 0.99 else PARTLY
        begin = len(made.pieces)
        for at, word in enumerate(entry.words[:5]):
            made.add(pieces.of_word(word)[:3], METRIC if at == 0 else METRIC_MORE, 0, mark)
        end = len(made.pieces)
        said = [w for w in split_words(entry.metric.description) if w.stem in heard.stems and not w.is_symbol]
        for word in said[:3]:
            made.add(pieces.of_word(word.lower)[:2], DETAIL, 0, mark)
        made.items.append(Placed(Item("metric", entry.metric.table, entry.metric.name), begin, end))


def _point(
    made: Inputs,
    heard: _Heard,
    spans: list[tuple[int, int]],
    columns: dict[tuple[str, str], int],
) -> None:
    """What the question itself names: values, numbers, windows, quoted texts."""
    seen: set[tuple[int, int, Item]] = set()

    def place(item: Item, start: int, end: int, column: int = -1) -> None:
        end = min(end, len(spans))
        if start >= end or start >= MOST_WORDS or len(made.items) >= MOST_ITEMS or (start, end, item) in seen:
            return
        begin, finish = spans[start][0], spans[min(end, MOST_WORDS) - 1][1]
        seen.add((start, end, item))
        made.items.append(Placed(item, begin, finish, column))

    count = 0
    for value in sorted(heard.values, key=lambda v: -v.score):
        for hit in value.hits[:_MOST_HITS]:
            column = columns.get((hit.table, hit.column))
            if column is not None and count < MOST_VALUES:
                place(Item("value", hit.table, hit.column, hit.value), value.start, value.end, column)
                count += 1
    for number in heard.numbers:
        percent = "%" if number.percent else ""
        place(Item("number", name=percent, value=number.value), number.start, number.end)
    for start, end, window in heard.windows:
        place(Item("window", value=window), start, end)
    for start, end, text in heard.texts:
        place(Item("text", value=text), start, end)


__all__ = ["MARKS", "PARTS", "SIZE", "TYPES", "Inputs", "Placed", "inputs_of"]
