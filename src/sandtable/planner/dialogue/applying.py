"""Apply edits to a plan.

Invariant: `applied` does not mutate its plan. What an edit does not mention stays; what no longer
fits (an order by a removed column) is dropped. None: this plan cannot be changed so.
"""

from __future__ import annotations

import copy
from functools import singledispatch
from typing import Any, cast

from sandtable.planner.candidates.grammar.composing import is_aggregate
from sandtable.planner.dialogue.edits import (
    Along,
    Change,
    Count,
    Drop,
    Group,
    Measures,
    Narrow,
    Rows,
    Share,
    Sort,
    Top,
    Ungroup,
    Versus,
    VersusValue,
    Window,
    Within,
)
from sandtable.planner.dialogue.view import View, name_of, order_key, time_key
from sandtable.planner.schema.entries import Json

_EQUAL = frozenset({"=", "in"})
_UNEQUAL = frozenset({"!=", "not_in"})
_ADDITIVE = frozenset({"sum", "count"})


def applied(change: Change, view: View) -> Json | None:
    return _edited(change, copy.deepcopy(view.plan), view)


@singledispatch
def _edited(change: Change, plan: Json, view: View) -> Json | None:
    raise TypeError(type(change).__name__)


@_edited.register
def _windowed(change: Window, plan: Json, view: View) -> Json:
    return {**plan, "time": change.window}


@_edited.register
def _behind(change: Rows | Count | Within, plan: Json, view: View) -> Json | None:
    kept = {k: plan[k] for k in ("dataset_id", "define", "table", "filters", "time") if k in plan}
    if isinstance(change, Rows) and not view.keys and not view.measures:
        plan["select"] = [{"column": "*"}]
        return plan
    if view.cut:
        # The rows of the first groups only: the plan has no such table.
        return None
    if isinstance(change, Rows):
        return {**kept, "select": [{"column": "*"}]}
    if isinstance(change, Count):
        return {**kept, "select": [{"agg": "count", "as": "count"}]}
    own = copy.deepcopy(change.plan)
    filters: list[Json] = [*kept.get("filters", []), *own.get("filters", [])]
    if "time" in kept and "time" in own:
        filters.append({"time": kept["time"]})
    merged = {**kept, **own}
    _put(merged, "filters", filters)
    return merged


@_edited.register
def _dropped(change: Drop, plan: Json, view: View) -> Json:
    gone = {int(p[1]) for p in change.paths if p[0] == "filters" and len(p) > 1}
    _put(plan, "filters", [f for at, f in enumerate(plan.get("filters", [])) if at not in gone])
    for path in change.paths:
        if path[0] in {"time", "limit"}:
            plan.pop(str(path[0]), None)
    return plan


@_edited.register
def _ungrouped(change: Ungroup, plan: Json, view: View) -> Json | None:
    if not view.measures or not view.keys or view.cut:
        return None
    plan["select"] = [i for i in plan["select"] if is_aggregate(i) or name_of(i) in change.keep]
    _put(plan, "group_by", [name_of(i) for i in plan["select"] if not is_aggregate(i)])
    if not change.keep:
        plan.pop("derive", None)
    mend(plan)
    return plan


@_edited.register
def _shared(change: Share, plan: Json, view: View) -> Json | None:
    if len(view.measures) < 1 or not _adds_up(view):
        return None
    measure = view.measures[0]
    if view.keys:
        plan["derive"] = [{"share_of_total": name_of(measure), "as": "share"}]
        mend(plan)
        return plan
    where: list[Json] = [*plan.pop("filters", [])]
    if "time" in plan:
        where.append({"time": plan.pop("time")})
    if not where or len(view.measures) > 1 or "agg" not in measure or view.cut:
        return None
    part = {**{k: v for k, v in measure.items() if k != "as"}, "where": [*measure.get("where", []), *where]}
    whole = {k: v for k, v in measure.items() if k != "as"}
    plan["select"] = [{"op": "/", "left": part, "right": whole, "as": "share"}]
    return plan


