"""Rows for a schema that comes without any, so that queries over it can be told apart by what they return.

Invariant: keys hold; every value that a query names is in the data; for each query there are rows that meet its
conditions together; numbers that are not named or grouped are all different, so that a superlative has one answer.
The same seed gives the same rows.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta

from evals.public.conditions import Condition, Usage, Witness
from evals.public.relations import Relation
from sandtable.catalog.profile import Cell

FEWEST_ROWS = 14
MOST_WITNESSES = 3
Place = tuple[str, str]
"""A table and a column, by their original names in lower case."""

_SYLLABLES = "ba do fe gri ka lu mo ne pra ri so tu va wen xi yor zal chi del fro han ".split()
_ISO = re.compile(r"\d{4}-\d\d-\d\d")
_YEAR = re.compile(r"\b(?:year|founded|opened|built)", re.IGNORECASE)
_FLOAT = re.compile(
    r"\b(?:price|rate|ratio|amount|salary|weight|length|height|average|cost|score|gpa)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    """In words, as the dataset names it."""
    original: str
    kind: str
    """`number`, `text`, `time`, `boolean` or `others`."""


@dataclass(frozen=True, slots=True)
class Schema:
    db: str
    tables: dict[str, tuple[Field, ...]]
    """By original name in lower case."""
    keys: frozenset[Place]
    links: tuple[tuple[Place, Place], ...]
    """A foreign key and what it refers to."""


@dataclass(slots=True)
class _Maker:
    schema: Schema
    usage: Usage
    types: dict[Place, str]
    random: random.Random
    columns: dict[Place, list[Cell]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)

    def make(self) -> None:
        for table in self._parents_first():
            own = [w for w in self.usage.witnesses if any(t == table for t in w.tables.values())]
            named = max(
                len(self.usage.values((table, c.original.lower()))) for c in self.schema.tables[table]
            )
            self.counts[table] = FEWEST_ROWS + self.random.randrange(8) + max(named, min(len(own), 40))
            for column in self.schema.tables[table]:
                place = (table, column.original.lower())
                self.columns[place] = self._filled(place, column)
        for witness in self.usage.witnesses:
            for _ in range(self.random.randint(1, MOST_WITNESSES)):
                self._plant(witness)

    def _parents_first(self) -> list[str]:
        wanted = {
            t: {to[0] for (src, to) in self.schema.links if src[0] == t} - {t} for t in self.schema.tables
        }
        ordered: list[str] = []
        while wanted:
            # In a circle of references the first table is made before what it refers to.
            free = next((t for t, needs in wanted.items() if needs <= set(ordered)), next(iter(wanted)))
            ordered.append(free)
            del wanted[free]
        return ordered

    def _filled(self, place: Place, column: Field) -> list[Cell]:
        count = self.counts[place[0]]
        parent = next((to for src, to in self.schema.links if src == place and to in self.columns), None)
        named = [self._typed(place, value) for value in self.usage.values(place)]
        named = [value for value in dict.fromkeys(named) if value is not None]
        if parent is not None:
            return self._referring(place, self.columns[parent], count)
        if not self.is_unique(place) and (place in self.usage.repeated or column.kind == "boolean"):
            return self._repeated(named, self._fresh(place, column), count)
        fresh = (value for value in self._fresh(place, column) if value not in set(named))
        made = (named + [next(fresh) for _ in range(max(0, count - len(named)))])[:count]
        self.random.shuffle(made)
        return made

    def is_unique(self, place: Place) -> bool:
        """A key, unless it is one of several references: together they are the key of a bridge."""
        references = [src for src, _ in self.schema.links if src[0] == place[0]]
        if any(to == place for _, to in self.schema.links):
            return True
        return place in self.schema.keys and not (place in references and len(references) > 1)

    def _referring(self, place: Place, parents: Sequence[Cell], count: int) -> list[Cell]:
        if self.is_unique(place):
            chosen = self.random.sample(list(parents), min(count, len(parents)))
            self.counts[place[0]] = len(chosen)
            for other, cells in self.columns.items():
                if other[0] == place[0]:
                    del cells[len(chosen) :]
            return chosen
        # Some are referred to often and some never: counts differ, and "without any" has an answer.
        used = (
            self.random.sample(list(parents), max(2, len(parents) * 2 // 3))
            if len(parents) > 2
            else list(parents)
        )
        return self._skewed(used, count)

    def _repeated(self, named: Sequence[Cell], fresh: Iterator[Cell], count: int) -> list[Cell]:
        pool = [*named, *(value for value in (next(fresh) for _ in range(4)) if value not in named)]
        made = [*named, *self._skewed(pool, max(0, count - len(named)))][:count]
        self.random.shuffle(made)
        return made

    def _skewed(self, pool: list[Cell], count: int) -> list[Cell]:
        weights = [1.6**-n for n in range(len(pool))]
        ordered = self.random.sample(pool, len(pool))
        return self.random.choices(ordered, weights, k=count)

    def _typed(self, place: Place, value: str | float) -> Cell:
        kind = self.types[place]
        if kind in ("VARCHAR", "DATE"):
            return str(value) if kind == "VARCHAR" or _ISO.fullmatch(str(value)) else None
        try:
            number = float(value)
        except ValueError:
            return None
        return number if kind == "DOUBLE" else int(number)

    def _fresh(self, place: Place, column: Field) -> Iterator[Cell]:
        """Endlessly many values, none of them twice."""
        seen: set[Cell] = set()
        spread = 1
        while True:
            made = self._one(place, column, spread)
            spread += 1
            if made not in seen:
                seen.add(made)
                yield made

    def _one(self, place: Place, column: Field, spread: int) -> Cell:
        kind = self.types[place]
        if kind == "VARCHAR":
            words = self.random.randint(1, 2)
            return " ".join(self._word() for _ in range(words)).title() + (
                "" if spread < 200 else str(spread)
            )
        if kind == "DATE":
            first = date(2005, 1, 1)
            return (first + timedelta(days=self.random.randrange(6500))).isoformat()
        numbers = [
            float(v) for v in self.usage.values(place) if isinstance(self._typed(place, v), int | float)
        ]
        low, high = (
            (min(numbers), max(numbers))
            if numbers
            else (1990, 2022)
            if _YEAR.search(column.name)
            else (1, 90)
        )
        margin = (
            max(6.0, (high - low) * 0.5, abs(high) * 0.3 if not _YEAR.search(column.name) else 6.0) + spread
        )
        drawn = self.random.uniform(max(0.0, low - margin) if low >= 0 else low - margin, high + margin)
        return round(drawn, 2) if kind == "DOUBLE" else int(drawn)

    def _word(self) -> str:
        return "".join(self.random.choice(_SYLLABLES) for _ in range(self.random.randint(2, 3)))

    def _plant(self, witness: Witness) -> None:
        """Changes one row for each table of the query, so that together they meet its conditions."""
        rows = {alias: self._row_for(alias, witness) for alias in witness.tables}
        for condition in witness.conditions:
            place = (witness.tables[condition.alias], condition.column)
            value = self._meeting(place, condition)
            if value is not None and self._may_become(place, value):
                self.columns[place][rows[condition.alias]] = value
        for (left, a), (right, b) in witness.joins:
            one, other = (witness.tables[left], a), (witness.tables[right], b)
            if any(src == other and to == one for src, to in self.schema.links):
                one, other, left, right = other, one, right, left
            if not self.is_unique(one) and one in self.columns and other in self.columns:
                self.columns[one][rows[left]] = self.columns[other][rows[right]]

    def _row_for(self, alias: str, witness: Witness) -> int:
        table = witness.tables[alias]
        for condition in witness.conditions:
            place = (table, condition.column)
            if condition.alias == alias and self.is_unique(place) and condition.op == "=":
                value = self._typed(place, condition.values[0])
                if value in self.columns[place]:
                    return self.columns[place].index(value)
        return self.random.randrange(self.counts[table])

    def _may_become(self, place: Place, value: Cell) -> bool:
        """Whether keys still hold when a cell of this column is changed."""
        parents = [to for src, to in self.schema.links if src == place]
        return not self.is_unique(place) and all(value in self.columns[parent] for parent in parents)

    def _meeting(self, place: Place, condition: Condition) -> Cell:
        value = self._typed(place, condition.values[0])
        if not isinstance(value, int | float) or condition.op in ("=", "like"):
            return value if condition.op in ("=", "like", ">=", "<=") else None
        step = self.random.randint(1, 9)
        match condition.op:
            case ">" | ">=":
                return value + step
            case "<" | "<=":
                return value - step
            case "between":
                upper = self._typed(place, condition.values[1])
                return (value + upper) / 2 if isinstance(upper, float) else value
            case _:
                return None


def make_instance(schema: Schema, usage: Usage, seed: int) -> list[Relation]:
    for _ in schema.links:
        # What is said of a reference holds for what it refers to, along chains of them.
        for src, to in schema.links:
            for value in usage.values(src):
                usage.add(to, value)
    types = {
        (table, column.original.lower()): _type((table, column.original.lower()), column, schema, usage)
        for table, columns in schema.tables.items()
        for column in columns
    }
    for _ in schema.links:
        # A reference has the type of what it refers to, along chains of them.
        types |= {src: types[to] for src, to in schema.links}
    maker = _Maker(schema, usage, types, random.Random(f"{schema.db} {seed}"))  # noqa: S311 - the same everywhere
    maker.make()
    return [_relation(table, columns, maker) for table, columns in schema.tables.items()]


def _type(place: Place, column: Field, schema: Schema, usage: Usage) -> str:
    values = usage.values(place)
    if column.kind == "number" or (column.kind == "time" and (_YEAR.search(column.name) or _numbers(values))):
        if place in schema.keys:
            return "BIGINT"
        floats = any(isinstance(v, float) and not v.is_integer() for v in values)
        return "DOUBLE" if floats or _FLOAT.search(column.name) else "BIGINT"
    if column.kind == "time" and all(_ISO.fullmatch(str(value)) for value in values):
        return "DATE"
    return "VARCHAR"


def _numbers(values: Sequence[str | float]) -> bool:
    return bool(values) and all(isinstance(value, int | float) for value in values)


def _relation(table: str, columns: tuple[Field, ...], maker: _Maker) -> Relation:
    places = [(table, column.original.lower()) for column in columns]
    rows = tuple(zip(*(maker.columns[place] for place in places), strict=True))
    return Relation(table, _names(columns), tuple(maker.types[place] for place in places), rows)


def _names(columns: tuple[Field, ...]) -> tuple[str, ...]:
    """In words, unless two of them are the same."""
    counted: dict[str, int] = defaultdict(int)
    for column in columns:
        counted[column.name.lower()] += 1
    return tuple(c.name if counted[c.name.lower()] == 1 else c.original for c in columns)
