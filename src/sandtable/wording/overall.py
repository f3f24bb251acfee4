"""The companion of a grouped question: the same measure over everything, to say "against 8.9 % overall".

Only for values that mean the same over all rows as over a group (rates, averages, medians): a total over
everything cannot be compared with one group's total.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

_ASKS = re.compile(
    r"\b(?:highest|lowest|most|least|fewest|best|worst|top|bottom|largest|smallest|biggest|longest|shortest|fastest|"
    r"slowest|which|who|rate|rates|share|shares|percentage|proportion|ratio|first)\b",
    re.IGNORECASE,
)
_LEVEL = re.compile(
    r"(?:^|_)(?:rate|average|avg|mean|median|share|percentage|percent|pct|ratio|per)(?:_|$)", re.IGNORECASE
)
_LEVEL_AGGREGATES = frozenset({"avg", "median", "quantile"})
_KEPT = ("dataset_id", "define", "table", "filters", "time")

Json = Mapping[str, Any]


def wants_overall(question: str, plan: Json) -> dict[str, Any] | None:
    """The plan whose one row holds the measures over everything, by the same names; None when it makes no sense."""
    select = _objects(plan.get("select"))
    keys = [item for item in select if not _computes(item)]
    measures = [item for item in select if _is_level(item)]
    if not measures or not (keys or plan.get("group_by")) or _runs_along_time(plan, keys):
        return None
    if not _ASKS.search(question) and not _ordered_by(plan, measures):
        return None
    if plan.get("top_per_group") or _narrows(plan, keys):
        return None
    return {**{field: plan[field] for field in _KEPT if plan.get(field)}, "select": measures}


def _computes(item: Json) -> bool:
    if "agg" in item or "metric" in item:
        return True
    return any(_computes(side) for side in _objects([item.get("left"), item.get("right")]))


def _is_level(item: Json) -> bool:
    if "metric" in item:
        return bool(_LEVEL.search(str(item["metric"])))
    if "agg" in item:
        return item["agg"] in _LEVEL_AGGREGATES
    return item.get("op") == "/" and _computes(item)


def _runs_along_time(plan: Json, keys: list[Json]) -> bool:
    grouped = _objects(plan.get("group_by"))
    return any("bucket" in key for key in (*keys, *grouped))


def _ordered_by(plan: Json, measures: list[Json]) -> bool:
    names = {str(name).lower() for item in measures for name in (item.get("as"), item.get("metric")) if name}
    orders = _objects(plan.get("order_by"))
    return any(str(order.get("expr", "")).lower() in names for order in orders)


def _narrows(plan: Json, keys: list[Json]) -> bool:
    """Whether a filter already picks among the groups: what is left is not everything."""
    grouped: list[Any] = list(plan.get("group_by") or ())
    names = {_last(item.get("column")) for item in keys} | {
        _last(key) for key in grouped if isinstance(key, str)
    }
    return any(_last(name) in names for name in _columns(plan.get("filters")))


def _columns(value: Any) -> list[Any]:
    if isinstance(value, list | tuple):
        return [name for item in cast("list[Any]", value) for name in _columns(item)]
    if not isinstance(value, Mapping):
        return []
    node = cast("Json", value)
    inner = [node.get(field) for field in ("any", "all", "not")]
    return [node.get("column"), *(name for part in inner for name in _columns(part))]


def _last(name: Any) -> str | None:
    return name.rpartition(".")[2].lower() if isinstance(name, str) else None


def _objects(value: Any) -> list[Json]:
    items = cast("list[Any]", value) if isinstance(value, list | tuple) else []
    return [cast("Json", item) for item in items if isinstance(item, Mapping)]
