"""A proposed plan → the same plan in the form of the plan language. The rules, in order, are one tuple."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

from sandtable.agent.normalising.conditions import conditions_of
from sandtable.agent.normalising.homes import with_names, with_table
from sandtable.agent.normalising.items import group_key, item_of
from sandtable.agent.normalising.known import Json, Known, renamed
from sandtable.agent.normalising.ordering import ordered, terms_of
from sandtable.agent.normalising.windows import window_of
from sandtable.plan.model import ChartKind, QueryPlan
from sandtable.plan.reading import bounded, read_plan
from sandtable.plan.validate import check_plan

_FIELDS = {
    "from": "table", "from_table": "table", "source": "table", "table_name": "table", "tables": "table",
    "columns": "select", "fields": "select", "output": "select", "outputs": "select", "projection": "select",
    "where": "filters", "filter": "filters", "conditions": "filters",
    "groupby": "group_by", "group": "group_by", "groups": "group_by", "dimensions": "group_by",
    "orderby": "order_by", "order": "order_by", "sort": "order_by", "sort_by": "order_by", "sorting": "order_by",
    "time_range": "time", "time_window": "time", "timeframe": "time", "time_filter": "time", "time_period": "time",
    "period": "time", "window": "time", "date_range": "time",
    "top": "limit", "limit_to": "limit", "max_rows": "limit", "take": "limit",
    "note": "notes", "explanation": "notes", "reasoning": "notes", "reason": "notes", "comment": "notes",
}  # fmt: skip
_MEASURES = ("aggregates", "aggregations", "metrics", "measures", "values", "agg", "metric", "aggregate")
"""Fields of a plan's own that models invent for what `select` computes."""
_BESIDE = frozenset(
    "intent title chart chart_type description thought dataset name relationships suggestions text".split()
)
"""Fields that say nothing of which rows are read or what is computed."""


_CHARTS = frozenset(get_args(ChartKind))


def _top_level(plan: Json, known: Known) -> Json:
    made = {f: v for f, v in renamed(plan, _FIELDS).items() if f not in _BESIDE}
    made["dataset_id"] = known.dataset.id
    if isinstance(plan.get("chart"), str) and plan["chart"] in _CHARTS:
        made["chart"] = plan["chart"]
    for field in ("select", "filters", "group_by", "having", "derive", "define", "order_by", "time", "why"):
        if made.get(field) in ([], {}, ""):
            del made[field]
    if made.get("top_per_group") in ({}, [], ""):
        del made["top_per_group"]
    if isinstance(made.get("notes"), str):
        made["notes"] = made["notes"][:2_000]
    elif "notes" in made:
        del made["notes"]
    return made


def _measures(plan: Json, known: Known) -> Json:
    """What stands beside `select` but is computed like an item of it."""
    found = [field for field in _MEASURES if field in plan]
    if not found or plan.get("why"):
        return plan
    rest = {field: value for field, value in plan.items() if field not in found}
    if "agg" in found and isinstance(plan["agg"], str) and isinstance(plan.get("column"), str):
        more: list[Any] = [{"agg": plan["agg"], "column": rest.pop("column")}]
    else:
        more = [each for field in found for each in _as_list(plan[field])]
    return {**rest, "select": [*_as_list(plan.get("select", [])), *more]}


def _select(plan: Json, known: Known) -> Json:
    if "select" not in plan:
        return plan
    made: list[Any] = []
    for given in _as_list(plan["select"]):
        item = item_of(given, known)
        if item not in made:
            made.append(item)
    return {**plan, "select": made}


def _group_by(plan: Json, known: Known) -> Json:
    if "group_by" not in plan:
        return plan
    select = plan["select"] if isinstance(plan.get("select"), list) else []
    keys = [group_key(given, select, known) for given in _as_list(plan["group_by"])]
    kept = [key for key in keys if key is not None]
    if not select and kept:
        return {**plan, "group_by": kept}
    made = {**plan, "group_by": kept}
    return made if kept else {field: value for field, value in made.items() if field != "group_by"}


