"""A question and a dataset as the network reads them: pieces with marks, and the things a sketch may point at.

The pieces of the question come first, then in a conversation those of the previous plan, then those of each table with
its columns and metrics; columns with few values are followed by them. `Inputs.items` lists everything that a sketch of
this question may point at, each with the pieces it stands on. Of a dataset that is too wide for the network, first
the values that the question does not name are dropped, then the columns that it mentions least.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sandtable.catalog.model import ColumnType
from sandtable.observing import timed_part
from sandtable.planner.candidates.network.pieces import Pieces
from sandtable.planner.candidates.network.recalling import recall
from sandtable.planner.candidates.network.references import References, find_references
from sandtable.planner.candidates.network.sketch import Item
from sandtable.planner.language.words import split_words
from sandtable.planner.schema.columns import is_identifier
from sandtable.planner.schema.entries import ColumnEntry, Json, MetricEntry, TableEntry
from sandtable.planner.schema.index import SchemaIndex

SIZE = 224
"""Pieces at most."""
MOST_WORDS = 48
MOST_ITEMS = 160
MOST_VALUES = 24
MOST_LISTED = 40
"""Values that no word names, of columns with few of them."""
MOST_RECALLED = 72
"""Pieces of the previous plan."""
QUESTION, TABLE, COLUMN, COLUMN_MORE, DETAIL, METRIC, METRIC_MORE, SPECIAL, LISTED, LISTED_MORE, BEFORE = (
    range(11)
)
PARTS = 11
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
EXACT, PARTLY, HAS_VALUE, MAIN_TIME, KEY, USED = 1, 2, 4, 8, 16, 32
MARKS = 64
_DETAIL_WORDS = 6
_FEW_VALUES = 8
_LONGEST_VALUE = 4
"""Pieces of a value that is listed."""
_MOST_HITS = 6
"""Columns that one value may stand in, the most frequent first."""


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
class _Before:
    """What the previous plan refers to."""

    columns: set[str] = field(default_factory=set[str])
    items: list[tuple[Item, int, int]] = field(default_factory=list[tuple[Item, int, int]])
    """Each with its first piece and the one after its last."""


@timed_part("linking")
def inputs_of(question: str, index: SchemaIndex, pieces: Pieces, before: Json | None = None) -> Inputs:
    """`before` is the plan of the answer that the question may follow."""
    references = find_references(question, index, before.get("time") if before else None)
    made = Inputs()
    spans = _say(made, references, pieces)
    past = _recall(made, before, index, pieces) if before else _Before()
    columns = _tables(made, references, past, index, pieces)
    made.add((pieces.end,), SPECIAL)
    _point(made, references, spans, columns)
    for item, start, end in past.items:
        place = columns.get((item.table, item.name), -1) if item.kind == "value" else -1
        if len(made.items) < MOST_ITEMS and (item.kind != "value" or place >= 0):
            made.items.append(Placed(item, start, end, place))
    return made


def _recall(made: Inputs, before: Json, index: SchemaIndex, pieces: Pieces) -> _Before:
    """The pieces of the previous plan."""
    found = _Before()
    kinds = {"number": _NUMBER, "window": _WINDOW, "value": _VALUE, "text": _QUOTED}
    first = len(made.pieces)
    for part in recall(before, index):
        numbers = tuple(n for word in part.words for n in pieces.of_word(word))
        begin = len(made.pieces)
        if begin - first + len(numbers) > MOST_RECALLED:
            break
        made.add(numbers, BEFORE, kinds.get(part.item.kind, 0) if part.item is not None else 0)
        if part.column:
            found.columns.add(part.column)
        if part.item is not None:
            found.items.append((part.item, begin, len(made.pieces)))
    made.add((pieces.end,), SPECIAL)
    return found


def _say(made: Inputs, references: References, pieces: Pieces) -> list[tuple[int, int]]:
    """The question's pieces, and for each of its words where they are."""
    kinds, marks = [0] * len(references.reading), [0] * len(references.reading)
    for start, end in references.buckets:
        kinds[start:end] = [_BUCKET] * (end - start)
    for value in references.values:
        kinds[value.start : value.end] = [_QUOTED if value.quoted else _VALUE] * (value.end - value.start)
    for number in references.numbers:
        kinds[number.start : number.end] = [_NUMBER] * (number.end - number.start)
    for start, end, _ in references.windows:
        kinds[start:end] = [_WINDOW] * (end - start)
    for match in references.mentions:
        mark = EXACT if match.coverage >= 0.99 else PARTLY
        if isinstance(match.target, TableEntry):
            mark = HAS_VALUE
        elif isinstance(match.target, MetricEntry):
            mark = MAIN_TIME
        for at in range(match.start, match.end):
            marks[at] |= mark
    made.add((pieces.start,), SPECIAL)
    spans: list[tuple[int, int]] = []
    for at, word in enumerate(references.reading.words):
        begin = len(made.pieces)
        if at < MOST_WORDS:
            made.add(pieces.of_word(word.lower), QUESTION, kinds[at], marks[at])
        spans.append((begin, len(made.pieces)))
    made.add((pieces.end,), SPECIAL)
    return spans


