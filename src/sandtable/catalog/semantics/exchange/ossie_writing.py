"""A catalog → a semantic model of Apache Ossie, in the form of OSI 0.1.1.

Invariant: `read_ossie` of what was written says the same again. What Ossie has no field for is in `custom_extensions`
of the vendor COMMON; parts of an imported model that had no use here are in their places again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from sandtable.catalog.model import ColumnType, Dataset
from sandtable.catalog.semantics.exchange.metric_writing import NotWritten, column_sql, metric_sql
from sandtable.catalog.semantics.exchange.ossie_reading import (
    NAME_THERE,
    OURS,
    READ_AS,
    VENDOR,
    relationship_name,
)
from sandtable.catalog.semantics.model import ColumnSemantics, MetricSemantics, Semantics, TableSemantics

_VERSION = "0.1.1"
_KIND = "Ossie "
_TIMES = (ColumnType.DATE, ColumnType.TIMESTAMP)
Made = dict[str, Any]


def write_ossie(whole: Semantics, dataset: Dataset) -> Made:
    """`whole`: all that is said. `dataset`: as it describes the data."""
    return {"version": _VERSION, "semantic_model": [_Model(whole, dataset).written()]}


class _Model:
    def __init__(self, whole: Semantics, dataset: Dataset) -> None:
        self._whole = whole
        self._dataset = dataset
        self._kept: dict[tuple[str, str], list[Made]] = {}
        """By what it is and its name: whole parts, and fields of parts."""
        for each in whole.unused:
            if each.kind.startswith(_KIND):
                self._kept.setdefault((each.kind.removeprefix(_KIND), each.name), []).append(each.content)
        self._names = {
            content[READ_AS]: name
            for (what, name), contents in self._kept.items()
            for content in contents
            if what == "dataset" and READ_AS in content
        }
        """What tables are called in the model that was imported."""

    def written(self) -> Made:
        whole = self._whole
        metrics, unwritten = self._metrics()
        ours = {
            "title": whole.title,
            "week_start": whole.week_start,
            "fiscal_year_start": whole.fiscal_year_start,
            "metrics": unwritten,
        }
        made: Made = {"name": self._dataset.id, "description": whole.description}
        datasets = [self._table(table, said) for table, said in whole.tables.items()]
        made |= {
            "ai_context": {"examples": list(whole.questions or ())},
            "datasets": [*datasets, *self._parts("dataset")],
            "relationships": [*self._relationships(), *self._parts("relationship")],
            "metrics": [*metrics, *self._parts("metric")],
        }
        return self._with_rest("model", self._dataset.id, made, ours, always=True)

    def _parts(self, what: str, of: str = "") -> list[Made]:
        """Whole parts that had no use."""
        return [
            content
            for (kind, name), contents in self._kept.items()
            for content in contents
            if kind == what and "name" in content and (not of or name.rpartition(".")[0] == of)
        ]

    def _with_rest(
        self, what: str, name: str, made: Made, ours: Mapping[str, Any], *, always: bool = False
    ) -> Made:
        made = dict(made)
        extensions: list[Any] = []
        for rest in (each for each in self._kept.get((what, name), ()) if "name" not in each):
            context: Any = rest.get("ai_context")
            if isinstance(context, dict):
                made["ai_context"] = {**cast(Made, context), **made.get("ai_context", {})}
            elif context and not any(made.get("ai_context", {}).values()):
                made["ai_context"] = context
            extensions += rest.get("custom_extensions") or []
            gone = {"ai_context", "custom_extensions", READ_AS, NAME_THERE}
            made |= {key: each for key, each in rest.items() if key not in gone}
            made["name"] = rest.get(NAME_THERE, made["name"])
        said = {key: each for key, each in ours.items() if each not in (None, "", False, [], {})}
        if said or always:
            data = json.dumps({OURS: said}, ensure_ascii=False)
            extensions.append({"vendor_name": VENDOR, "data": data})
        made["custom_extensions"] = extensions
        return _without_empty(made)

    def _table(self, table: str, said: TableSemantics) -> Made:
        name = self._names.get(table, table)
        found = self._dataset.table(table)
        times = {c.name for c in found.columns if c.type in _TIMES} if found else set[str]()
        fields = [self._field(name, column, each, column in times) for column, each in said.columns.items()]
        made: Made = {
            "name": name,
            "source": table,
            "primary_key": list(said.key or ()),
            "description": said.description,
            "ai_context": {"synonyms": [each for each in said.synonyms or () if each != name]},
            "fields": [*fields, *self._parts("field", name)],
        }
        return self._with_rest("dataset", name, made, {"time_column": said.time_column})

    def _field(self, dataset: str, column: str, said: ColumnSemantics, is_time: bool) -> Made:
        made: Made = {
            "name": column,
            "expression": _expression(column_sql(column)),
            "dimension": {"is_time": True} if is_time else {},
            "description": said.description,
            "ai_context": {"synonyms": list(said.synonyms or ())},
        }
        ours = said.model_dump(
            mode="json", include={"unit", "aggregate", "better", "meaning", "masked"}, exclude_none=True
        )
        return self._with_rest("field", f"{dataset}.{column}", made, ours)

    def _relationships(self) -> list[Made]:
        made: list[Made] = []
        for join in self._dataset.relationships:
            many, one = (self._names.get(each, each) for each in (join.many_table, join.one_table))
            name = relationship_name(join.many_table, join.many_column, join.one_table)
            part = {
                "name": name,
                "from": many,
                "to": one,
                "from_columns": [join.many_column],
                "to_columns": [join.one_column],
            }
            made.append(self._with_rest("relationship", name, part, {}))
        return made

    def _metrics(self) -> tuple[list[Made], Made]:
        """Those that have an SQL form, and the others."""
        written: list[Made] = []
        others: Made = {}
        for name, metric in (self._whole.metrics or {}).items():
            try:
                written.append(self._metric(name, metric))
            except NotWritten:
                others[name] = metric.model_dump(mode="json", exclude_none=True)
        return written, others

    def _metric(self, name: str, metric: MetricSemantics) -> Made:
        made: Made = {
            "name": name,
            "expression": _expression(metric_sql(metric, self._names)),
            "description": metric.description,
            "ai_context": {"synonyms": list(metric.synonyms)},
        }
        ours = {"table": metric.table, "format": metric.format, "better": metric.better}
        sides = {"numerator": metric.numerator, "denominator": metric.denominator}
        own = made["expression"]
        made = self._with_rest("metric", name, made, ours)
        kept = [each for each in self._kept.get(("metric", name), ()) if "expression" in each]
        if kept and kept[-1].get(READ_AS) != sides:
            # The metric was changed since: the dialects that were imported say something else.
            made["expression"] = own
        return made


def _expression(text: str) -> Made:
    return {"dialects": [{"dialect": "ANSI_SQL", "expression": text}]}


def _without_empty(made: Made) -> Made:
    """`datasets` stays: it is required."""
    inner = {
        key: {name: each for name, each in cast(Made, value).items() if each not in (None, "", [])}
        if key in ("ai_context", "dimension") and isinstance(value, dict)
        else value
        for key, value in made.items()
    }
    return {key: each for key, each in inner.items() if each not in (None, "", [], {}) or key == "datasets"}
