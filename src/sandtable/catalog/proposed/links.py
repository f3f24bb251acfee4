"""Finds which tables of a dataset made of files refer to which: by matching names, by what a database declares, and by
complete counts.

`candidates` selects by name and type what a sandbox counts; `links` decides on the counts. A candidate is accepted when
the referenced column is unique and has no nulls, and contains every referring value. Invariant: both are pure and
independent of the order of the tables: the same tables give the same links.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

from sandtable.catalog.convert import ColumnPlace, Comparison, Counts
from sandtable.catalog.model import Column, ColumnType, Relationship, Table
from sandtable.catalog.names import singular

MOST_TABLES = 60
MOST_CANDIDATES = 64
MOST_KEYS = 5_000_000
"""Rows of a referenced table."""
MOST_ROWS = 20_000_000
LONGEST_KEY = 200
"""In bytes."""
_MOST_SAID = 12

_IDENTIFIERS = frozenset(
    "id ids code no nr num number key pk fk ref reference sku uuid guid isbn issn ean upc gtin vin iban bic ssn iata "
    "icao fips zip zipcode postcode barcode serial symbol ticker abbr abbreviation slug email username login".split()
)
_BARE = frozenset(
    "id code no nr num number key pk ref reference sku uuid guid symbol abbr abbreviation slug name title label".split()
)
"""Names of a key in its own table: `customers.id`, which is `customer_id` elsewhere."""
_AFTER_TABLE = _IDENTIFIERS | _BARE | {""}
_EVERYWHERE = frozenset(
    "id ids code no nr num number key pk fk ref reference name title label serial row rows line rank ranking position "
    "pos place seq sequence index idx sort count n column field unnamed".split()
)
"""Names of only these words are generic, or number the rows: two tables with an `id` have nothing in common."""
_CALENDAR = frozenset({"year", "quarter", "month", "week", "weekday", "day", "hour"})
_INTEGER = "integer"
_BREAK = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[^\W\d_])(?=\d)")


@dataclass(frozen=True, slots=True)
class Candidate:
    """`many` may refer to `one`."""

    many: ColumnPlace
    one: ColumnPlace
    score: tuple[bool, bool, bool, bool]
    """Whether its file or database declares it; about the referenced column: whether it is named after its table, is an
    identifier, is the table's first."""

    @property
    def pair(self) -> frozenset[str]:
        return frozenset((self.many.table, self.one.table))

    @property
    def reversed(self) -> tuple[ColumnPlace, ColumnPlace]:
        return self.one, self.many

    @property
    def order(self) -> tuple[object, ...]:
        return (*(not good for good in self.score), self.one, self.many)


def candidates(
    tables: Sequence[Table], declared: Collection[tuple[ColumnPlace, ColumnPlace]] = ()
) -> tuple[Candidate, ...]:
    """What is `declared` first, then the best named, at most MOST_CANDIDATES."""
    if not 1 < len(tables) <= MOST_TABLES:
        return ()
    keys = {table.name: [*_keys(table)] for table in tables}
    named = {table: _by_name(found) for table, found in keys.items()}
    found = [*_declared(declared, (key for each in keys.values() for key in each))]
    for many, one in permutations(tables, 2):
        found.extend(c for c in _between(named[many.name], keys[one.name]) if (c.many, c.one) not in declared)
    few = {table.name for table in tables if (table.rows or 0) <= MOST_KEYS}
    bounded = {table.name for table in tables if (table.rows or 0) <= MOST_ROWS}
    found = [c for c in found if c.many.table in bounded and c.one.table in few]
    found.sort(key=lambda candidate: candidate.order)
    # Drop candidates that tie with one beyond the limit: they would wrongly seem unambiguous.
    left_out = {(candidate.many, candidate.score) for candidate in found[MOST_CANDIDATES:]}
    return tuple(c for c in found[:MOST_CANDIDATES] if (c.many, c.score) not in left_out)


