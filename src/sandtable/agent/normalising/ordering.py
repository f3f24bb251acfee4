"""`order_by` in other forms, each term by the output column that it means."""

from __future__ import annotations

import re
from typing import Any

from sandtable.agent.normalising.items import item_of, made_up_name, name_of
from sandtable.agent.normalising.known import Json, Known, key_of, renamed
from sandtable.plan.reading import SYNONYMS

_FIELDS = {
    "column": "expr", "by": "expr", "field": "expr", "name": "expr", "key": "expr", "expression": "expr",
    "col": "expr", "metric": "expr", "value": "expr", "sort_by": "expr",
    "direction": "dir", "order": "dir", "sort": "dir", "sort_order": "dir", "ordering": "dir",
}  # fmt: skip
_WRITTEN = re.compile(r"\s*(.+?)\s+(asc|desc|ascending|descending)\s*", re.IGNORECASE)


def terms_of(given: Any) -> Any:
    """A list of `{"expr": …, "dir": …}`."""
    if isinstance(given, str | dict):
        return [_term(given)]
    return [_term(each) for each in given] if isinstance(given, list) else given


def _term(given: Any) -> Any:
    if isinstance(given, str):
        if found := _WRITTEN.fullmatch(given):
            return {"expr": found[1], "dir": _direction(found[2])}
        return (
            {"expr": given[1:], "dir": "desc"}
            if given.startswith("-") and len(given) > 1
            else {"expr": given}
        )
    if not isinstance(given, dict):
        return given
    if len(given) == 1:
        [(name, direction)] = given.items()
        if _direction(direction) in ("asc", "desc") and name not in {"expr", "dir", *_FIELDS}:
            return {"expr": name, "dir": _direction(direction)}
    if isinstance(given.get("agg"), str):
        # The aggregate itself stands where the name of its output belongs.
        expr = {field: value for field, value in given.items() if field in {"agg", "column", "where", "of"}}
        rest = {field: value for field, value in given.items() if field not in expr}
        given = {"expr": expr, **rest}
    made = renamed(given, _FIELDS)
    if isinstance(made.get("desc"), bool) and "dir" not in made:
        made = {**made, "dir": "desc" if made["desc"] else "asc"}
        del made["desc"]
    if "dir" in made:
        made["dir"] = _direction(made["dir"])
    return made


def _direction(given: Any) -> Any:
    if not isinstance(given, str):
        return given
    name = key_of(given)
    meant = name if name in {"asc", "desc"} else SYNONYMS.get(name)
    return meant if meant in {"asc", "desc"} else given


def ordered(plan: Json, known: Known) -> Json:
    """Terms name the output that they mean; a metric that only the order names becomes an output."""
    terms, select = plan.get("order_by"), plan.get("select")
    if not isinstance(terms, list) or not isinstance(select, list):
        return plan
    made: list[Any] = []
    outputs = [item for item in select if isinstance(item, dict)]
    for term in terms:
        if not isinstance(term, dict) or "expr" not in term:
            made.append(term)
            continue
        expr = term["expr"]
        item = item_of(expr, known) if isinstance(expr, dict) else None
        found = _output(item if item is not None else expr, outputs, plan, known)
        metric = known.metric(expr) or (known.metric(item.get("metric")) if isinstance(item, dict) else None)
        if found is None and metric is not None and not known.names_column(expr):
            outputs.append({"metric": metric.name})
            found = metric.name
        made.append({**term, "expr": found} if found is not None else term)
    added = outputs[len([item for item in select if isinstance(item, dict)]) :]
    return {**plan, "order_by": made, "select": [*select, *added]}


def _output(expr: Any, outputs: list[Json], plan: Json, known: Known) -> str | None:
    if isinstance(expr, dict):
        bare = _bare(expr)
        same = [item for item in outputs if _bare(item) == bare]
        return _called(same[0]) if len(same) == 1 else None
    if not isinstance(expr, str):
        return None
    names = {_called(item).lower() for item in outputs} | _derived(plan)
    if expr.lower() in names:
        return expr
    if not any({"agg", "metric"} & item.keys() for item in outputs):
        return None
    read = item_of(expr, known)
    found = [item for item in outputs if made_up_name(item) == key_of(expr)]
    found = found or [item for item in outputs if isinstance(read, dict) and _bare(item) == _bare(read)]
    found = found or [item for item in outputs if _aggregates(item, expr, known)]
    return _called(found[0]) if len(found) == 1 and _called(found[0]) else None


def _derived(plan: Json) -> set[str]:
    derive = plan.get("derive")
    every = derive if isinstance(derive, list) else []
    return {str(each.get("as")).lower() for each in every if isinstance(each, dict) and each.get("as")}


def _bare(item: Json) -> Json:
    return {field: value for field, value in item.items() if field != "as"}


def _called(item: Json) -> str:
    return str(item["as"]) if isinstance(item.get("as"), str) else name_of(item)


def _aggregates(item: Json, name: str, known: Known) -> bool:
    """Whether the output is an aggregate of this source column."""
    column = item.get("column") if "agg" in item else None
    metric = known.metric(item.get("metric"))
    if metric is not None and metric.denominator is None:
        column = metric.numerator.get("column")
    if not isinstance(column, str):
        return False
    return column.rpartition(".")[2].lower() == name.rpartition(".")[2].lower()
