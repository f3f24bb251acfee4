"""dbt's `semantic_manifest.json` → what it says about a dataset.

Invariant: every semantic model, dimension, entity, measure, metric and saved query is used, or kept in `unused` with
its reason. How dbt was configured is not kept.
"""

from __future__ import annotations

import re
from typing import Any

from sandtable.catalog.model import Column, Dataset, Table
from sandtable.catalog.semantics.exchange import sql_tree as sql
from sandtable.catalog.semantics.exchange.dbt_metrics import Measure, MetricReader
from sandtable.catalog.semantics.exchange.layer import Layer, Problems
from sandtable.catalog.semantics.exchange.parts import Part
from sandtable.catalog.semantics.exchange.sql_expression import parse
from sandtable.catalog.semantics.exchange.sql_tree import NotRead
from sandtable.catalog.semantics.model import Semantics
from sandtable.quoting import quote

_UNIQUE = ("primary", "unique", "natural")


def read_dbt(document: dict[str, Any], dataset: Dataset, problems: Problems) -> Semantics:
    return _Manifest(Layer(dataset, "dbt", problems), Part(document, "")).read()


class _Manifest:
    def __init__(self, layer: Layer, manifest: Part) -> None:
        self._layer = layer
        self._manifest = manifest
        self._entities: list[tuple[str, str, Table, Column]] = []
        """Name, type, and the column that holds it."""
        self._reader = MetricReader(layer)

    def read(self) -> Semantics:
        for each in self._manifest.parts("semantic_models"):
            self._model(each)
        self._joins()
        for each in self._manifest.parts("metrics"):
            self._reader.add(each)
        self._reader.read()
        for each in self._manifest.parts("saved_queries"):
            self._layer.leave("saved_query", each.name(), "a catalog has no saved queries", each.content)
        return self._layer.semantics()

    def _model(self, model: Part) -> None:
        name, relation = model.name(), model.part("node_relation")
        source = relation.text("alias") or relation.text("relation_name")
        table = self._layer.table([source, name])
        if table is None:
            reason = f"the dataset has no table {quote(source or name)}"
            self._layer.leave("semantic_model", name, reason, model.content)
            for measure in model.parts("measures"):
                self._reader.missing[measure.name()] = reason
            return
        words = [model.text("label"), name if name.lower() != table.name.lower() else ""]
        self._layer.say(table, description=model.text("description").strip(), synonyms=words)
        self._reader.tables[name] = table.name
        primary = [model.text("primary_entity")]
        for entity in model.parts("entities"):
            if self._entity(name, table, entity) and entity.text("type") == "primary":
                primary.append(entity.name())
        dimensions = {
            each.name(): found
            for each in model.parts("dimensions")
            if (found := self._dimension(name, table, each)) is not None
        }
        for entity in filter(None, primary):
            for each, tree in dimensions.items():
                self._reader.dimensions[(entity, each)] = (table.name, tree)
        time = dimensions.get(model.part("defaults").text("agg_time_dimension"))
        if isinstance(time, sql.Name):
            self._layer.say(table, time_column=time.text)
        for measure in model.parts("measures"):
            self._reader.measures[measure.name()] = Measure(measure, table.name)

    def _entity(self, model: str, table: Table, entity: Part) -> bool:
        name, expression = entity.name(), entity.text("expr") or entity.name()
        column = table.column(expression.strip('"'))
        if column is None:
            reason = f"{quote(expression)} is no column of {quote(table.name)}"
            self._layer.leave("entity", f"{model}.{name}", reason, entity.content)
            return False
        kind = entity.text("type")
        self._layer.say(table, column, description=entity.text("description"))
        if kind == "primary":
            self._layer.say(table, key=[column.name])
        self._entities.append((name, kind, table, column))
        self._reader.entities[(table.name, name)] = column.name
        return True

    def _dimension(self, model: str, table: Table, dimension: Part) -> sql.Tree | None:
        """The column as a name, or the expression. None where neither can be used."""
        name = dimension.name()
        try:
            tree = parse(dimension.text("expr") or f'"{name}"')
        except NotRead as problem:
            self._layer.leave("dimension", f"{model}.{name}", str(problem), dimension.content)
            return None
        column = table.column(tree.parts[-1]) if isinstance(tree, sql.Name) else None
        if column is None:
            reason = (
                f"{quote(tree.text)} is no column of {quote(table.name)}"
                if isinstance(tree, sql.Name)
                else "a computed dimension is no column of the data; metrics may use it"
            )
            self._layer.leave("dimension", f"{model}.{name}", reason, dimension.content)
            return None if isinstance(tree, sql.Name) else tree
        words = [dimension.text("label")]
        if name.lower() != column.name.lower():
            words.append(re.sub(r"_+", " ", name))
        self._layer.say(table, column, description=dimension.text("description"), synonyms=words)
        return sql.Name((column.name,))

    def _joins(self) -> None:
        """An entity that one model refers to and that identifies the rows of another."""
        for name, kind, table, column in self._entities:
            if kind != "foreign":
                continue
            for other, role, one, key in self._entities:
                if other == name and role in _UNIQUE and one.name != table.name:
                    self._layer.join((table, column), (one, key))
