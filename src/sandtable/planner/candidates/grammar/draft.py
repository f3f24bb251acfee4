"""An unfinished plan: the question seen from one table, and everything read out of it so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sandtable.planner.language.buckets import Bucket
from sandtable.planner.language.reading import Reading
from sandtable.planner.language.times import TimePhrase
from sandtable.planner.mentions.matching import Match
from sandtable.planner.mentions.values import ValueMatch
from sandtable.planner.schema.entries import ColumnEntry, Json, MetricEntry, TableEntry
from sandtable.planner.schema.index import SchemaIndex, ValueHit


@dataclass(slots=True)
class Spot:
    """A span of the question that refers to something in the data."""

    start: int
    end: int
    columns: tuple[Match, ...] = ()
    """Columns it may mean, best first."""
    metric: MetricEntry | None = None
    table: TableEntry | None = None
    value: ValueMatch | None = None
    weight: float = 1.0
    """How well a table's name fits."""
    role: str = ""
    """The role assigned to it; empty while it is open."""
    chosen: ColumnEntry | None = None

    @property
    def column(self) -> ColumnEntry | None:
        if self.chosen is not None:
            return self.chosen
        first = self.columns[0].target if self.columns else None
        return first if isinstance(first, ColumnEntry) else None

    @property
    def number(self) -> ColumnEntry | None:
        """The number or date that it may mean."""
        return next((c for c in self.options if c.numeric or c.temporal), None)

    @property
    def options(self) -> list[ColumnEntry]:
        return [m.target for m in self.columns if isinstance(m.target, ColumnEntry)]

    @property
    def open(self) -> bool:
        return not self.role


@dataclass(slots=True)
class Condition:
    start: int
    end: int
    json: Json
    column: ColumnEntry | None
    negated: bool = False
    value: Any = None
    """The one value of a plain equality, so that several can be joined into a list."""


@dataclass(slots=True)
class Measure:
    item: Json
    """A select item; `as` is its name."""
    start: int
    column: ColumnEntry | None = None
    metric: MetricEntry | None = None

    @property
    def name(self) -> str:
        return str(self.item["as"])


@dataclass(slots=True)
class Having:
    """A condition on a computed value: `measure` is added to the answer when it is not there yet."""

    measure: Measure
    op: str
    value: Any


@dataclass(slots=True)
class Rank:
    """`the 5 highest`: what to sort by, which way and how many to keep."""

    start: int
    end: int
    descending: bool
    count: int | None = None
    measure: Measure | None = None
    column: ColumnEntry | None = None
    keep: bool = True
    """Whether the rest is dropped; not so for `highest first`."""
    common: bool = False
    """`most common`: rank by how often it occurs."""
    word: str = ""


@dataclass(slots=True)
class Draft:
    index: SchemaIndex
    reading: Reading
    home: TableEntry
    reach: dict[str, int]
    """Tables whose columns can be used from home, with how many joins away they are."""
    spots: list[Spot] = field(default_factory=list[Spot])
    phrases: list[TimePhrase] = field(default_factory=list[TimePhrase])
    buckets: list[Bucket] = field(default_factory=list[Bucket])
    conditions: list[Condition] = field(default_factory=list[Condition])
    numerator: list[Condition] = field(default_factory=list[Condition])
    """Conditions of a share: which of the rows are counted."""
    having: list[Having] = field(default_factory=list[Having])
    measures: list[Measure] = field(default_factory=list[Measure])
    groups: list[ColumnEntry] = field(default_factory=list[ColumnEntry])
    asked: list[ColumnEntry] = field(default_factory=list[ColumnEntry])
    bucket: Bucket | None = None
    bucket_column: ColumnEntry | None = None
    time: Json | None = None
    compared: list[Json] = field(default_factory=list[Json])
    """Filters of two periods that are compared."""
    rank: Rank | None = None
    order: list[tuple[str, bool]] = field(default_factory=list[tuple[str, bool]])
    """Explicit order: name or reference, and whether descending."""
    derive: list[Json] = field(default_factory=list[Json])
    derived_having: list[Json] = field(default_factory=list[Json])
    subject: Spot | None = None
    rows: bool = False
    """Whole rows are wanted."""
    distinct: bool = False
    limit: int | None = None
    against: ColumnEntry | None = None
    """The number whose average rows are compared with: it must be selected to be used in a computation."""
    running: bool = False
    change: bool = False
    unusual: bool = False
    most_unusual: bool = False
    keyless: bool = False
    """The question has a superlative, but its column is unknown."""
    downward: bool | None = None
    """The direction that `ascending` or `highest first` asks for."""
    of_total: bool = False
    yes_no: bool = False
    comparing: bool = False
    doubts: list[tuple[float, str]] = field(default_factory=list[tuple[float, str]])
    used: list[str] = field(default_factory=list[str])

    def ref(self, column: ColumnEntry) -> str:
        return column.name if column.table == self.home.name else f"{column.table}.{column.name}"

    def doubt(self, factor: float, why: str) -> None:
        self.doubts.append((factor, why))

    @property
    def certainty(self) -> float:
        product = 1.0
        for factor, _ in self.doubts:
            product *= factor
        return product

    def starting(self, at: int) -> Spot | None:
        return next((s for s in self.spots if s.start == at), None)

    def ending(self, at: int) -> Spot | None:
        return next((s for s in self.spots if s.end == at), None)

    def after(self, at: int, skip: frozenset[str], most: int = 3, *, claimed: bool = False) -> Spot | None:
        """The spot that begins at this word, or after a few words that may be skipped."""
        passed = 0
        while at < len(self.reading):
            spot = self.starting(at)
            if spot is not None and (spot.open or spot.role == "measured" or not claimed):
                return spot
            if spot is not None or (claimed and self.reading.owner[at] == "condition"):
                at = spot.end if spot else at + 1
                continue
            if self.reading.lower(at) not in skip or passed >= most:
                return None
            passed += 1
            at += 1
        return None

    def before(self, at: int, skip: frozenset[str], most: int = 3) -> Spot | None:
        """The spot that ends just before this word, or before a few words that may be skipped."""
        passed = 0
        while at > 0:
            spot = self.ending(at)
            if spot is not None:
                return spot
            if self.reading.lower(at - 1) not in skip or passed >= most:
                return None
            passed += 1
            at -= 1
        return None

    def hits(self, value: ValueMatch) -> list[ValueHit]:
        """Where a value occurs in tables reachable from home, the nearest table first."""
        found = [h for h in value.hits if h.table in self.reach]
        return sorted(found, key=lambda h: self.reach[h.table])
