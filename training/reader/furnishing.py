"""Rows for our own domains, so that plans over them can be executed and their columns profiled as real ones are.

A domain describes columns and lists some of their values; the rows are drawn, always the same for the same domain and
seed. Keys are unique and references hold; what names a row of a table has each value once; numbers lie around those
that the domain's questions compare with; dates lie in the three years before its `as_of`; some cells are empty, and
surely in columns of which a question asks where they are. Every value that another column lists occurs.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta
from typing import Any

from evals.public.relations import Relation, profile_of
from sandtable.catalog.model import Column, ColumnType, Dataset, Relationship, Table
from sandtable.catalog.profile import Cell, Profile
from sandtable.engines.duckdb.types import NAMES
from sandtable.planner.candidates.network.plans import plan_of
from sandtable.planner.candidates.network.sketch import Token
from sandtable.planner.language.words import stem
from sandtable.planner.schema.columns import is_identifier, label_of
from sandtable.planner.schema.entries import ColumnEntry, TableEntry
from sandtable.planner.schema.index import SchemaIndex

ROWS = 150
_DAYS = 1000
_AS_OF = date(2025, 6, 30)
_EMPTY = 0.04
_EMPTY_DATES = 0.15
_NAMING = frozenset(stem(word) for word in ("name", "title", "label", "full", "nm"))
_YEARS = frozenset(stem(word) for word in ("year", "yr", "season"))
_NUMBERED = re.compile(r"^(?P<before>.*?)(?P<number>\d+)$")


def furnished(dataset: Dataset, profile: Profile, relations: Sequence[Relation]) -> tuple[Dataset, Profile]:
    """The dataset and its profile as they are with these rows; a column's description and its metrics stay."""
    counts = {relation.name: len(relation.rows) for relation in relations}
    tables = tuple(table.model_copy(update={"rows": counts[table.name]}) for table in dataset.tables)
    return dataset.model_copy(update={"tables": tables}), profile_of(profile.version, relations)


def relations_of(
    dataset: Dataset, profile: Profile, sketches: Sequence[tuple[Token, ...]], seed: int
) -> list[Relation]:
    """The rows of every table; `sketches` are those of the domain's questions."""
    asked = [each for sketch in sketches for each in _conditions(plan_of(sketch, dataset.id))]
    made = _Maker(dataset, profile, _compared(asked), _empty(asked), random.Random(f"{dataset.id} {seed}"))
    return [made.relation(table) for table in dataset.tables]


def _compared(conditions: Sequence[dict[str, Any]]) -> dict[str, list[float]]:
    """The numbers that conditions of the questions compare each column with."""
    found: dict[str, list[float]] = {}
    for condition in conditions:
        value = condition.get("value")
        values = value if isinstance(value, list) else [value]
        numbers = [float(v) for v in values if isinstance(v, int | float) and not isinstance(v, bool)]
        found.setdefault(_name(condition), []).extend(numbers)
    return found


def _empty(conditions: Sequence[dict[str, Any]]) -> frozenset[str]:
    """The columns of which questions ask where they are empty."""
    return frozenset(_name(each) for each in conditions if each["op"] in {"is_null", "not_null"})


def _name(condition: dict[str, Any]) -> str:
    return str(condition["column"]).rsplit(".", 1)[-1]


def _conditions(part: Any) -> Iterator[dict[str, Any]]:
    if isinstance(part, dict):
        if isinstance(part.get("column"), str) and "op" in part:
            yield part
        for each in part.values():
            yield from _conditions(each)
    elif isinstance(part, list):
        for each in part:
            yield from _conditions(each)


