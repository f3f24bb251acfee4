"""A dataset described by a document, and the whole document that describes a dataset.

Invariant: `described(d, semantics_of(d)).dataset` is `d`, and its `catalog_version` is that of its whole document. What
a document says about tables and columns that are not there is named and left out; the rest holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pydantic import ValidationError

from sandtable.catalog.model import Column, Dataset, Metric, Relationship, Table
from sandtable.catalog.names import nearest
from sandtable.catalog.registry import explain, metric_problem
from sandtable.catalog.semantics.model import (
    MONTHS,
    Aggregate,
    ColumnSemantics,
    JoinSemantics,
    MetricSemantics,
    Semantics,
    TableSemantics,
)
from sandtable.quoting import quote

_MEASURES = {"sum": "additive", "average": "averaged", "none": "identifier"}
_AGGREGATES: dict[str, Aggregate] = {"additive": "sum", "averaged": "average", "identifier": "none"}


@dataclass(frozen=True, slots=True)
class Described:
    dataset: Dataset
    misfits: tuple[str, ...] = ()
    """What the document says about tables and columns that are not there, in words."""


def semantics_of(dataset: Dataset) -> Semantics:
    """Everything that the dataset's description says. Every table and column is there, those without a word too."""
    return Semantics(
        dataset=dataset.id,
        title=dataset.title,
        description=dataset.description,
        week_start=dataset.week_start,
        fiscal_year_start=MONTHS[dataset.fiscal_month - 1] if dataset.fiscal_month else None,
        tables={table.name: _table_semantics(table) for table in dataset.tables},
        joins=tuple(
            JoinSemantics(many=f"{r.many_table}.{r.many_column}", one=f"{r.one_table}.{r.one_column}")
            for r in dataset.relationships
        ),
        metrics={metric.name: MetricSemantics.of(metric) for metric in dataset.metrics},
    )


def _table_semantics(table: Table) -> TableSemantics:
    return TableSemantics(
        description=table.description,
        synonyms=table.synonyms,
        time_column=table.time_column,
        key=table.key,
        columns={column.name: _column_semantics(column) for column in table.columns},
    )


def _column_semantics(column: Column) -> ColumnSemantics:
    return ColumnSemantics(
        description=column.description,
        synonyms=column.synonyms,
        unit=column.unit,
        aggregate=_AGGREGATES[column.measure] if column.measure else None,
        better=column.better,
        meaning=column.meaning,
        masked=column.masked,
    )


def described(dataset: Dataset, semantics: Semantics) -> Described:
    """`dataset` as the document describes it; where that says nothing, as it was."""
    misfits: list[str] = []
    names = [table.name for table in dataset.tables]
    known = {name.lower(): said for name, said in semantics.tables.items()}
    for name in semantics.tables:
        if dataset.table(name) is None:
            misfits.append(f"there is no table {quote(name)}{_near(name, names)}")
    said = semantics.model_dump(include={"title", "description", "week_start"}, exclude_none=True)
    if semantics.fiscal_year_start is not None:
        said["fiscal_month"] = MONTHS.index(semantics.fiscal_year_start) + 1
    if semantics.questions is not None:
        said["prompts"] = semantics.questions
    said["tables"] = tuple(_table(table, known.get(table.name.lower()), misfits) for table in dataset.tables)
    if semantics.joins is not None:
        said["relationships"] = _relationships(dataset, semantics.joins, misfits)
    made = dataset.model_copy(update=said)
    if semantics.metrics is not None:
        made = _with_metrics(made.model_copy(update={"metrics": ()}), semantics.metrics, misfits)
    return Described(with_version(made), tuple(misfits))


def with_version(dataset: Dataset) -> Dataset:
    return dataset.model_copy(update={"catalog_version": semantics_of(dataset).version})


def _table(table: Table, said: TableSemantics | None, misfits: list[str]) -> Table:
    if said is None:
        return table
    names = [column.name for column in table.columns]
    for name in (*said.columns, *(said.key or ()), *([said.time_column] if said.time_column else ())):
        if table.column(name) is None:
            misfits.append(f"{table.name} has no column {quote(name)}{_near(name, names)}")
    known = {name.lower(): each for name, each in said.columns.items()}
    update = said.model_dump(include={"description", "synonyms"}, exclude_none=True)
    if said.time_column is not None:
        update["time_column"] = _existing(table, said.time_column)
    if said.key is not None:
        update["key"] = tuple(found for name in said.key if (found := _existing(table, name)) is not None)
    update["columns"] = tuple(_column(column, known.get(column.name.lower())) for column in table.columns)
    return table.model_copy(update=update)


def _existing(table: Table, name: str) -> str | None:
    """As the table spells it."""
    column = table.column(name)
    return column.name if column else None


def _column(column: Column, said: ColumnSemantics | None) -> Column:
    if said is None:
        return column
    update = said.model_dump(exclude={"aggregate", "meaning"}, exclude_none=True)
    if said.aggregate is not None:
        update["measure"] = _MEASURES[said.aggregate]
    if said.meaning is not None:
        update["meaning"] = said.meaning
    return column.model_copy(update=update)


def _relationships(
    dataset: Dataset, joins: Iterable[JoinSemantics], misfits: list[str]
) -> tuple[Relationship, ...]:
    found: list[Relationship] = []
    for join in joins:
        many, one = _place(dataset, join.many, misfits), _place(dataset, join.one, misfits)
        if many is None or one is None:
            continue
        made = Relationship(many_table=many[0], many_column=many[1], one_table=one[0], one_column=one[1])
        if made.many_table == made.one_table:
            misfits.append(f"a join from {join.many} to {join.one} stays in one table")
        elif made not in found:
            found.append(made)
    return tuple(found)


def _place(dataset: Dataset, name: str, misfits: list[str]) -> tuple[str, str] | None:
    """A table's name may hold dots: the longest one that exists is taken."""
    for at in reversed([at for at, letter in enumerate(name) if letter == "."]):
        table = dataset.table(name[:at])
        column = table.column(name[at + 1 :]) if table else None
        if table and column:
            return table.name, column.name
    misfits.append(f"a join names {quote(name)}, which does not exist")
    return None


def _with_metrics(dataset: Dataset, metrics: Mapping[str, MetricSemantics], misfits: list[str]) -> Dataset:
    for name, said in metrics.items():
        try:
            metric = Metric(name=name, **said.model_dump())
        except ValidationError as error:
            misfits.append(f"metric {quote(name)}: {explain(error)}")
            continue
        if dataset.table(metric.table) is None:
            misfits.append(f"metric {quote(name)} is on {quote(metric.table)}, which does not exist")
        elif dataset.metric(name) is not None:
            misfits.append(f"two metrics are called {quote(name)}")
        elif problem := metric_problem(dataset, metric):
            misfits.append(problem)
        else:
            dataset = dataset.model_copy(update={"metrics": (*dataset.metrics, metric)})
    return dataset


def _near(name: str, names: list[str]) -> str:
    alike = nearest(name, names)
    return f"; did you mean {quote(alike)}?" if alike else ""
