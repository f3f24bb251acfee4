"""Select items and group keys in other forms: `sum(amount)`, `{"function": "sum", "field": "amount"}`, an entry."""

from __future__ import annotations

import re
from typing import Any, get_args

from sandtable.agent.normalising.conditions import conditions_of
from sandtable.agent.normalising.known import Json, Known, key_of, renamed
from sandtable.catalog.model import Metric
from sandtable.plan.items import AggName, ArithmeticOp, BucketUnit
from sandtable.plan.reading import SYNONYMS

AGGREGATES: tuple[str, ...] = get_args(AggName)
BUCKETS: tuple[str, ...] = get_args(BucketUnit)
_SIGNS: tuple[str, ...] = get_args(ArithmeticOp)
_SIGN_WORDS = {
    "divide": "/", "divided_by": "/", "div": "/", "multiply": "*", "times": "*", "mul": "*", "minus": "-",
    "subtract": "-", "sub": "-", "plus": "+", "add": "+",
}  # fmt: skip
_MORE_AGGREGATES = {
    "distinct_count": "count_distinct", "countdistinct": "count_distinct",
    "count_unique": "count_distinct", "maximum": "max", "minimum": "min", "counts": "count",
    "correlation_coefficient": "correlation", "std_dev": "stddev", "standard_deviation": "stddev",
}  # fmt: skip
_FIELDS = {
    "alias": "as", "label": "as", "output_name": "as", "output": "as", "as_name": "as", "rename": "as",
    "function": "agg", "func": "agg", "fn": "agg", "aggregate": "agg", "aggregation": "agg", "aggregator": "agg",
    "agg_func": "agg", "field": "column", "col": "column", "column_name": "column", "dimension": "column",
    "time_bucket": "bucket", "granularity": "bucket", "interval": "bucket", "trunc": "bucket", "date_trunc": "bucket",
    "measure": "metric", "metric_name": "metric", "filter": "where", "filters": "where", "conditions": "where",
}  # fmt: skip
_COPIED = frozenset(
    "type description format table empty min max values examples in_question better rows nullable sql_type".split()
)
"""Fields of a table's, column's or metric's entry in the prompt that no item has."""
_CALL = re.compile(
    r"\s*(\w+)\s*\(\s*(distinct\s+)?(?:'(\w+)'\s*,\s*)?([\w.*]*)\s*\)\s*(?:as\s+(\w+))?\s*", re.IGNORECASE
)
_NAMED = re.compile(r"\s*([\w.]+)\s+as\s+(\w+)\s*", re.IGNORECASE)
_PERCENTILE = re.compile(r"p(\d{1,2})")
_MOST_LEVELS = 12
_UNCLEAR = frozenset({"p95", "distinct"})
"""Synonyms that say too little: a quantile needs its `q`, and different values may be counted or listed."""


def item_of(given: Any, known: Known, level: int = 0) -> Any:
    if isinstance(given, str):
        return _from_text(given, known) or {"column": given}
    if not isinstance(given, dict) or level > _MOST_LEVELS:
        return given
    made = renamed(given, _FIELDS)
    if "left" in made or "right" in made:
        return _arithmetic(made, known, level)
    made = _one_key(made, known)
    made = _entry(made, known)
    if isinstance(made.get("where"), dict | list | str):
        made["where"] = conditions_of(made["where"], known)
    if isinstance(made.get("of"), dict):
        made["of"] = item_of(made["of"], known, level + 1)
    return _measured(made, known)


def _from_text(text: str, known: Known) -> Json | None:
    """`revenue`, `sum(amount) as total`, `date_trunc('month', day)`, `month`."""
    if known.names_column(text):
        return {"column": text}
    metric = known.metric(text)
    if metric is not None:
        return {"metric": metric.name}
    if found := _NAMED.fullmatch(text):
        inner = _from_text(found[1], known)
        return {**inner, "as": found[2]} if inner else None
    if found := _CALL.fullmatch(text):
        return _called(*found.groups(), known=known)
    if (bucket := bucket_of(text)) is not None:
        return {"bucket": bucket, "as": key_of(text)}
    return None