@dataclass(frozen=True, slots=True)
class _Key:
    """A column that may refer or be referenced, as its name describes it."""

    place: ColumnPlace
    type: str
    name: str
    """Its words joined."""
    elsewhere: tuple[str, ...]
    """Its names in other tables: `id` of customers is `customer_id`."""
    after_table: bool
    identifier: bool
    first: bool
    says_nothing: bool
    dimension: bool
    """A text or a part of the calendar: rows can be looked up by it, though it is not an identifier."""


def _keys(table: Table) -> Iterator[_Key]:
    owners = _called(table)
    for position, column in enumerate(table.columns):
        kind = _key_type(column)
        words = _words(column.name)
        letters = [word for word in words if not word.isdigit()]
        if kind is None or not letters:
            continue
        name = "".join(words)
        yield _Key(
            place=ColumnPlace(table.name, column.name),
            type=kind,
            name=name,
            elsewhere=tuple(owner + name for owner in owners) if name in _BARE else (),
            # Like `customer_id`, `customerid` and `customer` for customers.
            after_table=any(name.startswith(o) and name[len(o) :] in _AFTER_TABLE for o in owners),
            # Like `account_no` and `id_account`, not `no_of_accounts`.
            identifier=letters[-1] in _IDENTIFIERS or letters[0] == "id",
            first=position == 0,
            says_nothing=_EVERYWHERE.issuperset(letters),
            dimension=kind != _INTEGER or not _CALENDAR.isdisjoint(letters),
        )


def _by_name(keys: Iterable[_Key]) -> dict[str, list[_Key]]:
    named: dict[str, list[_Key]] = {}
    for key in keys:
        named.setdefault(key.name, []).append(key)
    return named


def _between(named: dict[str, list[_Key]], ones: Iterable[_Key]) -> Iterator[Candidate]:
    """`named` are the columns of the referring table."""
    for one in ones:
        for many in named.get(one.name, ()):
            if many.type == one.type and _is_common_key(many, one):
                yield _candidate(many, one, after_table=one.after_table)
        for name in one.elsewhere:
            for many in named.get(name, ()):
                if many.type == one.type:
                    yield _candidate(many, one, after_table=True)


def _declared(
    declared: Iterable[tuple[ColumnPlace, ColumnPlace]], keys: Iterable[_Key]
) -> Iterator[Candidate]:
    by_place = {key.place: key for key in keys}
    for many, one in declared:
        referring, key = by_place.get(many), by_place.get(one)
        if referring and key and referring.type == key.type and many.table != one.table:
            yield Candidate(many, one, (True, key.after_table, key.identifier, key.first))


def _is_common_key(many: _Key, one: _Key) -> bool:
    """Whether their common name is that of a key, and neither a generic name nor that of a measure."""
    if one.says_nothing or many.says_nothing:
        return False
    if one.after_table:
        return True
    if many.after_table:
        # Customers do not refer to orders by `customer_id`, even if each has only one order.
        return False
    return one.identifier or many.identifier or (one.first and one.dimension)


def _candidate(many: _Key, one: _Key, *, after_table: bool) -> Candidate:
    identifier = one.identifier or many.identifier
    return Candidate(many.place, one.place, (False, after_table, identifier, one.first))


def _words(name: str) -> tuple[str, ...]:
    """`CarrierCode`, `carrier_code` and `Carrier code` are all `carrier`, `code`."""
    return tuple(word for word in re.split(r"[\W_]+", _BREAK.sub(" ", name).casefold()) if word)


def _called(table: Table) -> tuple[str, ...]:
    """Its name and the singular of it, as one word."""
    words = _words(table.name)
    if not words:
        return ()
    return tuple(dict.fromkeys(("".join(words), "".join((*words[:-1], singular(words[-1]))))))


def _key_type(column: Column) -> str | None:
    if column.type is ColumnType.INTEGER:
        return _INTEGER
    # Texts of two types are not compared: the engine would convert one of them in every query.
    return column.sql_type if column.type is ColumnType.TEXT else None