def _counted_rows(plan: Json, known: Known) -> Json:
    """`{"agg": "count", "column": "tickets"}` counts the rows of that table, which the plan then reads."""
    select = plan.get("select")
    if not isinstance(select, list):
        return plan
    given = known.table(plan.get("table"))
    made, table = list(select), given
    for place, item in enumerate(select):
        counted = item.get("column") if isinstance(item, dict) and item.get("agg") == "count" else None
        named = known.table(counted) if not known.names_column(counted) else None
        if named is not None and table in (None, named) and not item.get("distinct"):
            made[place] = {field: value for field, value in item.items() if field != "column"}
            table = named
    if table is given:
        return {**plan, "select": made}
    return {**plan, "select": made, "table": table.name if table else None}


def _time(plan: Json, known: Known) -> Json:
    if "time" not in plan:
        return plan
    window = window_of(plan["time"], known)
    if window is None:
        return {field: value for field, value in plan.items() if field != "time"}
    return {**plan, "time": window}


def _conditions(plan: Json, known: Known) -> Json:
    made = {**plan, **{f: conditions_of(plan[f], known) for f in ("filters", "having") if f in plan}}
    return {field: value for field, value in made.items() if field not in {"filters", "having"} or value}


def _derive(plan: Json, known: Known) -> Json:
    if "derive" not in plan:
        return plan
    kinds = {"percentage": "percent", "pct": "percent", "relative": "percent", "difference": "absolute"}
    made: list[Any] = []
    for given in _as_list(plan["derive"]):
        item = dict(given) if isinstance(given, dict) else given
        if isinstance(item, dict):
            for field, value in item.items():
                if isinstance(value, dict) and set(value) in ({"column"}, {"metric"}):
                    item[field] = next(iter(value.values()))
            if isinstance(item.get("kind"), str):
                item["kind"] = kinds.get(item["kind"].lower(), item["kind"])
        made.append(item)
    return {**plan, "derive": made}


def _terms(plan: Json, known: Known) -> Json:
    return {**plan, "order_by": terms_of(plan["order_by"])} if "order_by" in plan else plan


def _limit(plan: Json, known: Known) -> Json:
    given = plan.get("limit")
    if isinstance(given, str) and given.strip().isascii() and given.strip().isdigit() and len(given) < 9:
        return {**plan, "limit": int(given)}
    if isinstance(given, float) and given.is_integer():
        return {**plan, "limit": int(given)}
    none = given is not None and (given == 0 or given in ("", "none", "all", "null"))
    return {field: value for field, value in plan.items() if field != "limit"} if none else plan


RULES: tuple[Callable[[Json, Known], Json], ...] = (
    _top_level,
    _measures,
    _select,
    _counted_rows,
    _group_by,
    _time,
    _conditions,
    _derive,
    _terms,
    with_table,
    with_names,
    ordered,
    _limit,
)
"""In this order: names need items in their form, the table needs names, the order needs output columns."""


def normalised(plan: Json, known: Known) -> Json:
    """The plan in its own form; as it is, when it is valid already or too large to look at."""
    if bounded(plan) is not None or _is_valid(plan, known):
        return plan
    made = plan
    for rule in RULES:
        made = rule(made, known)
    if isinstance(made.get("define"), list):
        made["define"] = [_definition(each, known) for each in made["define"]]
    return made


def _definition(given: Any, known: Known) -> Any:
    if not isinstance(given, dict) or not isinstance(given.get("plan"), dict):
        return given
    inner = given["plan"]
    for rule in RULES:
        inner = rule(inner, known)
    return {
        **given,
        "plan": {field: value for field, value in inner.items() if field not in ("dataset_id", "chart")},
    }


def _is_valid(plan: Json, known: Known) -> bool:
    read = read_plan(plan)
    return isinstance(read, QueryPlan) and not check_plan(read, known.dataset)


def _as_list(given: Any) -> list[Any]:
    if isinstance(given, list):
        return given
    return [] if given in (None, "", {}) else [given]
