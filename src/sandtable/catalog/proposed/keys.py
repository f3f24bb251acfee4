"""Which columns of a table could be its key: one that is different in every row, or two that are together.

`key_candidates` selects by type, name and profile what a sandbox counts; `proposed_keys` decides on the counts.
Invariant: both are pure, and a key is proposed only where all rows were counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from sandtable.catalog.model import Column, ColumnType, Dataset, Meaning, Table
from sandtable.catalog.profile import ColumnProfile, Profile, TableProfile
from sandtable.catalog.proposed.meanings import meaning_of

MOST_TABLES = 20
_MOST_OF_TABLE = 6
_MOST_PARTS = 5
"""Columns of which pairs are made."""
_LEAST_ROWS = 2
_ESTIMATED = 0.9
"""Above a million rows the number of values is an estimate: this share of the rows is worth a count."""
_TYPES = frozenset({ColumnType.INTEGER, ColumnType.TEXT, ColumnType.DATE, ColumnType.TIMESTAMP})


@dataclass(frozen=True, slots=True)
class KeyCandidate:
    table: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class IdentityCounts:
    """What counting all rows found about one candidate."""

    rows: int
    filled: int
    """Rows in which no column of it is null."""
    distinct: int


@dataclass(frozen=True, slots=True)
class KeyProposal:
    table: str
    columns: tuple[str, ...]
    reason: str


def key_candidates(dataset: Dataset, profile: Profile) -> tuple[KeyCandidate, ...]:
    """For tables without a key, the most likely first: single columns, then pairs."""
    found: list[KeyCandidate] = []
    for table in dataset.tables[:MOST_TABLES]:
        known = profile.table(table.name)
        if known is not None and not table.key and known.rows >= _LEAST_ROWS:
            found.extend(_of_table(table, known))
    return tuple(found)


def _of_table(table: Table, known: TableProfile) -> Iterator[KeyCandidate]:
    columns = [*_parts(table, known)]
    singles = [
        column.name
        for column, profile in columns
        if profile.distinct >= known.rows * _ESTIMATED and _names_a_row(table, column, profile)
    ]
    yield from (KeyCandidate(table.name, (name,)) for name in singles[:_MOST_OF_TABLE])
    if singles:
        return
    pairs = combinations([pair for pair in columns if pair[1].distinct > 1][:_MOST_PARTS], 2)
    enough = [
        (one.name, other.name)
        for (one, mine), (other, theirs) in pairs
        if mine.distinct * theirs.distinct >= known.rows * _ESTIMATED
    ]
    yield from (KeyCandidate(table.name, names) for names in enough[:_MOST_OF_TABLE])


def _parts(table: Table, known: TableProfile) -> Iterator[tuple[Column, ColumnProfile]]:
    """Columns that can be part of a key: identifiers first, then the others in their order. No measures."""
    looked_at = [(column, known.column(column.name)) for column in table.columns]
    able = [
        (column, profile)
        for column, profile in looked_at
        if profile is not None and not profile.nulls and column.type in _TYPES
    ]
    named = [pair for pair in able if _is_identifier(table, *pair)]
    yield from named
    yield from (pair for pair in able if pair not in named and pair[0].type is not ColumnType.INTEGER)


def _is_identifier(table: Table, column: Column, profile: ColumnProfile) -> bool:
    return meaning_of(column, profile, table).meaning is Meaning.IDENTIFIER


def _names_a_row(table: Table, column: Column, profile: ColumnProfile) -> bool:
    """A note that is never written twice identifies nothing: an identifier, or the first column."""
    return _is_identifier(table, column, profile) or column.name == table.columns[0].name


def proposed_keys(
    considered: Sequence[KeyCandidate], counted: Sequence[IdentityCounts | None]
) -> tuple[KeyProposal, ...]:
    """At most one for each table: the first candidate that the counts prove."""
    found: dict[str, KeyProposal] = {}
    for each, counts in zip(considered, counted, strict=True):
        if counts is None or not 0 < counts.rows == counts.filled == counts.distinct:
            continue
        found.setdefault(each.table, KeyProposal(each.table, each.columns, _reason(each, counts)))
    return tuple(found.values())


def _reason(candidate: KeyCandidate, counts: IdentityCounts) -> str:
    if len(candidate.columns) == 1:
        return f"{candidate.columns[0]} is different in each of the {counts.rows:,} rows, and never empty"
    names = " and ".join(candidate.columns)
    return f"{names} together are different in each of the {counts.rows:,} rows, and never empty"
