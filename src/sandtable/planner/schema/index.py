"""A dataset indexed for questions: its names as words and stems, its values under one key each.

Use: `index = SchemaIndex.build(dataset, profile)` once per version of a dataset, then
- `index.table("orders").columns` → `ColumnEntry` (words, stems, type, unit, profile, description stems);
- `index.find_value("asia pacific")` → every `ValueHit(table, column, value)` whose cell is that, case,
  accents, spaces and hyphens aside; numbers too (`find_value("1,200")` finds 1200), plurals of text too;
- `index.near_values("germny")` → the same with a typo; `index.values_with_word("acme")` → cells
  that contain the word.
Pure; work and memory are bounded by `MOST_KEYS` however wide the table is. Without a profile there are no values.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from functools import cached_property

from sandtable.catalog.calendar import Calendar
from sandtable.catalog.model import Dataset, Metric, Table
from sandtable.catalog.profile import Cell, Profile
from sandtable.planner.language.spelling import tolerated, within
from sandtable.planner.language.words import (
    number_key,
    parse_number,
    root,
    split_name,
    split_words,
    stem,
    value_key,
)
from sandtable.planner.schema.columns import unit_of_numbers
from sandtable.planner.schema.entries import ColumnEntry, MetricEntry, TableEntry
from sandtable.planner.schema.names import NameBook
from sandtable.planner.schema.other_names import OtherNames

__all__ = ["ColumnEntry", "MetricEntry", "SchemaIndex", "TableEntry", "ValueHit", "reach_of"]

MOST_KEYS = 60_000
"""Values in the index altogether; each column gets an equal part, its most frequent values first."""
LONGEST_VALUE = 120
MOST_IN_FEW = 40
"""Values of a column whose values are kinds of something: status, channel, grade."""
MOST_FUZZY = 4_000
"""Candidates that are compared letter by letter for one word."""


@dataclass(frozen=True, slots=True)
class ValueHit:
    table: str
    column: str
    value: Cell
    count: int
    """Rows that hold it."""


@dataclass(frozen=True)
class SchemaIndex:
    dataset: Dataset
    profile: Profile | None
    tables: tuple[TableEntry, ...]
    metrics: tuple[MetricEntry, ...]
    values: dict[str, tuple[ValueHit, ...]] = field(repr=False)
    """Value key (`words.value_key`, `words.number_key`) → where it occurs, most frequent first."""

    @staticmethod
    def build(dataset: Dataset, profile: Profile | None = None) -> SchemaIndex:
        tables = tuple(_table(table, profile) for table in dataset.tables)
        metrics = tuple(_metric(metric) for metric in dataset.metrics)
        return SchemaIndex(dataset, profile, tables, metrics, _values(tables))

    def table(self, name: str) -> TableEntry | None:
        return next((t for t in self.tables if t.name.lower() == name.lower()), None)

    def column(self, table: str, name: str) -> ColumnEntry | None:
        entry = self.table(table)
        return entry.column(name) if entry else None

    def find_value(self, text: str) -> tuple[ValueHit, ...]:
        """Cells that are this text or this number; a plural finds its singular."""
        key = value_key(text)
        hits = self.values.get(key, ())
        if not hits and (number := parse_number(text)) is not None:
            hits = self.values.get(number_key(number), ())
        if not hits and key.endswith("s") and len(key) > 3:
            hits = self.values.get(key[:-1], ())
            if not hits and key.endswith("ies"):
                hits = self.values.get(key[:-3] + "y", ())
            if not hits and key.endswith("es"):
                hits = self.values.get(key[:-2], ())
        if not hits and len(key) > 3 and key.isalpha() and not key.endswith("s"):
            hits = self.values.get(key + "s", ())
        return hits

    def near_values(self, text: str) -> tuple[ValueHit, ...]:
        """Cells whose spelling is a typo or two away: the nearest ones only, all equally near."""
        key = value_key(text)
        most = tolerated(len(key))
        if not most or len(key) < 5 or not key.isalpha():
            return ()
        best: list[str] = []
        nearest = most
        looked_at = 0
        for length in range(len(key) - most, len(key) + most + 1):
            for candidate in self._keys_by_shape.get((key[0], length), ()):
                looked_at += 1
                if looked_at > MOST_FUZZY:
                    break
                distance = within(key, candidate, nearest)
                if distance is None:
                    continue
                if distance < nearest:
                    best, nearest = [], distance
                best.append(candidate)
        return tuple(hit for candidate in best for hit in self.values[candidate])

    def values_with_word(self, word: str) -> tuple[ValueHit, ...]:
        """Text cells of several words, one of which is this one."""
        return self._hits_by_word.get(stem(word), ())

    def values_of_root(self, word: str) -> tuple[ValueHit, ...]:
        """Values of few-valued columns of which a word has this word's root: `rejection` finds Rejected."""
        return self._hits_by_root.get(root(word), ())

    @cached_property
    def units(self) -> dict[tuple[str, str], str]:
        """The units of columns of numbers, by table and name."""
        columns = (column for table in self.tables for column in table.columns if column.numeric)
        return {(column.table, column.name): unit_of_numbers(column) for column in columns}

    @cached_property
    def reach(self) -> dict[str, frozenset[str]]:
        """For each table those whose columns it may use."""
        return {table.name: frozenset(reach_of(self, table)) for table in self.tables}

    @cached_property
    def _hits_by_root(self) -> dict[str, tuple[ValueHit, ...]]:
        by_root: defaultdict[str, list[ValueHit]] = defaultdict(list)
        for table in self.tables:
            for column in table.columns:
                if column.text and column.profile and column.profile.distinct <= MOST_IN_FEW:
                    for _, hit in value_keys(column, MOST_IN_FEW):
                        for word in {root(w.lower) for w in split_words(str(hit.value)) if not w.is_symbol}:
                            by_root[word].append(hit)
        return {word: tuple(hits) for word, hits in by_root.items()}

    @cached_property
    def names(self) -> NameBook:
        """Every word of every name, for `mentions`."""
        return NameBook(self.dataset, self.tables, self.metrics)

    @cached_property
    def rules(self) -> Calendar:
        """When weeks and fiscal years begin. Where something is called `fiscal`, the word means that."""
        rules = Calendar.of(self.dataset)
        return replace(rules, fiscal_month=None) if self.has_fiscal_name else rules

    @cached_property
    def has_fiscal_name(self) -> bool:
        named = [*self.tables, *(c for t in self.tables for c in t.columns), *self.metrics]
        return any({"fiscal", "financial"} & set(entry.words) for entry in named)

    @property
    def in_fiscal(self) -> bool:
        return self.rules.fiscal_month is not None

    @cached_property
    def other_names(self) -> OtherNames | None:
        """The catalog's synonyms; None where it has none."""
        return OtherNames.of(self.dataset, self.tables, self.metrics)

    @cached_property
    def name_words(self) -> frozenset[str]:
        """The words in the names, synonyms and descriptions of tables, columns and metrics."""
        found: set[str] = set(self.other_names.words) if self.other_names is not None else set()
        for table in self.tables:
            found.update(table.words)
            for column in table.columns:
                found.update((*column.words, *_plain_words(column.description)))
        for entry in self.metrics:
            found.update((*entry.words, *_plain_words(entry.metric.description)))
        return frozenset(word for word in found if word.isalpha())

    @cached_property
    def _keys_by_shape(self) -> dict[tuple[str, int], tuple[str, ...]]:
        shapes: defaultdict[tuple[str, int], list[str]] = defaultdict(list)
        for key in self.values:
            if len(key) > 3 and key.isalpha():
                shapes[key[0], len(key)].append(key)
        return {shape: tuple(keys) for shape, keys in shapes.items()}

    @cached_property
    def _hits_by_word(self) -> dict[str, tuple[ValueHit, ...]]:
        by_word: defaultdict[str, list[ValueHit]] = defaultdict(list)
        for hits in self.values.values():
            for hit in hits:
                if not isinstance(hit.value, str):
                    continue
                words = split_words(hit.value)
                if len(words) > 1:
                    for word in {w.stem for w in words if not w.is_symbol}:
                        by_word[word].append(hit)
        return {word: tuple(hits) for word, hits in by_word.items()}