def _called(name: str, once: Any, unit: Any, of: str, alias: Any, *, known: Known) -> Json | None:
    named = {"as": alias} if alias else {}
    if unit and key_of(name) in {"date_trunc", "trunc", "date_part", "extract"}:
        bucket = bucket_of(unit) if key_of(name) == "date_trunc" else None
        return {"bucket": bucket, "column": of, **named} if bucket and of else None
    agg = aggregate_of(name)
    if agg is None:
        return None
    if of in {"", "*"}:
        return {"agg": "count", **named} if agg == "count" and not once else None
    if once and agg != "count":
        return {"agg": agg, "column": of, "distinct": True, **named}
    return {"agg": "count_distinct" if once else agg, "column": of, **named}


def aggregate_of(given: Any) -> str | None:
    if not isinstance(given, str):
        return None
    name = key_of(given)
    meant = name if name in AGGREGATES else _MORE_AGGREGATES.get(name) or SYNONYMS.get(name)
    return meant if meant in AGGREGATES and name not in _UNCLEAR else None


def bucket_of(given: Any) -> str | None:
    if not isinstance(given, str):
        return None
    name = key_of(given)
    meant = name if name in BUCKETS else SYNONYMS.get(name)
    return meant if meant in BUCKETS else None


def _arithmetic(made: Json, known: Known, level: int) -> Json:
    sign = made.get("op")
    if isinstance(sign, str) and sign not in _SIGNS:
        made["op"] = _SIGN_WORDS.get(key_of(sign), sign)
    for side in ("left", "right"):
        if isinstance(made.get(side), int | float) and not isinstance(made.get(side), bool):
            made[side] = {"value": made[side]}
        elif side in made:
            made[side] = item_of(made[side], known, level + 1)
    return made


def _one_key(made: Json, known: Known) -> Json:
    """`{"sum": "amount"}`, `{"count": "*"}`, with a name beside it or without."""
    named = {field: value for field, value in made.items() if field == "as"}
    rest = [field for field in made if field != "as"]
    if len(rest) == 1 and isinstance(made[rest[0]], str) and not known.names_column(rest[0]):
        agg = aggregate_of(rest[0])
        if agg is not None and rest[0] not in {"agg", "metric", "column", "bucket"}:
            of = made[rest[0]]
            return {"agg": agg, **({} if of in {"*", ""} and agg == "count" else {"column": of}), **named}
    return made


def _entry(made: Json, known: Known) -> Json:
    """Without what was copied from the entry of a metric or a column in the schema."""
    if isinstance(made.get("metric"), dict):
        made = {**made, "metric": made["metric"].get("metric") or made["metric"].get("name")}
    if isinstance(made.get("column"), dict) and isinstance(made["column"].get("column", None), str):
        made = {**made, "column": made["column"]["column"]}
    if "name" in made:
        made = _named(made, known)
    kind = made.get("type")
    if "agg" not in made and "bucket" not in made and "column" in made and aggregate_of(kind):
        made = {**made, "agg": kind}
    table = known.table(made.get("table"))
    column = made.get("column")
    if table is not None and isinstance(column, str) and "." not in column and table.column(column):
        made = {**made, "column": f"{table.name}.{column}"}
    made = {field: value for field, value in made.items() if field not in _COPIED}
    if type(made.get("distinct")) is int:
        # The number of different values, from the column's entry.
        del made["distinct"]
    return {f: v for f, v in made.items() if v not in ("", []) and not (f == "agg" and v in ("none", "None"))}


def _named(made: Json, known: Known) -> Json:
    """`name` is what an entry of the schema is called by; beside a column or an aggregate it names the output."""
    name = made["name"]
    rest = {field: value for field, value in made.items() if field != "name"}
    if not isinstance(name, str):
        return made
    if {"column", "metric", "bucket", "agg"} & rest.keys():
        metric = known.metric(name)
        if metric is not None and rest.get("metric") in (None, metric.name) and "agg" not in rest:
            return {**rest, "metric": metric.name} if "column" not in rest and "bucket" not in rest else rest
        return {"as": name, **rest}
    if known.metric(name) is not None:
        return {**rest, "metric": name}
    return {**rest, "column": name} if known.names_column(name) else made


def _measured(made: Json, known: Known) -> Json:
    agg, column, metric = made.get("agg"), made.get("column"), made.get("metric")
    if agg is None and isinstance(made.get("op"), str) and aggregate_of(made["op"]) and column is not None:
        agg = aggregate_of(made["op"])
        made = {"agg": agg, **{field: value for field, value in made.items() if field != "op"}}
    if isinstance(agg, str):
        return _aggregated(made, known)
    if isinstance(metric, str):
        return _metric(made, metric, known)
    if "bucket" in made:
        bucket = bucket_of(made["bucket"])
        return {**made, "bucket": bucket} if bucket is not None else made
    if isinstance(column, str) and not known.names_column(column):
        read = _from_text(column, known)
        rest = {field: value for field, value in made.items() if field != "column"}
        return {**read, **rest} if read is not None else made
    return made