def _adds_up(view: View) -> bool:
    measure = view.measures[0]
    if "metric" in measure:
        metric = view.index.dataset.metric(str(measure["metric"]))
        return metric is not None and metric.denominator is None and metric.numerator["agg"] in _ADDITIVE
    return measure.get("agg") in _ADDITIVE


@_edited.register
def _along(change: Along, plan: Json, view: View) -> Json | None:
    key = time_key(view)
    if key is None or not view.measures or view.cut:
        return None
    derived: Json = {"change": name_of(view.measures[0]), "along": key, "as": "change"}
    if change.percent:
        derived["kind"] = "percent"
    plan["derive"] = [derived]
    plan["order_by"] = [{"expr": key, "dir": "asc"}]
    return plan


@_edited.register
def _topped(change: Top, plan: Json, view: View) -> Json | None:
    key = order_key(view)
    if key is None:
        return None
    had = next((o for o in plan.get("order_by", []) if o["expr"] == key), None)
    if change.down is None and had is None:
        return None
    down = change.down if change.down is not None else had is not None and had.get("dir") == "desc"
    plan["order_by"] = [{"expr": key, "dir": "desc" if down else "asc"}]
    plan.pop("top_per_group", None)
    if change.place is None:
        plan["limit"] = change.count or 1
        return plan
    plan.pop("limit", None)
    ranked = {"rank": key, "dir": "desc" if down else "asc", "as": "place"}
    plan["derive"] = [*(d for d in plan.get("derive", []) if d.get("as") != "place"), ranked]
    having = [h for h in plan.get("having", []) if h.get("column") != "place"]
    plan["having"] = [*having, {"column": "place", "op": "=", "value": change.place}]
    return plan


@_edited.register
def _sorted(change: Sort, plan: Json, view: View) -> Json | None:
    key = change.key or order_key(view)
    if key is None:
        return None
    plan["order_by"] = [{"expr": key, "dir": "desc" if change.down else "asc"}]
    return plan


@_edited.register
def _narrowed(change: Narrow, plan: Json, view: View) -> Json:
    had: list[Json] = list(plan.get("filters", []))
    for condition in change.conditions:
        had = _with_condition(had, condition, change.adding)
    _put(plan, "filters", had)
    return plan


def _with_condition(had: list[Json], new: Json, adding: bool) -> list[Json]:
    about = new.get("column") or new.get("of")
    same = [f for f in had if about is not None and (f.get("column") or f.get("of")) == about]
    equal = [f for f in same if f.get("op") in _EQUAL]
    if adding and equal and new.get("op") in _EQUAL:
        values = [*_listed(equal[0]["value"]), *_listed(new["value"])]
        joined = {**equal[0], "op": "in", "value": list(dict.fromkeys(values))}
        return [joined if f is equal[0] else f for f in had]
    if new.get("op") in _EQUAL:
        replaced = [f for f in same if f.get("op") in _EQUAL | _UNEQUAL]
    elif new.get("op") in _UNEQUAL:
        replaced = []
    else:
        replaced = [f for f in same if f.get("op") == new.get("op")]
    return [*(f for f in had if f not in replaced), new]


def _listed(value: Any) -> list[Any]:
    return list(cast("list[Any]", value)) if isinstance(value, list) else [value]


@_edited.register
def _grouped(change: Group, plan: Json, view: View) -> Json | None:
    measures = view.measures or [{"agg": "count", "as": "count"}]
    keys = [i for i in plan["select"] if not is_aggregate(i)] if view.measures else []
    items = list(change.items)
    if not change.adding:
        keys = []
    elif any("bucket" in i for i in items):
        keys = [k for k in keys if "bucket" not in k]
    names = {name_of(i) for i in items}
    plan["select"] = [*(k for k in keys if name_of(k) not in names), *items, *measures]
    plan["group_by"] = [name_of(i) for i in plan["select"] if not is_aggregate(i)]
    for part in ("top_per_group", "limit"):
        plan.pop(part, None)
    if any("bucket" in i for i in items):
        plan.pop("order_by", None)
    mend(plan)
    return plan