def _plain_words(text: str) -> list[str]:
    return [word.lower for word in split_words(text) if not word.is_symbol]


def reach_of(index: SchemaIndex, home: TableEntry) -> dict[str, int]:
    """Tables that can be joined without repeating rows, with their distance."""
    near = {home.name: 0}
    frontier = [home.name]
    while frontier:
        reached: list[str] = []
        for name in frontier:
            for relation in index.dataset.relationships:
                other = index.table(relation.one_table)
                if relation.many_table.lower() == name.lower() and other and other.name not in near:
                    near[other.name] = near[name] + 1
                    reached.append(other.name)
        frontier = reached
    return near


def _stems(text: str) -> frozenset[str]:
    return frozenset(w.stem for w in split_words(text[:400]) if not w.is_symbol)


def _table(table: Table, profile: Profile | None) -> TableEntry:
    found = profile.table(table.name) if profile else None
    words = split_name(table.name)
    columns: list[ColumnEntry] = []
    for position, column in enumerate(table.columns):
        names = split_name(column.name) or (column.name.lower(),)
        columns.append(
            ColumnEntry(
                table.name,
                column.name,
                column.type,
                position,
                names,
                tuple(stem(word) for word in names),
                column.description,
                _stems(column.description),
                column.unit,
                column.nullable,
                found.column(column.name) if found else None,
                column.measure,
            )
        )
    rows = table.rows if table.rows is not None else found.rows if found else None
    return TableEntry(
        table.name,
        words,
        tuple(stem(word) for word in words),
        _stems(table.description),
        tuple(columns),
        table.time_column,
        rows,
    )


def _metric(metric: Metric) -> MetricEntry:
    words = split_name(metric.name)
    return MetricEntry(metric, words, tuple(stem(word) for word in words), _stems(metric.description))


def _values(tables: tuple[TableEntry, ...]) -> dict[str, tuple[ValueHit, ...]]:
    holding = [c for t in tables for c in t.columns if c.profile and c.profile.values]
    share = MOST_KEYS // max(1, len(holding))
    found: defaultdict[str, list[ValueHit]] = defaultdict(list)
    for column in holding:
        for key, hit in value_keys(column, share):
            found[key].append(hit)
    return {
        key: tuple(sorted(hits, key=lambda h: -h.count)) if len(hits) > 1 else (hits[0],)
        for key, hits in found.items()
    }


def value_keys(column: ColumnEntry, most: int = MOST_KEYS) -> list[tuple[str, ValueHit]]:
    """The known values of one column under their keys, the most frequent first."""
    # Dates have no key: times are read from the question itself.
    if column.profile is None or column.temporal:
        return []
    return [
        (key, ValueHit(column.table, column.name, counted.value, counted.count))
        for counted in column.profile.values[:most]
        if (key := _key(column, counted.value))
    ]


def _key(column: ColumnEntry, value: Cell) -> str | None:
    if value is None or isinstance(value, bool):
        return None
    if column.numeric:
        try:
            return number_key(float(value))
        except ValueError:
            return None
    text = str(value)
    return value_key(text) if 0 < len(text) <= LONGEST_VALUE else None
