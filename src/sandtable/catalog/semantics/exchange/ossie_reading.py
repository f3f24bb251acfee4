"""A semantic model of Apache Ossie (OSI 0.1.1, and the draft after it) → what it says about a dataset.

Invariant: every part of the model is used, or kept in `unused` with its reason, so that an export has it again. Types
(`datatype`, `is_time`) are not kept: the data have their own.
"""

from __future__ import annotations

import json
from typing import Any, cast

from sandtable.catalog.model import Column, ColumnType, Dataset, Table
from sandtable.catalog.semantics.exchange import sql_tree as sql
from sandtable.catalog.semantics.exchange.layer import Layer, Problems
from sandtable.catalog.semantics.exchange.metric_reading import ColumnOf, ReadMetric, read_metric
from sandtable.catalog.semantics.exchange.parts import Part
from sandtable.catalog.semantics.exchange.sql_expression import parse
from sandtable.catalog.semantics.exchange.sql_tree import NotRead
from sandtable.catalog.semantics.model import Semantics
from sandtable.quoting import quote

VENDOR, OURS = "COMMON", "sandtable"
"""Where an export keeps what Ossie has no field for: `custom_extensions` of this vendor, below this key."""
READ_AS, NAME_THERE = "read_as", "name_there"
_DIALECTS = ("ANSI_SQL", "SNOWFLAKE", "DATABRICKS", "BIGQUERY")
_TIMES = (ColumnType.DATE, ColumnType.TIMESTAMP)
_KNOWN = {
    "model": {"name", "description", "ai_context", "datasets", "relationships", "metrics", "custom_extensions"},
    "dataset": {"name", "source", "primary_key", "description", "ai_context", "fields", "custom_extensions"},
    "field": {
        "name", "expression", "dimension", "datatype", "description", "ai_context", "custom_extensions",
    },
    "relationship": {"name", "from", "to", "from_columns", "to_columns", "ai_context", "custom_extensions"},
    "metric": {"name", "expression", "datatype", "description", "ai_context", "custom_extensions"},
}  # fmt: skip
_COLUMN_FIELDS = ("unit", "aggregate", "better", "meaning", "masked")


def read_ossie(document: dict[str, Any], dataset: Dataset, problems: Problems) -> Semantics:
    layer = Layer(dataset, "Ossie", problems)
    for model in Part(document, "").parts("semantic_model"):
        _Model(layer, model).read()
    return layer.semantics()


def relationship_name(many: str, column: str, one: str) -> str:
    """What a join is called in an export."""
    return f"{many}_{column}_to_{one}"