class _Maker:
    def __init__(
        self,
        dataset: Dataset,
        profile: Profile,
        compared: dict[str, list[float]],
        empty: frozenset[str],
        rng: random.Random,
    ) -> None:
        self._dataset = dataset
        self._profile = profile
        self._compared = compared
        self._empty = empty
        self._rng = rng
        self._index = SchemaIndex.build(dataset, profile)
        self._keys: dict[tuple[str, str], list[Cell]] = {}
        as_of = dataset.as_of
        self._today = date.fromisoformat(str(as_of)[:10]) if as_of else _AS_OF

    def relation(self, table: Table) -> Relation:
        entry = next(t for t in self._index.tables if t.name == table.name)
        count = self._count(table, entry)
        main = [self._day() for _ in range(count)]
        columns = [
            self._with_gaps(cells) if column.name in self._empty else cells
            for column in table.columns
            for cells in (self._cells(table, entry, column, count, main),)
        ]
        kinds = tuple(NAMES[column.type] for column in table.columns)
        return Relation(
            table.name, tuple(c.name for c in table.columns), kinds, tuple(zip(*columns, strict=True))
        )

    def _count(self, table: Table, entry: TableEntry) -> int:
        label = self._naming(table, entry)
        if label is not None and (listed := self._listed(table, label.name)):
            return len(listed)
        return max([ROWS, *(2 * len(self._listed(table, column.name)) for column in table.columns)])

    def _naming(self, table: Table, entry: TableEntry) -> ColumnEntry | None:
        """The column by which a row is called, where each row has its own."""
        label = label_of(entry)
        if label is None or label.table != table.name:
            return None
        row = {
            stem(word)
            for word in re.findall(r"[a-z]+", table.description.lower().partition("one row per")[2])[:3]
        }
        own = set(label.stems) <= {*entry.stems, *_NAMING, *row}
        return label if own or any(r.one_table == table.name for r in self._dataset.relationships) else None

    def _listed(self, table: Table, column: str) -> list[Cell]:
        found = self._profile.table(table.name)
        known = found.column(column) if found is not None else None
        return [each.value for each in known.values] if known is not None else []

    def _cells(
        self, table: Table, entry: TableEntry, column: Column, count: int, main: list[date]
    ) -> Sequence[Cell]:
        link = next((r for r in self._dataset.relationships if _is_from(r, table, column)), None)
        known = next(c for c in entry.columns if c.name == column.name)
        if link is not None and link.one_table != table.name:
            keys = self._key(link.one_table, link.one_column)
            # Some are referred to by nothing.
            return self._emptied(
                [self._rng.choice(keys[: max(1, len(keys) - 2)]) for _ in range(count)], _EMPTY
            )
        if self._is_key(table, known):
            return self._key(table.name, column.name)
        naming = self._naming(table, entry)
        if naming is not None and naming.name == column.name:
            return (
                self._rng.sample(listed, count)
                if (listed := self._listed(table, column.name))
                else [f"{column.name} {n}" for n in range(count)]
            )
        if column.name == table.time_column:
            return [self._moment(day, column) for day in main]
        if column.type in {ColumnType.DATE, ColumnType.TIMESTAMP}:
            days = [day + timedelta(days=self._rng.randint(0, 60)) for day in main]
            return self._emptied([self._moment(day, column) for day in days], _EMPTY_DATES)
        return self._emptied(self._drawn(table, known, column, count), _EMPTY)

    def _is_key(self, table: Table, column: ColumnEntry) -> bool:
        aimed = any(
            (r.one_table, r.one_column) == (table.name, column.name) for r in self._dataset.relationships
        )
        return aimed or (column.position == 0 and is_identifier(column))

    def _key(self, table: str, column: str) -> list[Cell]:
        if (table, column) not in self._keys:
            home = next(t for t in self._dataset.tables if t.name == table)
            entry = next(t for t in self._index.tables if t.name == table)
            listed = list(dict.fromkeys(self._listed(home, column)))
            kind = next(c.type for c in home.columns if c.name == column)
            self._keys[table, column] = _unique(listed, self._count(home, entry), kind, column)
        return self._keys[table, column]

    def _drawn(self, table: Table, known: ColumnEntry, column: Column, count: int) -> list[Cell]:
        rng = self._rng
        if listed := self._listed(table, column.name):
            often = [rng.random() ** 2 + 0.05 for _ in listed]
            more = rng.choices(listed, often, k=max(0, count - len(listed)))
            return rng.sample([*listed, *more], len(listed) + len(more))[:count]
        if column.type is ColumnType.BOOLEAN:
            return [rng.random() < 0.35 for _ in range(count)]
        if column.type is ColumnType.TEXT:
            return [f"{column.name} {rng.randint(1, 40)}" for _ in range(count)]
        whole = column.type is ColumnType.INTEGER
        if set(known.stems) & _YEARS and whole:
            low, high = 1950.0, float(self._today.year)
        else:
            low, high = (1.0, 400.0) if whole else (0.5, 100.0 if column.unit == "%" else 900.0)
        if compared := self._compared.get(column.name):
            near = [abs(value) for value in compared]
            low, high = (low, high) if set(known.stems) & _YEARS else (0.0, 2.5 * max(near) or high)
            around = [value + step for value in compared for step in ((-1.0, 0.0, 1.0) if whole else (0.0,))]
            numbers = [
                rng.choice(around) if rng.random() < 0.15 else rng.uniform(low, high) for _ in range(count)
            ]
        else:
            numbers = [rng.uniform(low, high) for _ in range(count)]
        return [round(number) if whole else round(number, 2) for number in numbers]

    def _emptied(self, cells: list[Cell], share: float) -> list[Cell]:
        kept: set[Cell] = set()
        made: list[Cell] = []
        for cell in cells:
            # The first of each value stays, so that every value occurs.
            made.append(None if cell in kept and self._rng.random() < share else cell)
            kept.add(cell)
        return made

    def _with_gaps(self, cells: Sequence[Cell]) -> list[Cell]:
        """Some empty cells at least."""
        gaps = set(self._rng.sample(range(len(cells)), max(1, round(_EMPTY_DATES * len(cells)))))
        return [None if at in gaps else cell for at, cell in enumerate(cells)]

    def _day(self) -> date:
        # Half of them lie in the last year and a bit.
        span = _DAYS if self._rng.random() < 0.5 else 400
        return self._today - timedelta(days=self._rng.randint(0, span))

    def _moment(self, day: date, column: Column) -> str:
        if column.type is not ColumnType.TIMESTAMP:
            return day.isoformat()
        seconds = self._rng.randint(6 * 3600, 22 * 3600)
        return (datetime(day.year, day.month, day.day) + timedelta(seconds=seconds)).isoformat()


def _is_from(link: Relationship, table: Table, column: Column) -> bool:
    return (link.many_table, link.many_column) == (table.name, column.name)


def _unique(listed: list[Cell], count: int, kind: ColumnType, name: str) -> list[Cell]:
    """The listed ones, and more that are written alike."""
    made = listed[:count]
    if kind is not ColumnType.TEXT:
        number = max([n for n in made if isinstance(n, int | float)], default=0)
        return [*made, *(int(number) + step for step in range(1, count - len(made) + 1))]
    pattern = _NUMBERED.match(str(listed[0])) if listed else None
    before = pattern["before"] if pattern is not None else f"{name} "
    number = int(pattern["number"]) if pattern is not None else 1000
    while len(made) < count:
        number += 1
        if f"{before}{number}" not in made:
            made.append(f"{before}{number}")
    return made