def _tables(
    made: Inputs, references: References, past: _Before, index: SchemaIndex, pieces: Pieces
) -> dict[tuple[str, str], int]:
    """Tables with their columns and metrics, as many as there is room for; where the columns are among the items."""
    matched = _matched(references)
    linked = {(h.table, h.column) for v in references.values for h in v.hits}
    words = {c.ref: _words(c, references) for t in index.tables for c in t.columns}
    metrics = {t.name: [m for m in index.metrics if m.metric.table == t.name] for t in index.tables}
    room = SIZE - len(made.pieces) - 2 - sum(_length(m, pieces) for m in index.metrics)
    kept, room = _kept(index, matched, linked, past.columns, words, pieces, room)
    named = {(h.table, h.column, h.value) for v in references.values for h in v.hits}
    named |= {(item.table, item.name, item.value) for item, _, _ in past.items if item.kind == "value"}
    listed = _listed(index, kept, named, pieces, room)
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
            mark |= USED * (column.ref in past.columns)
            kind = _TYPES.get(column.type, _OTHER)
            begin = len(made.pieces)
            names, details = words[column.ref]
            for at, word in enumerate(names):
                made.add(pieces.of_word(word), COLUMN if at == 0 else COLUMN_MORE, kind, mark)
            end = len(made.pieces)
            for word in details:
                made.add(pieces.of_word(word), DETAIL, kind, mark)
            place = columns[table.name, column.name] = len(made.items)
            made.items.append(Placed(Item("column", table.name, column.name), begin, end))
            for value, numbers in listed.get(column.ref, ()):
                begin = len(made.pieces)
                made.add(numbers[:1], LISTED, kind, 0)
                made.add(numbers[1:], LISTED_MORE, kind, 0)
                item = Item("value", table.name, column.name, value)
                made.items.append(Placed(item, begin, len(made.pieces), place))
        for entry in metrics[table.name]:
            _metric(made, references, entry, pieces)
    return columns


def _listed(
    index: SchemaIndex, kept: frozenset[str], named: set[tuple[str, str, Any]], pieces: Pieces, room: int
) -> dict[str, list[tuple[str, tuple[int, ...]]]]:
    """The values of columns that have few, by the column's reference; those that words name have their own places."""
    found: dict[str, list[tuple[str, tuple[int, ...]]]] = {}
    count = 0
    columns = [c for t in index.tables for c in t.columns if c.ref in kept and c.text and _has_few(c)]
    for column in sorted(columns, key=lambda c: len(c.profile.values) if c.profile else 0):
        values = [v.value for v in column.profile.values] if column.profile else []
        said = [
            (value, tuple(n for word in split_words(value) for n in pieces.of_word(word.lower)))
            for value in values
            if isinstance(value, str) and (column.table, column.name, value) not in named
        ]
        said = [(value, numbers) for value, numbers in said if 0 < len(numbers) <= _LONGEST_VALUE]
        length = sum(len(numbers) for _, numbers in said)
        if length <= room and count + len(said) <= MOST_LISTED:
            found[column.ref] = said
            room -= length
            count += len(said)
    return found


def _has_few(column: ColumnEntry) -> bool:
    profile = column.profile
    return profile is not None and profile.complete and 0 < profile.distinct <= _FEW_VALUES