def links(
    tables: Sequence[Table], proposed: Sequence[Candidate], counted: Comparison
) -> tuple[Relationship, ...]:
    """The relationships that the counts prove, at most one for each pair of tables, without cycles."""
    rows = {table.name: table.rows or 0 for table in tables}
    places = {(t.name, c.name): at for t in tables for at, c in enumerate(t.columns)}
    keys = dict(zip(ones_of(proposed), counted.ones, strict=True))
    proven = [
        candidate
        for candidate, (filled, missing) in zip(proposed, counted.pairs, strict=True)
        if _is_unique(keys[candidate.one]) and filled > 0 and missing == 0
    ]
    both = {(c.many, c.one) for c in proven}
    directed = [c for c in proven if c.reversed not in both or _is_better_directed(c, proven)]
    chosen = _best_of_pairs(_best_referred(directed, both), rows, places)
    taken: list[Candidate] = []
    for candidate in sorted(chosen, key=lambda c: c.order):
        if candidate.many.table not in _reached(candidate.one.table, taken):
            taken.append(candidate)
    return tuple(
        Relationship(
            many_table=c.many.table,
            many_column=c.many.column,
            one_table=c.one.table,
            one_column=c.one.column,
        )
        for c in sorted(taken, key=lambda c: (c.many, c.one))
    )


def ones_of(proposed: Iterable[Candidate]) -> tuple[ColumnPlace, ...]:
    """The columns that may be referenced, each once, in the order of `Comparison.ones`."""
    return tuple(dict.fromkeys(candidate.one for candidate in proposed))


def _is_unique(key: Counts | None) -> bool:
    return key is not None and 0 < key.rows == key.filled == key.distinct and key.longest <= LONGEST_KEY


def _is_better_directed(candidate: Candidate, proven: Iterable[Candidate]) -> bool:
    """Of two columns with the same values, the better named one is referenced."""
    other = next(c for c in proven if (c.many, c.one) == candidate.reversed)
    return candidate.order < other.order


def _best_referred(
    found: Sequence[Candidate], proven: set[tuple[ColumnPlace, ColumnPlace]]
) -> Iterator[Candidate]:
    """For each column its best named references: one, or several with the same values."""
    for many in dict.fromkeys(c.many for c in found):
        mine = [c for c in found if c.many == many]
        best = [c for c in mine if c.score == max(each.score for each in mine)]
        if all((a.one, b.one) in proven for a, b in permutations(best, 2)):
            yield from best


def _best_of_pairs(
    found: Iterable[Candidate], rows: dict[str, int], places: dict[tuple[str, str], int]
) -> Iterator[Candidate]:
    by_pair: dict[frozenset[str], list[Candidate]] = {}
    for candidate in found:
        by_pair.setdefault(candidate.pair, []).append(candidate)
    for mine in by_pair.values():
        best = [c for c in mine if c.score == max(each.score for each in mine)]
        # Two tables that refer to each other: the one with more rows has the details.
        most = max(rows[c.many.table] for c in best)
        best = [c for c in best if rows[c.many.table] == most]
        if len({c.many.table for c in best}) == 1:
            yield min(
                best,
                key=lambda c: (places[c.one.table, c.one.column], places[c.many.table, c.many.column]),
            )


def _reached(table: str, taken: Sequence[Candidate]) -> set[str]:
    found, frontier = {table}, [table]
    while frontier:
        frontier = [c.one.table for c in taken if c.many.table in frontier and c.one.table not in found]
        found.update(frontier)
    return found


def said(relationships: Sequence[Relationship]) -> str:
    """For people: by which columns the tables are joined, and why."""
    listed = [
        f"{r.many_table}.{r.many_column} refers to {r.one_table}.{r.one_column}"
        for r in relationships[:_MOST_SAID]
    ]
    more = f", and {len(relationships) - _MOST_SAID} more" if len(relationships) > _MOST_SAID else ""
    return f"{', '.join(listed)}{more} (unique there, no value is missing)" if listed else ""
