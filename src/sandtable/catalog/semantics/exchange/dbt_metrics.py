"""Measures and metrics of a dbt semantic manifest → metrics of the plan language.

A metric over several semantic models is computed by dbt for each of them and then put together; here a metric is over
the rows of one table, so such a metric is kept unused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from sandtable.catalog.semantics.exchange import sql_tree as sql
from sandtable.catalog.semantics.exchange.layer import Layer
from sandtable.catalog.semantics.exchange.metric_reading import ColumnOf, Resolve, read_metric
from sandtable.catalog.semantics.exchange.parts import Part
from sandtable.catalog.semantics.exchange.sql_expression import parse
from sandtable.catalog.semantics.exchange.sql_tree import NotRead
from sandtable.quoting import quote

_TEMPLATE = re.compile(r"\{\{\s*(Dimension|TimeDimension|Entity)\(\s*(['\"])([\w]+)\2([^{}]*)\)\s*\}\}")
_DAY = re.compile(r"\s*(?:,\s*(?:time_granularity_name\s*=\s*)?(['\"])day\1\s*)?")
_FUNCTIONS = {
    "sum": "sum", "min": "min", "max": "max", "average": "avg", "median": "median", "count": "count",
    "count_distinct": "count", "sum_boolean": "sum", "percentile": "percentile_cont",
}  # fmt: skip
_OTHER_TYPES = ("cumulative", "conversion")
_OPTIONS = ("fill_nulls_with", "join_to_timespine")
_DEEPEST = 20
_MARK = "\0"
"""Between the words of a name that stands for a template."""


@dataclass(frozen=True, slots=True)
class Measure:
    part: Part
    table: str


@dataclass(frozen=True, slots=True)
class _Read:
    tree: sql.Tree
    table: str


class MetricReader:
    def __init__(self, layer: Layer) -> None:
        self._layer = layer
        self._metrics: dict[str, Part] = {}
        self.measures: dict[str, Measure] = {}
        self.tables: dict[str, str] = {}
        """By semantic model."""
        self.missing: dict[str, str] = {}
        """Measures of models that have no table here, with the reason."""
        self.entities: dict[tuple[str, str], str] = {}
        """The column, by table and entity."""
        self.dimensions: dict[tuple[str, str], tuple[str, sql.Tree]] = {}
        """The table and the expression, by primary entity and dimension."""
        self._used: set[str] = set()

    def add(self, metric: Part) -> None:
        self._metrics[metric.name()] = metric

    def read(self) -> None:
        for name, metric in self._metrics.items():
            label = metric.text("label")
            synonyms = [label] if label.lower() not in ("", name.lower().replace("_", " ")) else []
            try:
                read = self._metric(metric, 0)
                resolve, reaches = self._resolver(read.table), self._layer.reaches
                made = read_metric(read.tree, resolve, reaches, read.table, fixed=True)
                if made.table != read.table:
                    raise NotRead(f"it counts rows of {quote(made.table)} by columns of another table")
                said = metric.text("description").strip()
                self._layer.metric(name, made, description=said, synonyms=synonyms)
            except NotRead as problem:
                self._layer.leave("metric", name, str(problem), metric.content)
        for name, measure in self.measures.items():
            if name not in self._used:
                self._layer.leave("measure", name, "no metric uses it", measure.part.content)

    def _metric(self, metric: Part, depth: int) -> _Read:
        if depth > _DEEPEST:
            raise NotRead("it is defined by itself, or by too many others")
        kind, params = metric.text("type"), metric.part("type_params")
        self._used.update(each.text("name") for each in params.parts("input_measures"))
        match kind:
            case "simple":
                read = self._simple(metric, params)
            case "ratio":
                sides = [self._input(params.part(side), depth) for side in ("numerator", "denominator")]
                read = _together(sql.Arithmetic("/", sides[0].tree, sides[1].tree), sides)
            case "derived":
                read = self._derived(params, depth)
            case _:
                known = kind if kind in _OTHER_TYPES else quote(kind)
                raise NotRead(f"{known} metrics cannot be computed here")
        return _filtered(read, metric)

    def _simple(self, metric: Part, params: Part) -> _Read:
        given, direct = params.part("measure"), params.part("metric_aggregation_params")
        name = given.text("name")
        if direct.content:
            model = direct.text("semantic_model")
            if model not in self.tables:
                raise NotRead(f"the table of {quote(model)} is not in the dataset")
            read = _Read(_aggregate(direct, params.text("expr") or metric.name()), self.tables[model])
        elif name in self.measures:
            measure = self.measures[name]
            self._used.add(name)
            read = _Read(_aggregate(measure.part, measure.part.text("expr") or name), measure.table)
        else:
            raise NotRead(self.missing.get(name) or f"there is no measure {quote(name)}")
        options = {
            option: part.content[option]
            for part in (given, params)
            for option in _OPTIONS
            if part.content.get(option) is not None and part.content[option] is not False
        }
        if options:
            reason = "periods without rows are not filled here"
            self._layer.leave("metric option", metric.name(), reason, options)
        return _filtered(read, given)

    def _input(self, given: Part, depth: int) -> _Read:
        name = given.text("name")
        if given.content.get("offset_window") or given.content.get("offset_to_grain"):
            raise NotRead(f"{quote(name)} is of another period, which a metric here cannot be")
        if name not in self._metrics:
            raise NotRead(f"there is no metric {quote(name)}")
        return _filtered(self._metric(self._metrics[name], depth + 1), given)

    def _derived(self, params: Part, depth: int) -> _Read:
        inputs = {
            each.text("alias") or each.text("name"): self._input(each, depth)
            for each in params.parts("metrics")
        }

        def inside(part: sql.Name | sql.Call) -> sql.Tree | None:
            if isinstance(part, sql.Call):
                return None
            if part.text not in inputs:
                raise NotRead(f"{quote(part.text)} is none of its metrics")
            return inputs[part.text].tree

        tree = sql.changed(parse(params.text("expr")), inside)
        return _together(tree, list(inputs.values()))

    def _resolver(self, home: str) -> Resolve:
        table = self._layer.dataset.table(home)
        assert table is not None

        def resolve(name: sql.Name) -> ColumnOf | sql.Tree:
            if name.parts[0].startswith(_MARK):
                return self._template(home, *name.parts[0].split(_MARK)[1:])
            column = table.column(name.parts[-1])
            if column is None:
                raise NotRead(f"{quote(home)} has no column {quote(name.parts[-1])}")
            return ColumnOf(home, column.name)

        return resolve

    def _template(self, home: str, function: str, name: str) -> ColumnOf | sql.Tree:
        """`Dimension('order__status')`: the dimension of the model that the entity identifies."""
        if function == "Entity":
            column = self.entities.get((home, name.split("__")[-1]))
            if column is None:
                raise NotRead(f"{quote(home)} has no entity {quote(name)}")
            return ColumnOf(home, column)
        path, _, dimension = name.rpartition("__")
        table, tree = self.dimensions.get((path.split("__")[-1], dimension), ("", sql.Star()))
        if isinstance(tree, sql.Name):
            return ColumnOf(table, tree.parts[-1])
        if not table:
            raise NotRead(f"the dimension {quote(name)} is not in the dataset")
        if table != home:
            raise NotRead(f"the dimension {quote(name)} is computed in another table")
        return tree


def _together(tree: sql.Tree, inputs: list[_Read]) -> _Read:
    tables = sorted({each.table for each in inputs})
    if len(tables) != 1:
        names = " and ".join(quote(name) for name in tables) or "no table"
        raise NotRead(f"it puts together metrics of {names}; here a metric is over the rows of one table")
    return _Read(tree, tables[0])


def _aggregate(measure: Part, expression: str) -> sql.Tree:
    kind = measure.text("agg")
    if measure.content.get("non_additive_dimension"):
        raise NotRead("measures that add up in some dimensions only cannot be computed here")
    if kind not in _FUNCTIONS:
        raise NotRead(f"the aggregate {quote(kind)} cannot be computed here")
    operand = parse(expression)
    if kind != "percentile":
        return sql.Call(_FUNCTIONS[kind], (operand,), distinct=kind == "count_distinct")
    params = measure.part("agg_params")
    share = params.content.get("percentile")
    if not isinstance(share, int | float) or params.content.get("use_discrete_percentile"):
        raise NotRead("discrete percentiles cannot be computed here")
    return sql.Call("percentile_cont", (sql.Constant(share),), ordered_by=operand)


def _filtered(read: _Read, part: Part) -> _Read:
    """Each aggregate only of the rows that pass."""
    filters = part.part("filter").parts("where_filters") if part.content.get("filter") else []
    tree = read.tree
    for each in filters:
        condition = parse(_TEMPLATE.sub(_as_name, each.text("where_sql_template")))

        def held(part: sql.Name | sql.Call, condition: sql.Tree = condition) -> sql.Tree | None:
            if not isinstance(part, sql.Call) or part.function not in _FUNCTIONS.values():
                return None
            both = condition if part.where is None else sql.Joined("and", (part.where, condition))
            return replace(part, where=both)

        tree = sql.changed(tree, held)
    return _Read(tree, read.table)


def _as_name(template: re.Match[str]) -> str:
    function, _, name, rest = template.groups()
    if function == "TimeDimension" and not _DAY.fullmatch(rest):
        raise NotRead(f"a condition on periods of {quote(name)} cannot be made here")
    return f'"{_MARK}{function}{_MARK}{name}"'