def _matched(references: References) -> dict[tuple[str, str], int]:
    """Tables and columns that words name, with how well."""
    found: dict[tuple[str, str], int] = {}
    for match in references.mentions:
        mark = EXACT if match.coverage >= 0.99 else PARTLY
        if isinstance(match.target, ColumnEntry):
            key = (match.target.table, match.target.name)
        elif isinstance(match.target, TableEntry):
            key = (match.target.name, "")
        else:
            continue
        found[key] = EXACT if EXACT in (mark, found.get(key)) else mark
    return found


def _words(column: ColumnEntry, references: References) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The name's words, and what else describes the column: its unit, and a description that the question mentions."""
    details: list[str] = []
    if column.unit and column.unit.lower() not in column.words:
        details += [w.lower for w in split_words(column.unit)][:2]
    if column.description_stems & references.stems:
        details += [w.lower for w in split_words(column.description) if w.stem in references.stems][
            :_DETAIL_WORDS
        ]
    return column.words[:8], tuple(details)


def _kept(
    index: SchemaIndex,
    matched: dict[tuple[str, str], int],
    linked: set[tuple[str, str]],
    used: set[str],
    words: dict[str, tuple[tuple[str, ...], tuple[str, ...]]],
    pieces: Pieces,
    room: int,
) -> tuple[frozenset[str], int]:
    """The columns that fit, and the room left: first those that words or values name, then those of spoken tables."""
    spoken = {t for t, n in matched if not n} | {t for t, _ in linked}
    spoken |= {t.name for t in index.tables if any(c.ref in used for c in t.columns)}
    ranked: list[tuple[float, int, ColumnEntry, int]] = []
    for number, table in enumerate(index.tables):
        for column in table.columns:
            names, details = words[column.ref]
            length = sum(len(pieces.of_word(word)) for word in (*names, *details))
            merit = 4.0 * (matched.get((table.name, column.name), 0) == EXACT)
            merit += 2.0 * ((table.name, column.name) in matched) + 4.0 * (
                (table.name, column.name) in linked
            )
            merit += 5.0 * (column.ref in used)
            merit += 1.5 * (table.name in spoken) + 1.0 * (column.name == table.time_column)
            merit += 1.0 * bool(column.description_stems & set(details))
            ranked.append((-merit, number * 1000 + column.position, column, length))
    ranked.sort(key=lambda each: each[:2])
    room -= sum(len(pieces.of_word(w)) for t in index.tables for w in t.words or (t.name.lower(),))
    kept: set[str] = set()
    for _, _, column, length in ranked:
        if length <= room and len(kept) < MOST_ITEMS - 60:
            kept.add(column.ref)
            room -= length
    return frozenset(kept), room


def _length(entry: MetricEntry, pieces: Pieces) -> int:
    """Pieces of a metric at most."""
    return sum(len(pieces.of_word(word)[:3]) for word in entry.words[:5]) + 6


def _metric(made: Inputs, references: References, entry: MetricEntry, pieces: Pieces) -> None:
    mark = 0
    for match in references.mentions:
        if match.target is entry:
            mark |= EXACT if match.coverage >= 0.99 else PARTLY
    begin = len(made.pieces)
    for at, word in enumerate(entry.words[:5]):
        made.add(pieces.of_word(word)[:3], METRIC if at == 0 else METRIC_MORE, 0, mark)
    end = len(made.pieces)
    said = [
        w for w in split_words(entry.metric.description) if w.stem in references.stems and not w.is_symbol
    ]
    for word in said[:3]:
        made.add(pieces.of_word(word.lower)[:2], DETAIL, 0, mark)
    made.items.append(Placed(Item("metric", entry.metric.table, entry.metric.name), begin, end))


def _point(
    made: Inputs,
    references: References,
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
    for value in sorted(references.values, key=lambda v: -v.score):
        for hit in value.hits[:_MOST_HITS]:
            column = columns.get((hit.table, hit.column))
            if column is not None and count < MOST_VALUES:
                place(Item("value", hit.table, hit.column, hit.value), value.start, value.end, column)
                count += 1
    for number in references.numbers:
        place(Item("number", name=number.unit, value=number.value), number.start, number.end)
    for start, end, unit in references.units:
        place(Item("unit", value=unit), start, end)
    for start, end, window in references.windows:
        place(Item("window", value=window), start, end)
    for start, end, text in references.texts:
        place(Item("text", value=text), start, end)


__all__ = ["MARKS", "PARTS", "SIZE", "TYPES", "Inputs", "Placed", "inputs_of"]