class _Model:
    def __init__(self, layer: Layer, model: Part) -> None:
        self._layer = layer
        self._model = model
        self._datasets: dict[str, Table | None] = {}
        """By name, in lower case; None for one whose table is not there."""
        self._fields: dict[tuple[str, str], Column | sql.Tree | NotRead] = {}
        """By the names of dataset and field, in lower case."""
        self._exported = False

    def read(self) -> None:
        model = self._model
        ours = self._rest("model", self._layer.dataset.id, model)
        self._exported = ours is not None
        ours = ours or {}
        said = {name: ours.get(name) for name in ("title", "week_start", "fiscal_year_start")}
        examples = model.part("ai_context").texts("examples") if _context(model) else []
        found = {"description": model.text("description"), "questions": examples, **said}
        self._layer.said.update({name: each for name, each in found.items() if each})
        for each in model.parts("datasets"):
            self._dataset(each)
        for each in model.parts("relationships"):
            self._relationship(each)
        for each in model.parts("metrics"):
            self._metric(each)
        for name, each in Part(ours.get("metrics") or {}, "metrics").content.items():
            self._layer.metrics[name] = each

    def _rest(self, what: str, name: str, part: Part, read_as: Any = None) -> dict[str, Any] | None:
        """Keeps what there is no place for; returns what an export of ours has put there. `read_as`: what the part
        became here, for an export to know it by."""
        rest = {key: each for key, each in part.content.items() if key not in _KNOWN[what]}
        if len(_dialects(part)) > 1:
            rest["expression"] = part.content["expression"]
        if what == "dataset" and (name, part.text("source")) != (read_as, read_as):
            rest["source"] = part.text("source")
        elif what in ("model", "relationship") and part.name() not in (name, read_as):
            rest[NAME_THERE] = part.name()
        used = {"synonyms"} if what != "model" else {"examples"}
        context = part.content.get("ai_context")
        if isinstance(context, dict):
            context = {key: each for key, each in cast(dict[str, Any], context).items() if key not in used}
        if context:
            rest["ai_context"] = context
        ours, others = _extensions(part)
        if others:
            rest["custom_extensions"] = others
        if rest:
            names = ", ".join(sorted("its name" if key == NAME_THERE else key for key in rest))
            rest |= {} if read_as is None else {READ_AS: read_as}
            reason = f"there is no place for {names} here; it is kept for an export"
            self._layer.leave(what, name, reason, rest)
        return ours

    def _dataset(self, part: Part) -> None:
        name, source = part.name(), part.text("source")
        table = self._layer.table([source, name])
        self._datasets[name.lower()] = table
        if table is None:
            reason = f"the dataset has no table {quote(source.split('.')[-1] or name)}"
            self._layer.leave("dataset", name, reason, part.content)
            return
        ours = self._rest("dataset", name, part, table.name) or {}
        synonyms = [name, *_synonyms(part)] if name.lower() != table.name.lower() else _synonyms(part)
        self._layer.say(table, description=part.text("description"), synonyms=synonyms)
        times: list[Column] = []
        for field in part.parts("fields"):
            column = self._field(name, table, field)
            if column is not None and field.part("dimension").content.get("is_time") is True:
                times.append(column)
        time_column = ours.get("time_column")
        if not self._exported and len(times) == 1 and times[0].type in _TIMES:
            time_column = times[0].name
        self._layer.say(table, time_column=time_column)
        self._key(name, table, part)

    def _key(self, name: str, table: Table, part: Part) -> None:
        key = part.texts("primary_key")
        columns = [self._column(name, table, each) for each in key]
        if all(columns):
            self._layer.say(table, key=[each.name for each in columns if each])
        else:
            self._layer.leave("dataset", name, "its key names no columns of the data", {"primary_key": key})

    def _column(self, dataset: str, table: Table, name: str) -> Column | None:
        found = self._fields.get((dataset.lower(), name.lower()))
        return found if isinstance(found, Column) else table.column(name)

    def _field(self, dataset: str, table: Table, part: Part) -> Column | None:
        name = part.name()
        try:
            tree = _first_read(part)
            found: Column | sql.Tree | NotRead = tree
            if isinstance(tree, sql.Name):
                column = table.column(tree.parts[-1])
                if column is None:
                    raise NotRead(f"{quote(table.name)} has no column {quote(tree.parts[-1])}")
                found = column
        except NotRead as problem:
            found = problem
        self._fields[(dataset.lower(), name.lower())] = found
        if not isinstance(found, Column):
            computed = "a computed field is no column of the data; metrics may use it"
            reason = str(found) if isinstance(found, NotRead) else computed
            self._layer.leave("field", f"{dataset}.{name}", reason, part.content)
            return None
        ours = self._rest("field", f"{dataset}.{found.name}", part) or {}
        synonyms = [name, *_synonyms(part)] if name.lower() != found.name.lower() else _synonyms(part)
        said = {field: ours.get(field) for field in _COLUMN_FIELDS}
        self._layer.say(table, found, description=part.text("description"), synonyms=synonyms, **said)
        return found

    def _relationship(self, part: Part) -> None:
        name = part.name()
        many, one = part.texts("from_columns"), part.texts("to_columns")
        ends: list[tuple[Table, Column]] = []
        reason = "joins by several columns cannot be made here" if len(many) != 1 or len(one) != 1 else ""
        for side, columns in (("from", many), ("to", one)):
            dataset = part.text(side)
            table = self._datasets.get(dataset.lower())
            column = self._column(dataset, table, columns[0]) if table and columns else None
            if table is None or column is None:
                missing = f"{dataset}.{columns[0]}" if table and columns else dataset
                reason = reason or f"{quote(missing)} is not in the dataset"
            else:
                ends.append((table, column))
        if not reason and ends[0][0].name == ends[1][0].name:
            reason = "joins of a table with itself cannot be made here"
        if reason:
            self._layer.leave("relationship", name, reason, part.content)
        else:
            (many_table, many_column), (one_table, _) = ends
            known = (many_table.name, many_column.name, one_table.name)
            self._rest("relationship", relationship_name(*known), part, list(known))
            self._layer.join(ends[0], ends[1])

    def _metric(self, part: Part) -> None:
        name = part.name()
        ours = _extensions(part)[0] or {}
        said = {field: ours[field] for field in ("format", "better") if field in ours}
        try:
            read = self._read_metric(part, ours.get("table"))
            self._layer.metric(
                name, read, description=part.text("description"), synonyms=_synonyms(part), **said
            )
        except NotRead as problem:
            self._layer.leave("metric", name, str(problem), part.content)
        else:
            self._rest("metric", name, part, {"numerator": read.numerator, "denominator": read.denominator})

    def _read_metric(self, part: Part, table: Any) -> ReadMetric:
        tables = [each for each in self._datasets.values() if each is not None]
        home = tables[0].name if len(self._datasets) == 1 and tables else None
        found = self._layer.dataset.table(table) if isinstance(table, str) else None
        home = found.name if found else home
        tree = _first_read(part)
        return read_metric(tree, self._resolve, self._layer.reaches, home, fixed=found is not None)

    def _resolve(self, name: sql.Name) -> ColumnOf | sql.Tree:
        if len(name.parts) > 1:
            return self._resolved(name.parts[-2].lower(), name)
        owners = [
            each for each, table in self._datasets.items() if table is None or self._has(each, table, name)
        ]
        if len(owners) != 1:
            raise NotRead(f"{quote(name.text)} is a field of {'several' if owners else 'no'} datasets")
        return self._resolved(owners[0], name)

    def _has(self, dataset: str, table: Table, name: sql.Name) -> bool:
        field = name.parts[-1]
        return (dataset, field.lower()) in self._fields or table.column(field) is not None

    def _resolved(self, dataset: str, name: sql.Name) -> ColumnOf | sql.Tree:
        if dataset not in self._datasets:
            raise NotRead(f"the model has no dataset {quote(dataset)}")
        table = self._datasets[dataset]
        if table is None:
            raise NotRead(f"the table of {quote(dataset)} is not in the dataset")
        found = self._fields.get((dataset, name.parts[-1].lower())) or table.column(name.parts[-1])
        if isinstance(found, NotRead):
            raise NotRead(f"{quote(name.text)}: {found}")
        if found is None:
            raise NotRead(f"{quote(name.text)} is not in the dataset")
        return ColumnOf(table.name, found.name) if isinstance(found, Column) else _qualified(found, dataset)


