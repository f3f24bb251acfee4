"""What a plan computes, apart from how it is written: plans with equal essence give the same answer.

Names of outputs, the order of columns and conditions, and what a plan leaves to its defaults do not count. A metric is
what it computes, and rows of plain columns are the same whether or not each is listed once.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, cast

from sandtable.planner.schema.columns import is_unique
from sandtable.planner.schema.entries import Json
from sandtable.planner.schema.index import SchemaIndex
from sandtable.recent import Recent

_COLUMN_FIELDS = frozenset({"column", "other_column", "with"})
_TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "=", "!=": "!="}
_LISTS = frozenset({"in", "not_in", "between"})
_COMPARED: dict[str, Callable[[Any, list[Any]], bool]] = {
    "<": lambda held, given: held < given[0],
    "<=": lambda held, given: held <= given[0],
    ">": lambda held, given: held > given[0],
    ">=": lambda held, given: held >= given[0],
    "=": lambda held, given: held == given[0],
    "in": lambda held, given: held in given,
    "between": lambda held, given: given[0] <= held <= given[-1],
}
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def essence(plan: Json, index: SchemaIndex, *, ordered: bool = True) -> str:
    """Equal for plans that compute the same rows; without `ordered`, in whatever order they show them."""
    made = _made(plan, index)
    if not ordered and "limit" not in made:
        made.pop("order", None)
    return json.dumps(made, sort_keys=True, default=str)


def core(plan: Json, index: SchemaIndex, *, measures: bool = True) -> str:
    """Equal for plans that refer to the same rows in the same groups, and with `measures` compute the same of them."""
    made = _made(plan, index)
    shown = made.pop("select")
    if measures:
        made["measures"] = [each for each in shown if '"agg"' in each]
    if "limit" not in made:
        made.pop("order", None)
    return json.dumps(made, sort_keys=True, default=str)


def shows(plan: Json, index: SchemaIndex) -> frozenset[str]:
    """What the plan shows, each as what it computes."""
    return frozenset(_Essence(plan, index).made()["select"])


_MADE: Recent[tuple[int, str], tuple[SchemaIndex, Json]] = Recent(64)
"""Keyed by the `id` of the index, which the cache keeps alive as long as its id."""


def _made(plan: Json, index: SchemaIndex) -> Json:
    key = (id(index), json.dumps(plan, default=str))
    known = _MADE.get(key)
    if known is None:
        known = (index, _Essence(plan, index).made())
        _MADE.put(key, known)
    return dict(known[1])


class _Essence:
    def __init__(self, plan: Json, index: SchemaIndex) -> None:
        self.plan = plan
        self.index = index
        self.home = str(plan.get("table", ""))
        self.outputs: dict[str, str] = {}
        self.refers = {
            (each.many_table.lower(), f"{each.one_table}.{each.one_column}".lower()): (
                f"{each.many_table}.{each.many_column}".lower()
            )
            for each in index.dataset.relationships
        }
        """By table and the key that it refers to, its own column, which holds the same values."""

    def made(self) -> Json:
        plan = self.plan
        made: Json = {"table": self.home.lower()}
        if plan.get("define"):
            made["define"] = [
                (each["name"], _Essence(each["plan"], self.index).made()) for each in plan["define"]
            ]
        if plan.get("why"):
            made["why"] = plan["why"]
        shown: list[str] = []
        plain: list[str] = []
        for item in plan.get("select", ()):
            text = _text(self.row(item))
            name = str(item.get("as") or item.get("column") or item.get("metric") or "")
            self.outputs.setdefault(name.rpartition(".")[2].lower(), text)
            self.outputs.setdefault(name.lower(), text)
            shown.append(text)
            if '"agg"' not in text:
                plain.append(text)
        keys = [self.key(each) for each in plan.get("group_by", ())]
        measured = len(plain) < len(shown)
        shown += [each for each in keys if each not in shown]
        made["select"] = sorted(shown)
        made["grouped"] = sorted(set(keys or plain)) if measured else None
        conditions, window = with_window(plan)
        filters = [self.condition(each, self.home) for each in conditions]
        texts = sorted(_text(each) for each in filters if not self.is_implied(each, keys or plain))
        if texts:
            made["filters"] = texts
        if window:
            made["time"] = self.window(window, self.home)
        for item in plan.get("derive", ()):
            text = _text(self.over_outputs({k: v for k, v in item.items() if k != "as"}))
            self.outputs[str(item.get("as", "")).lower()] = text
            made.setdefault("derive", []).append(text)
        if plan.get("having"):
            made["having"] = sorted(_text(self.over_outputs(each)) for each in plan["having"])
        if plan.get("top_per_group"):
            made["top"] = self.over_outputs(plan["top_per_group"])
        if plan.get("order_by") and not (measured and not keys and not plain):
            made["order"] = [(self.key(term["expr"]), term.get("dir", "asc")) for term in plan["order_by"]]
        if plan.get("limit"):
            made["limit"] = plan["limit"]
        return made

    def is_implied(self, condition: Json, keys: list[str]) -> bool:
        """Groups of empty cells left out: it is said of a group, not of the question."""
        return condition.get("op") == "not_null" and _text({"column": condition.get("column")}) in keys

    def key(self, key: Any) -> str:
        if isinstance(key, dict):
            return _text(self.row(cast("Json", key)))
        return self.outputs.get(str(key).lower()) or _text({"column": self.named(str(key), self.home)})

    def named(self, name: str, home: str) -> str:
        whole = (name if "." in name and self.index.column(home, name) is None else f"{home}.{name}").lower()
        return self.refers.get((home.lower(), whole), whole)

    def row(self, item: Any, home: str | None = None) -> Any:
        """An expression over rows, with whole names."""
        home = home or self.home
        if isinstance(item, list):
            return [self.row(each, home) for each in cast("list[Any]", item)]
        if not isinstance(item, dict):
            return item
        given = self.computed(cast("Json", item), home)
        made: Json = {}
        for field, value in given.items():
            if field == "as" or value is None or value == []:
                continue
            if field in {"where", "holds"}:
                made[field] = sorted(_text(self.condition(each, home)) for each in value)
            elif _names_column(field, given) and isinstance(value, str) and value != "*":
                made[field] = self.named(value, home)
            elif field == "within":
                made[field] = sorted(self.named(each, home) for each in value)
            else:
                made[field] = self.row(value, home)
        if "bucket" in made and "column" not in made and "of" not in made:
            made["column"] = self.main_time(home)
        if made.get("agg") == "count" and made.get("column") == "*":
            del made["column"]
        return made

    def computed(self, item: Json, home: str) -> Json:
        """A metric as what it computes, and different keys of the table as its rows."""
        metric = self.index.dataset.metric(str(item["metric"])) if "metric" in item else None
        if metric is not None:
            parts = [metric.numerator] + ([metric.denominator] if metric.denominator else [])
            more = list(item.get("where", ()))
            made = [
                {**part, "where": [*part.get("where", ()), *more]} if "agg" in part else part
                for part in parts
            ]
            rest = {field: value for field, value in item.items() if field not in {"metric", "where"}}
            return (
                {**rest, **made[0]}
                if len(made) == 1
                else {**rest, "op": "/", "left": made[0], "right": made[1]}
            )
        table = self.index.table(home)
        column = table.column(str(item.get("column", ""))) if table is not None else None
        if (
            item.get("agg") == "count_distinct"
            and table is not None
            and column is not None
            and is_unique(column, table)
        ):
            return {field: value for field, value in item.items() if field != "column"} | {"agg": "count"}
        return item

    def condition(self, item: Any, home: str) -> Any:
        made = dict(item)
        for field in ("any", "all"):
            if field in made:
                return {field: sorted(_text(self.condition(each, home)) for each in made[field])}
        if "not" in made:
            return {"not": self.condition(made["not"], home)}
        if "time" in made:
            return {"time": self.window(made["time"], home)}
        if "exists" in made:
            inner = dict(made["exists"])
            other = str(inner.get("table", ""))
            inner["where"] = sorted(_text(self.condition(each, other)) for each in inner.get("where", ()))
            return {"exists": inner}
        made = self.by_kept_values(_by_number_of_day(made), home)
        if "other_column" in made and made.get("op") in _TURNED and made["column"] > made["other_column"]:
            made = {"column": made["other_column"], "op": _TURNED[made["op"]], "other_column": made["column"]}
        if isinstance(made.get("value"), list) and made.get("op") in _LISTS:
            made["value"] = sorted(map(str, made["value"]))
            if len(made["value"]) == 1:
                made = {**made, "op": "=" if made["op"] == "in" else "!=", "value": made["value"][0]}
        elif "value" in made:
            made["value"] = str(made["value"])
        return self.row(made, home)

    def by_kept_values(self, item: Json, home: str) -> Json:
        """A comparison with a column of few numbers as the numbers that it keeps: at most 2 stars are 1 or 2."""
        table, _, name = str(item.get("column", "")).rpartition(".")
        column = self.index.column(table or home, name) if "value" in item else None
        profile = column.profile if column is not None and column.numeric else None
        if profile is None or not profile.complete or item.get("op") not in _COMPARED:
            return item
        value = item["value"]
        given = cast("list[Any]", value) if isinstance(value, list) else [value]
        held = [each.value for each in profile.values]
        if not all(isinstance(each, int | float) for each in (*held, *given)):
            return item
        kept = [each for each in held if _COMPARED[item["op"]](each, given)]
        return {**item, "op": "in", "value": kept} if 0 < len(kept) < len(held) else item

    def window(self, window: Any, home: str) -> Json:
        made = dict(window)
        made["column"] = self.named(str(made["column"]), home) if made.get("column") else self.main_time(home)
        return made

    def main_time(self, home: str) -> str:
        table = self.index.table(home)
        return f"{home}.{table.time_column}".lower() if table is not None and table.time_column else ""

    def over_outputs(self, item: Any) -> Any:
        """An expression over outputs: their names are what they compute."""
        if isinstance(item, list | tuple):
            return [self.over_outputs(each) for each in cast("list[Any]", item)]
        if isinstance(item, dict):
            given = cast("Json", item)
            return {field: self.over_outputs(value) for field, value in given.items() if field != "as"}
        if isinstance(item, str):
            return self.outputs.get(item.lower(), item)
        return str(item)


def with_window(plan: Json) -> tuple[list[Json], Json | None]:
    """The conditions of a plan and its window, which may be written as one of the conditions."""
    conditions, window = list[Json](plan.get("filters", ())), plan.get("time")
    windows = [each for each in conditions if set(each) == {"time"}]
    if window or len(windows) != 1:
        return conditions, window
    return [each for each in conditions if each is not windows[0]], windows[0]["time"]


def _by_number_of_day(item: Json) -> Json:
    """A condition on days of the week by their numbers: `Friday` is 5, and all but weekends are 1 to 5."""
    of: Json = item.get("of") or {}
    if of.get("bucket") not in {"day_name", "day_of_week"} or "value" not in item:
        return item
    values = cast("list[Any]", item["value"]) if isinstance(item["value"], list) else [item["value"]]
    numbers = [_DAYS.index(v) + 1 if v in _DAYS else v for v in values]
    op = {"=": "in", "!=": "not_in"}.get(str(item.get("op")), item.get("op"))
    if op == "not_in":
        op, numbers = "in", [day for day in range(1, 8) if day not in numbers]
    return {**item, "of": {**of, "bucket": "day_of_week"}, "op": op, "value": numbers}


def _names_column(field: str, item: Json) -> bool:
    return field in _COLUMN_FIELDS or (field in {"from", "to"} and "elapsed" in item)


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)
