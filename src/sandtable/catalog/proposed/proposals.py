"""What could be said about a dataset: keys, joins, metrics and masks, each with its reason, for a person to confirm.

Nothing here changes a dataset. Invariant: pure; the same data and description give the same proposals in one order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

from sandtable.catalog.convert import ColumnPlace
from sandtable.catalog.measures import NUMBER_TYPES, MeasureKind, measure_kind, name_words
from sandtable.catalog.model import Column, ColumnType, Dataset, Meaning, Table
from sandtable.catalog.profile import ColumnProfile, Profile, TableProfile
from sandtable.catalog.proposed.keys import KeyProposal
from sandtable.catalog.proposed.links import candidates
from sandtable.catalog.proposed.meanings import meaning_of
from sandtable.catalog.semantics.model import JoinSemantics, MetricSemantics

MOST_JOINS = 12
MOST_METRICS = 6
_MOST_BY_VALUES = 24
_LEAST_SHARE = 0.5
"""Of the rows that must find a partner."""
_LEAST_SHARE_BY_VALUES = 0.9
_LEAST_VALUES = 3
_LONGEST_METRIC_NAME = 60


@dataclass(frozen=True, slots=True)
class JoinCandidate:
    many: ColumnPlace
    one: ColumnPlace
    why: str
    """Why the two may belong together, in words."""
    least_share: float


@dataclass(frozen=True, slots=True)
class KeyCounts:
    """What counting all rows found about one candidate."""

    filled: int
    """Rows of `many` that are not null."""
    missing: int
    """Those whose value is not in `one`."""
    unique: bool
    """Whether every value of `one` occurs once, and none is null."""


@dataclass(frozen=True, slots=True)
class JoinProposal:
    join: JoinSemantics
    reason: str
    matched: int
    missing: int


@dataclass(frozen=True, slots=True)
class MetricProposal:
    name: str
    semantics: MetricSemantics
    reason: str


@dataclass(frozen=True, slots=True)
class MaskProposal:
    table: str
    column: str
    reason: str


@dataclass(frozen=True, slots=True)
class Proposals:
    keys: tuple[KeyProposal, ...] = ()
    joins: tuple[JoinProposal, ...] = ()
    metrics: tuple[MetricProposal, ...] = ()
    masks: tuple[MaskProposal, ...] = ()


# Joins


def join_candidates(dataset: Dataset, profile: Profile) -> tuple[JoinCandidate, ...]:
    """Pairs of columns that may refer to each other, by their names or by their values; joins that the catalog has are
    left out. A sandbox counts them."""
    taken = {frozenset((r.many_table, r.one_table)) for r in dataset.relationships}
    found: dict[frozenset[ColumnPlace], JoinCandidate] = {}
    for named in candidates(dataset.tables):
        if named.pair not in taken:
            why = _named_alike(named.many, named.one)
            found.setdefault(
                frozenset((named.many, named.one)), JoinCandidate(named.many, named.one, why, _LEAST_SHARE)
            )
    for many, one, share in _by_values(dataset, profile):
        if frozenset((many.table, one.table)) not in taken:
            why = f"{share:.0%} of the values of {many.table}.{many.column} are in {one.table}.{one.column}"
            found.setdefault(frozenset((many, one)), JoinCandidate(many, one, why, _LEAST_SHARE_BY_VALUES))
    return tuple(found.values())[:MOST_JOINS]


def _named_alike(many: ColumnPlace, one: ColumnPlace) -> str:
    if many.column.lower() == one.column.lower():
        return f"both have a column {many.column}"
    return f"{many.column} of {many.table} is named after {one.column} of {one.table}"


def _by_values(dataset: Dataset, profile: Profile) -> Iterator[tuple[ColumnPlace, ColumnPlace, float]]:
    """Texts alone: small whole numbers are contained in each other by chance."""
    columns = {table.name: [*_listed_texts(table, profile.table(table.name))] for table in dataset.tables}
    found = 0
    for many, one in permutations(dataset.tables, 2):
        for place, mine in columns[many.name]:
            for other, theirs in columns[one.name]:
                rows = sum(theirs.values())
                if rows != len(theirs) or len(theirs) < _LEAST_VALUES or len(mine) < 2:
                    continue
                share = sum(1 for value in mine if value in theirs) / len(mine)
                if share >= _LEAST_SHARE_BY_VALUES and found < _MOST_BY_VALUES:
                    found += 1
                    yield place, other, share


def _listed_texts(
    table: Table, profile: TableProfile | None
) -> Iterator[tuple[ColumnPlace, dict[object, int]]]:
    for column in table.columns:
        known = profile.column(column.name) if profile else None
        if column.type is ColumnType.TEXT and known is not None and known.complete and known.values:
            yield ColumnPlace(table.name, column.name), {each.value: each.count for each in known.values}


def _join(candidate: JoinCandidate, counts: KeyCounts | None) -> JoinProposal | None:
    if counts is None or not counts.unique or not counts.filled:
        return None
    matched = counts.filled - counts.missing
    if matched < candidate.least_share * counts.filled:
        return None
    many, one = candidate.many, candidate.one
    missing = (
        "every row finds its partner"
        if not counts.missing
        else f"{counts.missing:,} of {counts.filled:,} rows would find none"
    )
    reason = f"{candidate.why}; {one.column} occurs once for each row of {one.table}; {missing}"
    join = JoinSemantics(many=f"{many.table}.{many.column}", one=f"{one.table}.{one.column}")
    return JoinProposal(join, reason, matched, counts.missing)


# Metrics


def _metrics(dataset: Dataset, profile: Profile) -> Iterator[MetricProposal]:
    """Rates of yes/no columns, sums of what adds up and averages of what does not; the tables with most rows first."""
    known = [(m.table, m.numerator, m.denominator) for m in dataset.metrics]
    names = {metric.name.lower() for metric in dataset.metrics}
    for table in sorted(dataset.tables, key=lambda each: -(each.rows or 0)):
        looked_at = profile.table(table.name)
        for column in table.columns:
            made = _metric(table, column, looked_at.column(column.name) if looked_at else None)
            if made is None or (table.name, made.semantics.numerator, made.semantics.denominator) in known:
                continue
            if made.name.lower() not in names:
                names.add(made.name.lower())
                yield made


def _metric(table: Table, column: Column, profile: ColumnProfile | None) -> MetricProposal | None:
    words = name_words(column.name)
    name = "_".join(words)
    if not name or len(name) > _LONGEST_METRIC_NAME:
        return None
    what = " ".join(words)
    found = meaning_of(column, profile, table)
    if column.type is ColumnType.BOOLEAN:
        rate = name if words[-1] == "rate" else f"{name}_rate"
        where = [{"column": column.name, "op": "=", "value": True}]
        said = MetricSemantics(
            table=table.name,
            description=f"Share of {table.name} that are {what}",
            numerator={"agg": "count", "where": where},
            denominator={"agg": "count"},
            format="percent",
        )
        return MetricProposal(rate, said, f"{column.name} is yes or no, so its share can be computed")
    if column.type not in NUMBER_TYPES or found.meaning is Meaning.IDENTIFIER:
        return None
    kind = measure_kind(column, profile)
    money = found.meaning is Meaning.MONEY
    if kind is MeasureKind.ADDITIVE and (money or found.meaning is Meaning.AMOUNT):
        said = MetricSemantics(
            table=table.name,
            description=_described("total", words),
            numerator={"agg": "sum", "column": column.name},
            format="currency" if money else "number",
        )
        is_what = "money" if money else "a number of something"
        return MetricProposal(_called("total", words), said, f"{column.name} is {is_what}, and adds up")
    if kind is MeasureKind.AVERAGED:
        said = MetricSemantics(
            table=table.name,
            description=_described("average", words),
            numerator={"agg": "avg", "column": column.name},
        )
        reason = f"{column.name} does not add up, so it is averaged: {found.why}"
        return MetricProposal(_called("average", words), said, reason)
    return None


def _called(aggregate: str, words: tuple[str, ...]) -> str:
    """`total_amount`, and `order_total` for a column that is called so: the metric is its sum."""
    return "_".join(words if aggregate in words else (aggregate, *words))


def _described(aggregate: str, words: tuple[str, ...]) -> str:
    said = words if aggregate in words else (aggregate, *words)
    return " ".join(said).capitalize()


# All


def proposals_of(
    dataset: Dataset,
    profile: Profile,
    considered: Sequence[JoinCandidate] = (),
    counted: Sequence[KeyCounts | None] = (),
    keys: tuple[KeyProposal, ...] = (),
) -> Proposals:
    """`considered`: the join candidates that were counted, `counted`: what was found of each."""
    joins = [
        made
        for each, counts in zip(considered, counted, strict=True)
        if (made := _join(each, counts)) is not None
    ]
    joins.sort(key=lambda made: (made.missing / (made.matched + made.missing), made.join.many))
    return Proposals(
        keys,
        tuple(_one_for_two_tables(joins)),
        tuple(_metrics(dataset, profile))[:MOST_METRICS],
        tuple(_masks(dataset, profile)),
    )


def _one_for_two_tables(joins: Sequence[JoinProposal]) -> Iterator[JoinProposal]:
    """The best join of two tables: a plan never has to choose between two ways."""
    seen: set[frozenset[str]] = set()
    for made in joins:
        pair = frozenset((made.join.many.rpartition(".")[0], made.join.one.rpartition(".")[0]))
        if pair not in seen:
            seen.add(pair)
            yield made


def _masks(dataset: Dataset, profile: Profile) -> Iterator[MaskProposal]:
    for table in dataset.tables:
        looked_at = profile.table(table.name)
        for column in table.columns:
            found = meaning_of(column, looked_at.column(column.name) if looked_at else None, table)
            if found.personal and not column.masked:
                yield MaskProposal(table.name, column.name, found.why)
