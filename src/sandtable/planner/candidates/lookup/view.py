"""One table as the scorer sees it: each column's stems with their weight, its kind and its statistics.

Invariant: a pure function of the index and the table; made once for an index and kept as long as it lives.
"""

from __future__ import annotations

import re
import weakref
from collections import Counter, defaultdict
from dataclasses import dataclass

from sandtable.catalog.profile import Cell
from sandtable.planner.language.synonyms import related
from sandtable.planner.language.words import parse_number, split_words, stem
from sandtable.planner.schema.index import ColumnEntry, SchemaIndex, TableEntry

_SAMPLE = 40
_SMALL = frozenset("a an the of in on at to for from by with and or per s".split())
_DATE = re.compile(
    r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b.*\d|\d.*\b(?:jan|feb|mar|apr|may|jun|jul|aug"
    r"|sep|oct|nov|dec)[a-z]*\b|^\d{4}-\d\d-\d\d|^\d{1,2}[/.]\d{1,2}[/.]\d{2,4}$"
)
_YEARS = re.compile(r"^(?:1[5-9]|20)\d\d(?:\s*[-–/]\s*(?:\d{2}|\d{4}|present))?$")
_SCORE = re.compile(r"^[a-z]?\s*\d+\s*[-–:]\s*\d+")
_MEASURE = re.compile(r"^[$€£#]?\s*-?\d[\d,.\s]*\s*[%a-z\"'°/]{0,6}\.?(?:\s*\(.*\))?$")
_PARENTHESES = re.compile(r"\(([^)]*)\)")

PREFIX = 5
"""Words that share so many first letters may be forms of each other: `elect`, `election`."""


@dataclass(frozen=True, slots=True)
class ColumnView:
    entry: ColumnEntry
    place: int
    stems: tuple[str, ...]
    weights: tuple[float, ...]
    """How much of the name each stem is; they add up to 1."""
    kind: str
    """`n` number, `y` year, `d` date, `r` score, `m` measure, `b` true or false, `t1` `t2` `t3` text by its words."""
    spread: int
    """0 to 3: from a few recurring values to a different value in every row."""
    low: float | None
    high: float | None
    """The range of a number column, as far as it is known."""

    def allows(self, op: str, value: float) -> bool:
        """Whether a comparison with that number can hold for any row."""
        if self.low is None or self.high is None:
            return True
        return (
            value < self.high
            if op == ">"
            else value > self.low
            if op == "<"
            else self.low <= value <= self.high
        )

    @property
    def numeric(self) -> bool:
        return self.entry.numeric


@dataclass(frozen=True, slots=True)
class TableView:
    entry: TableEntry
    columns: tuple[ColumnView, ...]
    places: dict[str, int]
    exact: dict[str, tuple[tuple[int, int], ...]]
    """Stem → column and word in its name."""
    akin: dict[str, tuple[tuple[int, int], ...]]
    """The same for stems that may stand for the name's own."""
    prefixes: dict[str, tuple[tuple[int, int], ...]]
    initials: dict[str, tuple[int, ...]]
    """First letters of a name of several words → its columns: `os` for operating system."""
    longest: int
    """Characters of the longest known value."""


_kept: dict[int, tuple[weakref.ref[SchemaIndex], dict[str, TableView]]] = {}
"""Keyed by the `id` of the index; an entry is removed with its index, before another one can get the same id."""


def table_view(index: SchemaIndex, table: str) -> TableView | None:
    key = id(index)
    kept = _kept.get(key)
    if kept is None:
        views: dict[str, TableView] = {}
        kept = (weakref.ref(index, lambda _: _kept.pop(key, None)), views)
        _kept[key] = kept
    name = table.lower()
    if name not in kept[1]:
        entry = index.table(table)
        if entry is None:
            return None
        kept[1][name] = _view(entry)
    return kept[1][name]


def _view(entry: TableEntry) -> TableView:
    shared = Counter(word for column in entry.columns for word in set(column.stems))
    columns = tuple(_column(column, place, shared, entry.rows) for place, column in enumerate(entry.columns))
    exact: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    akin: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    prefixes: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    initials: defaultdict[str, list[int]] = defaultdict(list)
    for column in columns:
        for at, word in enumerate(column.stems):
            exact[word].append((column.place, at))
            for other in sorted(related(word)):
                akin[other].append((column.place, at))
            if len(word) >= PREFIX:
                prefixes[word[:PREFIX]].append((column.place, at))
        joined = "".join(column.stems)
        if len(column.stems) > 1:
            initials["".join(word[0] for word in column.stems)].append(column.place)
        if len(column.stems) == 2:
            exact[joined].extend([(column.place, 0), (column.place, 1)])
    return TableView(
        entry,
        columns,
        {column.entry.name: column.place for column in columns},
        {word: tuple(found) for word, found in exact.items()},
        {word: tuple(found) for word, found in akin.items()},
        {word: tuple(found) for word, found in prefixes.items()},
        {letters: tuple(found) for letters, found in initials.items()},
        max((_length(column) for column in entry.columns), default=0),
    )


def _length(entry: ColumnEntry) -> int:
    return max((len(str(one.value)) for one in entry.profile.values), default=0) if entry.profile else 0


def _column(entry: ColumnEntry, place: int, shared: Counter[str], rows: int | None) -> ColumnView:
    aside = {stem(w.lower) for part in _PARENTHESES.findall(entry.name) for w in split_words(part)}
    outer = [word for word in entry.stems if word not in aside]
    unit_only = bool(outer) and any(shared[word] == 1 for word in outer)
    raw = [
        (0.25 if word in _SMALL else 0.3 if unit_only and word in aside else 1.0) / shared[word] ** 0.5
        for word in entry.stems
    ]
    total = _added(raw)
    low, high = _range(entry)
    return ColumnView(
        entry,
        place,
        entry.stems,
        tuple(part / total for part in raw),
        _kind(entry),
        _spread(entry, rows),
        low,
        high,
    )


def _range(entry: ColumnEntry) -> tuple[float | None, float | None]:
    if not entry.numeric or entry.profile is None:
        return None, None
    return _number(entry.profile.minimum), _number(entry.profile.maximum)


def _number(cell: Cell) -> float | None:
    return parse_number(cell) if isinstance(cell, str) else None if cell is None else float(cell)


def _added(numbers: list[float]) -> float:
    """In order: `sum` rounds differently from one Python version to the next."""
    total = 0.0
    for number in numbers:
        total += number
    return total


def _spread(entry: ColumnEntry, rows: int | None) -> int:
    if entry.profile is None or not rows:
        return 2
    share = entry.profile.distinct / rows
    return (share > 0.2) + (share > 0.5) + (share > 0.9)


def _kind(entry: ColumnEntry) -> str:
    if entry.boolean:
        return "b"
    if entry.temporal:
        return "d"
    cells = [counted.value for counted in entry.profile.values[:_SAMPLE]] if entry.profile else []
    if entry.numeric:
        return "y" if cells and all(_is_year(cell) for cell in cells) else "n"
    return _text_kind([str(cell).lower() for cell in cells if cell is not None])


def _text_kind(cells: list[str]) -> str:
    most = 0.6 * len(cells)
    for kind, pattern in (("d", _DATE), ("y", _YEARS), ("r", _SCORE), ("m", _MEASURE)):
        if cells and sum(pattern.search(cell) is not None for cell in cells) > most:
            return kind
    words = sum(len(cell.split()) for cell in cells) / max(1, len(cells))
    return "t1" if words < 1.5 else "t2" if words < 2.7 else "t3"


def _is_year(cell: Cell) -> bool:
    return isinstance(cell, int) and 1500 <= cell < 2100
