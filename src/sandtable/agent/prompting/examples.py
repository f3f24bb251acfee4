"""Three or four questions with their replies, made from the dataset at hand: a model copies names that exist.

Invariant: every plan here is one that the validator takes for this dataset. With privacy `schema` none holds a cell.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sandtable.agent.endpoint import Privacy
from sandtable.catalog.measures import NUMBER_TYPES, MeasureKind, measure_kind, name_words
from sandtable.catalog.model import Column, ColumnType, Dataset, Metric, Table
from sandtable.catalog.profile import ColumnProfile, Profile
from sandtable.errors import InvalidInput
from sandtable.plan.validate import check_plan, parse_plan

MOST_EXAMPLES = 4
_FEWEST_EXAMPLES = 3
_MOST_GROUPS = 60
_FEW = 12
_LONGEST_VALUE = 40
_TIMES = frozenset({ColumnType.DATE, ColumnType.TIMESTAMP})

Plan = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Measure:
    item: Plan
    name: str
    """Of its output column."""
    words: str


@dataclass(frozen=True, slots=True)
class _Group:
    table: Table
    column: Column
    profile: ColumnProfile | None

    def reference(self, home: Table) -> str:
        return self.column.name if self.table is home else f"{self.table.name}.{self.column.name}"

    @property
    def words(self) -> str:
        return _words(self.column.name)


def examples(dataset: Dataset, profile: Profile, privacy: Privacy) -> list[dict[str, Any]]:
    made: dict[str, Plan] = {}
    for question, plan in _questions(dataset, profile, privacy):
        if len(made) < MOST_EXAMPLES and _is_valid(plan, dataset):
            made.setdefault(question, plan)
    if len(made) < _FEWEST_EXAMPLES:
        for question, plan in _simple(dataset.tables[0]):
            if _is_valid(plan, dataset):
                made.setdefault(question, plan)
    shown = list(made.items())[:MOST_EXAMPLES]
    return [{"question": question, "reply": {"intent": "plan", "plan": plan}} for question, plan in shown]


def _questions(dataset: Dataset, profile: Profile, privacy: Privacy) -> Iterator[tuple[str, Plan]]:
    """A ranking, a course in time, a condition, and a column of another table, as far as the data has them."""
    home = _home(dataset)
    groups = list(_groups(dataset, profile, home))
    own = [group for group in groups if group.table is home]
    joined = [group for group in groups if group.table is not home]
    rate, total = _measure(dataset, home, adds=False), _measure(dataset, home, adds=True)
    if own or joined:
        yield _ranking(home, (own or joined)[0], rate)
    time = _time_column(home)
    if time is not None:
        yield _course(dataset, home, time, total)
    yield from _condition(home, sorted([*own[::-1], *joined], key=_is_wide), profile, privacy)
    if joined:
        yield _by(home, joined[0], total)
    elif len(own) > 1:
        yield _by(home, own[1], total)


def _ranking(home: Table, group: _Group, measure: _Measure) -> tuple[str, Plan]:
    question = f"Which 3 values of {group.words} have the highest {measure.words}?"
    return question, {
        "table": home.name,
        "select": [{"column": group.reference(home)}, measure.item],
        "order_by": [{"expr": measure.name, "dir": "desc"}],
        "limit": 3,
    }


def _course(dataset: Dataset, home: Table, time: Column, measure: _Measure) -> tuple[str, Plan]:
    plan: Plan = {
        "table": home.name,
        "select": [{"bucket": "month", "column": time.name, "as": "month"}, measure.item],
        "order_by": [{"expr": "month"}],
    }
    if dataset.as_of is None or time.name != home.time_column:
        return f"{measure.words} per month of {_words(time.name)}".capitalize(), plan
    window = {"time": {"last": 6, "unit": "month"}}
    return f"{measure.words} per month in the last 6 months".capitalize(), {**plan, **window}


def _condition(
    home: Table, groups: list[_Group], profile: Profile, privacy: Privacy
) -> Iterator[tuple[str, Plan]]:
    """A value of the data where values may be shown; else one that every yes-or-no column has."""
    rows = _words(home.name)
    if privacy == "off":
        for group in groups:
            value = _value(group.profile)
            if value is not None:
                condition = {"column": group.reference(home), "op": "=", "value": value}
                yield f"How many {rows} have {group.words} {value}?", _counted(home, condition)
                return
    for column in home.columns:
        if column.type is ColumnType.BOOLEAN:
            condition = {"column": column.name, "op": "=", "value": True}
            yield f"How many {rows} are {_words(column.name)}?", _counted(home, condition)
            return
    column = _often_empty(home, profile)
    yield (
        f"How many {rows} have no {_words(column.name)}?",
        _counted(home, {"column": column.name, "op": "is_null"}),
    )


def _counted(home: Table, condition: Plan) -> Plan:
    return {"table": home.name, "select": [{"agg": "count", "as": "row_count"}], "filters": [condition]}


def _by(home: Table, group: _Group, measure: _Measure) -> tuple[str, Plan]:
    question = f"{measure.words} by {group.words}".capitalize()
    return question, {
        "table": home.name,
        "select": [{"column": group.reference(home)}, measure.item],
        "order_by": [{"expr": measure.name, "dir": "desc"}],
    }


def _simple(table: Table) -> Iterator[tuple[str, Plan]]:
    """What can be asked of any table."""
    column, rows = table.columns[0], _words(table.name)
    yield (
        f"How many {rows} are there?",
        {"table": table.name, "select": [{"agg": "count", "as": "row_count"}]},
    )
    yield (
        f"How many different values of {_words(column.name)} are there?",
        {
            "table": table.name,
            "select": [{"agg": "count_distinct", "column": column.name, "as": "different"}],
        },
    )
    yield (
        f"Show {_words(column.name)} of 5 {rows}",
        {
            "table": table.name,
            "select": [{"column": column.name}],
            "limit": 5,
        },
    )


def _home(dataset: Dataset) -> Table:
    """The table that most questions are about: with metrics, with a time, and referring to others."""

    def merit(table: Table) -> tuple[int, bool, int]:
        metrics = sum(metric.table == table.name for metric in dataset.metrics)
        refers = sum(r.many_table == table.name for r in dataset.relationships)
        return metrics, table.time_column is not None, refers

    return max(dataset.tables, key=merit)


def _measure(dataset: Dataset, home: Table, *, adds: bool) -> _Measure:
    """A metric or a column of the kind that is wanted, else of the other kind, else the number of rows."""
    wanted = MeasureKind.ADDITIVE if adds else MeasureKind.AVERAGED
    known = [metric for metric in dataset.metrics if metric.table == home.name]
    known.sort(key=lambda metric: measure_kind(metric) is not wanted)
    if known:
        return _metric(known[0])
    columns = [(measure_kind(column), column) for column in home.columns if column.type in NUMBER_TYPES]
    columns = [(kind, column) for kind, column in columns if kind is not MeasureKind.IDENTIFIER]
    columns.sort(key=lambda one: one[0] is not wanted)
    if not columns:
        return _Measure({"agg": "count", "as": "row_count"}, "row_count", f"number of {_words(home.name)}")
    kind, column = columns[0]
    agg, word = ("sum", "total") if kind is MeasureKind.ADDITIVE else ("avg", "average")
    name = f"{word}_{'_'.join(name_words(column.name)) or 'value'}"[:60]
    return _Measure({"agg": agg, "column": column.name, "as": name}, name, f"{word} {_words(column.name)}")


def _metric(metric: Metric) -> _Measure:
    return _Measure({"metric": metric.name}, metric.name, _words(metric.name))


def _groups(dataset: Dataset, profile: Profile, home: Table) -> Iterator[_Group]:
    """Columns to group by: texts with a few values, of the table itself and of those it refers to."""
    near = {r.one_table for r in dataset.relationships if r.many_table == home.name}
    linked = {(r.many_table, r.many_column) for r in dataset.relationships}
    linked |= {(r.one_table, r.one_column) for r in dataset.relationships}
    for table in (home, *(table for table in dataset.tables if table.name in near)):
        seen = profile.table(table.name)
        for column in table.columns:
            its = seen.column(column.name) if seen else None
            few = its is None or 1 < its.distinct <= _MOST_GROUPS
            if column.type is ColumnType.TEXT and few and (table.name, column.name) not in linked:
                yield _Group(table, column, its)


def _is_wide(group: _Group) -> bool:
    return group.profile is None or group.profile.distinct > _FEW


def _time_column(home: Table) -> Column | None:
    if home.time_column:
        return home.column(home.time_column)
    return next((column for column in home.columns if column.type in _TIMES), None)


def _value(profile: ColumnProfile | None) -> str | None:
    values = (counted.value for counted in profile.values) if profile else ()
    return next((v for v in values if isinstance(v, str) and 0 < len(v.strip()) <= _LONGEST_VALUE), None)


def _often_empty(home: Table, profile: Profile) -> Column:
    seen = profile.table(home.name)

    def empty(column: Column) -> int:
        its = seen.column(column.name) if seen else None
        return its.nulls if its else 0

    return max(home.columns, key=empty)


def _words(name: str) -> str:
    return " ".join(name_words(name)) or name


def _is_valid(plan: Plan, dataset: Dataset) -> bool:
    try:
        return not check_plan(parse_plan({"dataset_id": dataset.id, **plan}), dataset)
    except InvalidInput:
        return False