def _qualified(tree: sql.Tree, dataset: str) -> sql.Tree:
    """A computed field names fields of its own dataset."""

    def change(part: sql.Name | sql.Call) -> sql.Tree | None:
        if isinstance(part, sql.Name) and len(part.parts) == 1:
            return sql.Name((dataset, part.text))
        return None

    return sql.changed(tree, change)


def _dialects(part: Part) -> dict[str, str]:
    if "expression" not in part.content:
        return {}
    listed = part.part("expression").parts("dialects")
    return {each.text("dialect"): each.text("expression") for each in listed}


def _first_read(part: Part) -> sql.Tree:
    """Of the SQL dialects, the first one that can be read."""
    dialects = _dialects(part)
    problem = NotRead(f"it has no expression in SQL, only in {', '.join(dialects) or 'none'}")
    for dialect in _DIALECTS:
        if dialect in dialects:
            try:
                return parse(dialects[dialect])
            except NotRead as error:
                problem = error
    raise problem


def _context(part: Part) -> bool:
    return isinstance(part.content.get("ai_context"), dict)


def _synonyms(part: Part) -> list[str]:
    return part.part("ai_context").texts("synonyms") if _context(part) else []


def _extensions(part: Part) -> tuple[dict[str, Any] | None, list[Any]]:
    """Ours, and those of others."""
    ours: dict[str, Any] | None = None
    others: list[Any] = []
    for each in part.parts("custom_extensions"):
        found = _data(each.text("data")) if each.text("vendor_name") == VENDOR else None
        if found is None:
            others.append(each.content)
        else:
            ours = found
    return ours, others


def _data(text: str) -> dict[str, Any] | None:
    try:
        found: Any = json.loads(text)
    except (ValueError, RecursionError):
        return None
    ours = cast(dict[str, Any], found).get(OURS) if isinstance(found, dict) else None
    return cast(dict[str, Any], ours) if isinstance(ours, dict) else None