def _aggregated(made: Json, known: Known) -> Json:
    agg = made["agg"]
    if found := _PERCENTILE.fullmatch(key_of(agg)):
        made = {**made, "agg": "quantile", "q": made.get("q", int(found[1]) / 100)}
    elif aggregate_of(agg) is not None:
        made = {**made, "agg": aggregate_of(agg)}
    elif "column" not in made and (called := _from_text(agg, known)):
        return {**called, **{field: value for field, value in made.items() if field != "agg"}}
    q = made.get("q")
    if isinstance(q, int | float) and not isinstance(q, bool) and 1 < q <= 100:
        made["q"] = q / 100
    if isinstance(made.get("of"), str) and "column" not in made:
        made = {("column" if field == "of" else field): value for field, value in made.items()}
    metric = known.metric(made.get("metric") or made.get("column"))
    if metric is not None and not known.names_column(made.get("column")) and _is_that(metric, made["agg"]):
        return {
            "metric": metric.name,
            **{f: v for f, v in made.items() if f not in {"agg", "column", "metric"}},
        }
    if known.names_column(made.get("metric")) and "column" not in made:
        return {("column" if field == "metric" else field): value for field, value in made.items()}
    if (
        made["agg"] == "count"
        and made.get("column") in ("rows", "all", "")
        and not known.names_column("rows")
    ):
        return {field: value for field, value in made.items() if field != "column"}
    return made


def _is_that(metric: Metric, agg: str) -> bool:
    """A metric is its own aggregate; of a ratio the average is meant."""
    return agg == "avg" if metric.denominator is not None else agg == metric.numerator.get("agg")


def _metric(made: Json, name: str, known: Known) -> Json:
    rest = {field: value for field, value in made.items() if field != "metric"}
    metric = known.metric(name)
    if metric is not None:
        return {**made, "metric": metric.name}
    if aggregate_of(name) is not None and (
        isinstance(made.get("column"), str) or aggregate_of(name) == "count"
    ):
        return _aggregated({"agg": name, **rest}, known)
    if "column" not in made and (read := _from_text(name, known)):
        return {**read, **rest}
    return made


def group_key(given: Any, select: list[Any], known: Known) -> Any:
    """A column's name or a bucket; None for an output that is an aggregate, which no row can be grouped by."""
    if isinstance(given, dict):
        made = item_of(given, known)
        if not isinstance(made, dict):
            return made
        if "bucket" in made:
            return _bucket_key(made, select)
        if set(made) <= {"column", "as"} and isinstance(made.get("column"), str):
            return made["column"]
        expr = made.get("expr", made.get("name"))
        return group_key(expr, select, known) if isinstance(expr, str) else made
    if not isinstance(given, str) or known.names_column(given):
        return given
    named = next((item for item in select if isinstance(item, dict) and name_of(item) == given.lower()), None)
    if named is not None:
        return None if {"agg", "metric"} & named.keys() else given
    if known.metric(given) is not None:
        return None
    read = _from_text(given, known)
    if read is None or "bucket" not in read:
        return given
    return _bucket_key(read, select)


def _bucket_key(made: Json, select: list[Any]) -> Json:
    """The bucket of the output that cuts time in the same way."""
    for item in select:
        if isinstance(item, dict) and item.get("bucket") == made["bucket"] and "column" not in made:
            return {field: value for field, value in item.items() if field != "as"}
    return made


def name_of(item: Json) -> str:
    """What the output column is called, in lower case; empty where that depends on more than the item."""
    if isinstance(item.get("as"), str):
        return item["as"].lower()
    return made_up_name(item)


def made_up_name(item: Json) -> str:
    agg, column = item.get("agg"), item.get("column")
    last = column.rpartition(".")[2].lower() if isinstance(column, str) else ""
    if isinstance(item.get("metric"), str):
        return item["metric"].lower()
    if isinstance(agg, str):
        return f"{agg}_{last}" if last not in {"", "*"} else agg
    if isinstance(item.get("bucket"), str):
        return f"{last}_{item['bucket']}" if last else ""
    return last
