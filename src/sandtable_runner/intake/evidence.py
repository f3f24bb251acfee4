"""What the cells of a column say: first those of a sample, then, where that does not decide, those of all rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sandtable_runner import engine
from sandtable_runner.engine import literal
from sandtable_runner.intake import checking, dates, numbers, words
from sandtable_runner.intake.proposing import propose
from sandtable_runner.intake.reading import Reading
from sandtable_runner.intake.text_table import Stored, TextTable
from sandtable_runner.intake.wide import MOST_AT_ONCE

_FIRST_ROWS = 200
_LATER_ROWS = 300
_LOOKED_THROUGH = 50_000
_MOST_CELLS = 200_000
"""Rows of a sample times columns."""
_FEW_CELLS = 20
_MOST_ROUNDS = 4
_COUNTEREXAMPLES = 50
_LONGEST = 200
_MOMENTS = ("date", "timestamp", "time")
_IDENTIFIER = "0[0-9]+|[0-9]{19,}"
"""Digits that are no number: leading zeros, or more than a BIGINT keeps."""


@dataclass(slots=True)
class Evidence:
    """Of one column."""

    position: int
    header: str
    name: str
    cells: Counter[str] = field(default_factory=Counter[str])
    """Of the sample, without surrounding blanks and without empty ones, with the number of rows."""
    proposed: dict[Reading, int] = field(default_factory=dict[Reading, int])
    """How many rows of the sample each reading explains, simpler readings first."""
    counts: dict[Reading, int] = field(default_factory=dict[Reading, int])
    """The same for the simplest reading that explains the most, and for those that explain as much and may differ. Of
    all rows, once these were counted."""
    rows: int = 0
    """Rows that are not empty, nor an empty word."""
    words: dict[str, int] = field(default_factory=dict[str, int])
    """Empty words, with the number of rows that have them."""
    identifiers: int = 0
    scales: dict[Reading, int] = field(default_factory=dict[Reading, int])
    """Of readings as money, the most digits after the mark."""
    complete: bool = False
    """Whether all rows were counted."""
    stored: Stored = field(default_factory=Stored)

    @property
    def cell(self) -> str:
        return f"c{self.position}"

    @property
    def covering(self) -> list[Reading]:
        """Readings that explain all rows. A column without any value is text."""
        return [reading for reading, rows in self.counts.items() if self.rows and rows == self.rows]

    @property
    def best(self) -> list[Reading]:
        """Readings that explain the most rows."""
        most = max(self.counts.values(), default=0)
        return [reading for reading, rows in self.counts.items() if rows == most and rows]

    @property
    def undecided(self) -> bool:
        """Whether the sample is not enough: nothing explains all of it, or two readings do and may differ."""
        if self.stored.reading is not None:
            return False
        if not self.counts:
            return sum(self.cells.values()) < _FEW_CELLS
        return not self.covering or bool(rivals(self.covering))

    @property
    def widest(self) -> list[Reading]:
        """Readings that explain the most of the sample."""
        most = max(self.proposed.values(), default=0)
        return [reading for reading, rows in self.proposed.items() if rows == most]

    def propose(self) -> None:
        """By the sample alone."""
        if self.stored.reading is None:
            self.proposed = propose(self.cells, self.name)
        if self.stored.key:
            self.proposed = {
                reading: rows for reading, rows in self.proposed.items() if reading.read_as in _MOMENTS
            }
        widest = self.widest
        self.counts = {reading: self.proposed[reading] for reading in [*widest[:1], *rivals(widest)]}
        set_aside = words.EMPTY if self.counts else words.EMPTY_IN_TEXT
        self.words = {word: rows for word, rows in self.cells.items() if word in set_aside}
        self.rows = sum(self.cells.values()) - sum(self.words.values())


def rivals(covering: Sequence[Reading]) -> list[Reading]:
    """Those that may read a cell differently from the first one."""
    if not covering or covering[0] == Reading("integer"):
        return []
    first, *others = covering
    if first.read_as in ("date", "timestamp"):
        same = [other for other in others if other.read_as == first.read_as]
        return [other for other in same if dates.order_of(other) != dates.order_of(first)]
    if first.read_as in ("integer", "decimal", "percent", "money"):
        mark = numbers.marks_of(first)[1]
        found = [other for other in others if numbers.marks_of(other)[1] != mark and other.unit == first.unit]
        return found[:1]
    return []


def sample(
    connection: engine.Connection, table: TextTable, names: Sequence[str]
) -> tuple[list[Evidence], bool]:
    """The evidence of the first rows and of some below them, and whether these are all rows."""
    stored = table.stored or (Stored(),) * len(names)
    found = [
        Evidence(position, header, name, stored=each)
        for position, (header, name, each) in enumerate(zip(table.headers, names, stored, strict=True), 1)
    ]
    most = max(20, _MOST_CELLS // max(1, len(names)))
    first = min(_FIRST_ROWS, most)
    head = connection.execute(f"SELECT * FROM {table.relation} LIMIT {first + 1}").fetchall()
    whole = len(head) <= first
    if not whole:
        later = min(_LATER_ROWS, most)
        head += connection.execute(
            f"SELECT * FROM (SELECT * FROM {table.relation} LIMIT {_LOOKED_THROUGH} OFFSET {first}) "
            f"USING SAMPLE reservoir({later} ROWS) REPEATABLE (1)"
        ).fetchall()
    for evidence, cells in zip(found, zip(*head, strict=True), strict=False):
        counted = Counter(cells)
        for cell, rows in counted.items():
            if cell and (trimmed := cell.strip(numbers.BLANKS)):
                evidence.cells[trimmed] += rows
    for evidence in found:
        evidence.propose()
    return found, whole


def count_all(connection: engine.Connection, table: TextTable, columns: Sequence[Evidence]) -> None:
    """Take the evidence of all rows. Cells that no reading explains may bring new readings, which are counted again."""
    pending = list(columns)
    for _ in range(_MOST_ROUNDS):
        if not pending:
            return
        surprises = _count(connection, table, pending)
        again: list[Evidence] = []
        for evidence, cells in zip(pending, surprises, strict=True):
            if cells:
                before, counted = set(evidence.counts), (evidence.counts, evidence.rows, evidence.words)
                evidence.cells.update({cell: 1 for cell in cells if cell not in evidence.cells})
                evidence.propose()
                if set(evidence.counts) != before:
                    again.append(evidence)
                else:
                    evidence.counts, evidence.rows, evidence.words = counted
        pending = again


def first_difference(
    connection: engine.Connection, table: TextTable, evidence: Evidence, one: Reading, other: Reading
) -> str | None:
    """The first cell that both read, and differently."""
    cell = evidence.cell
    mine, theirs = checking.value(one, cell), checking.value(other, cell)
    found = connection.execute(
        f"SELECT {cell} FROM {table.relation} WHERE {mine} <> {theirs} LIMIT 1"
    ).fetchone()
    return found[0].strip(numbers.BLANKS) if found else None


def misfits(
    connection: engine.Connection, table: TextTable, column: dict[str, Any], position: int, most: int
) -> list[dict[str, Any]]:
    """The first cells that the reading of a column does not explain."""
    cell = f"c{position}"
    where = _misfit(column, cell)
    found = connection.execute(
        f"SELECT n, left({cell}, {_LONGEST}) FROM (SELECT row_number() OVER () AS n, {cell} FROM {table.relation}) "
        f"WHERE {where} LIMIT {most}"
    ).fetchall()
    return [{"column": column["name"], "row": row, "value": value} for row, value in found]


def count_misfits(
    connection: engine.Connection, table: TextTable, columns: Sequence[tuple[int, dict[str, Any]]]
) -> dict[str, int]:
    """By name, without columns that have none."""
    if not columns:
        return {}
    items = ", ".join(f"count(*) FILTER ({_misfit(column, f'c{position}')})" for position, column in columns)
    found = connection.execute(f"SELECT {items} FROM {table.relation}").fetchone() or ()
    return {column["name"]: rows for (_, column), rows in zip(columns, found, strict=True) if rows}


def count_words(
    connection: engine.Connection, table: TextTable, columns: Sequence[tuple[int, dict[str, Any]]]
) -> dict[str, dict[str, int]]:
    """By name of the column, how many of its cells are each empty word."""
    items: list[str] = []
    for position, column in columns:
        cell = (
            f"c{position}" if column["read_as"] == "text" else f"trim(c{position}, {literal(numbers.BLANKS)})"
        )
        named = words.listed([word for word in column["empty"] if word])
        items.append(f"histogram({cell}) FILTER ({cell} IN ({named}))")
    if not items:
        return {}
    found = connection.execute(f"SELECT {', '.join(items)} FROM {table.relation}").fetchone() or ()
    return {column["name"]: dict(counts or {}) for (_, column), counts in zip(columns, found, strict=True)}


def _misfit(column: dict[str, Any], cell: str) -> str:
    if column["read_as"] == "text":
        return "false"
    return f"NOT {checking.is_empty(cell, column['empty'])} AND NOT {checking.fits(Reading.of(column), cell)}"


def _count(connection: engine.Connection, table: TextTable, columns: Sequence[Evidence]) -> list[list[str]]:
    """One pass over all rows; returns cells that no reading explains."""
    if len(columns) > MOST_AT_ONCE:
        parts = [columns[start : start + MOST_AT_ONCE] for start in range(0, len(columns), MOST_AT_ONCE)]
        return [cells for part in parts for cells in _count(connection, table, part)]
    queries = [_Query(evidence) for evidence in columns]
    wanted = ", ".join(item for query in queries for item in query.items)
    tests = ", ".join(item for query in queries for item in query.tests)
    wanted = f"SELECT {wanted} FROM (SELECT {tests} FROM {table.relation})"
    row = list(connection.execute(wanted).fetchone() or ())
    surprises: list[list[str]] = []
    for query in queries:
        taken, row = row[: len(query.items)], row[len(query.items) :]
        surprises.append(query.take(taken))
    return surprises


class _Query:
    """The aggregates of one column, and what their values mean."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        cell = evidence.cell
        readings = list(evidence.counts)
        empty = words.EMPTY if readings else words.EMPTY_IN_TEXT
        trimmed = f"trim({cell}, {literal(numbers.BLANKS)})" if readings else cell
        fits = [f"{cell}_{number}" for number in range(len(readings))]
        self.tests = [
            cell,
            f"NOT {checking.is_empty(cell, empty, text=not readings)} AS {cell}_filled",
            *(
                f"{checking.fits(reading, cell)} AS {name}"
                for reading, name in zip(readings, fits, strict=True)
            ),
        ]
        filled = f"{cell}_filled"
        self.items = [
            f"count(*) FILTER ({filled})",
            f"histogram({trimmed}) FILTER ({trimmed} IN ({words.listed(empty)}))",
            f"count(*) FILTER (regexp_full_match({cell}, {literal(_IDENTIFIER)}))",
            *(f"count(*) FILTER ({filled} AND {name})" for name in fits),
        ]
        unread = " AND ".join([filled, *(f"NOT {name}" for name in fits)])
        self.items.append(f"approx_top_k(left({cell}, {_LONGEST}), {_COUNTEREXAMPLES}) FILTER ({unread})")
        money = [(r, name) for r, name in zip(readings, fits, strict=True) if r.read_as == "money"]
        self._money = [reading for reading, _ in money]
        self.items += [
            f"max({numbers.scale_in_sql(reading, cell)}) FILTER ({filled} AND {name})"
            for reading, name in money
        ]

    def take(self, values: list[Any]) -> list[str]:
        evidence = self._evidence
        evidence.rows, found, evidence.identifiers = values[:3]
        evidence.words = dict(found or {})
        counts = values[3 : 3 + len(evidence.counts)]
        evidence.counts = dict(zip(evidence.counts, counts, strict=True))
        unread, *scales = values[3 + len(counts) :]
        found_scales = zip(self._money, scales, strict=True)
        evidence.scales = {reading: scale for reading, scale in found_scales if scale is not None}
        evidence.complete = True
        return [cell.strip(numbers.BLANKS) for cell in unread or () if cell and cell.strip(numbers.BLANKS)]