@_edited.register
def _measured(change: Measures, plan: Json, view: View) -> Json | None:
    old = view.measures
    if not old:
        return None
    names = {name_of(i) for i in change.items}
    kept = [] if change.how == "replace" else [i for i in old if name_of(i) not in names]
    keys = [i for i in plan["select"] if not is_aggregate(i)]
    new = list(change.items)
    plan["select"] = [*keys, *kept, *new] if change.how == "after" else [*keys, *new, *kept]
    gone = {name_of(i) for i in old} - names
    if change.how != "after":
        # What is asked for now is what the groups are sorted by.
        for order in plan.get("order_by", []):
            order["expr"] = name_of(new[0]) if order["expr"] in gone else order["expr"]
    if change.how == "replace":
        plan.pop("derive", None)
        if any(h.get("column") in gone for h in plan.get("having", [])):
            return None
    mend(plan)
    return plan


@_edited.register
def _versus(change: Versus, plan: Json, view: View) -> Json | None:
    column = view.time_column
    unit = change.mine.unit
    if column is None or view.cut or not view.measures or change.other == change.mine:
        return None
    windows = [
        {"column": column, **p.window} for p in sorted((change.mine, change.other), key=lambda p: p.first)
    ]
    plan.pop("time", None)
    plan["filters"] = [*plan.get("filters", []), {"any": [{"time": w} for w in windows]}]
    if not any("bucket" in p.does for _, p in view.keys):
        plan["select"] = [{"bucket": unit, "column": column, "as": unit}, *plan["select"]]
        plan["group_by"] = [unit, *(name for name, _ in view.keys)]
        others = [name for name, _ in view.keys]
        plan["order_by"] = [{"expr": n, "dir": "asc"} for n in (*others, unit)]
    return plan


@_edited.register
def _versus_value(change: VersusValue, plan: Json, view: View) -> Json | None:
    at = int(change.path[1])
    column = str(plan["filters"][at]["column"])
    if view.cut or not view.measures:
        return None
    plan["filters"][at] = {"column": column, "op": "in", "value": list(change.values)}
    name = column.rpartition(".")[2]
    if not any(n == name for n, _ in view.keys):
        plan["select"] = [{"column": column, "as": name}, *plan["select"]]
        plan["group_by"] = [name, *(n for n, _ in view.keys)]
    return plan


def mend(plan: Json) -> None:
    """Drop parts of the order, derived columns and conditions on the result that name removed columns."""
    names = {name_of(i) for i in plan["select"]}
    unit = next((name_of(i) for i in plan["select"] if "bucket" in i), None)
    kept: list[Json] = []
    for derived in plan.get("derive", []):
        kinds = ("share_of_total", "rank", "change", "running_total", "zscore")
        of = next((derived[k] for k in kinds if k in derived), None)
        if of not in names or ("along" in derived and unit is None):
            continue
        if "along" in derived:
            derived["along"] = unit
        kept.append(derived)
        names.add(str(derived.get("as", "")))
    _put(plan, "derive", kept)
    rows = not any(is_aggregate(i) for i in plan["select"])
    _put(plan, "order_by", [o for o in plan.get("order_by", []) if rows or o["expr"] in names])
    _put(plan, "having", [h for h in plan.get("having", []) if "any" in h or h.get("column") in names])
    if unit is not None and "order_by" not in plan:
        plan["order_by"] = [{"expr": unit, "dir": "asc"}]


def _put(plan: Json, part: str, value: list[Any]) -> None:
    if value:
        plan[part] = value
    else:
        plan.pop(part, None)
