"""Follow-ups that change the previous plan into one that does not answer the message."""

from __future__ import annotations

import json
import re

from sandtable.planner.schema.entries import Json
from sandtable.planner.schema.index import SchemaIndex
from sandtable.planner.schema.main_measures import is_averaged

_REFERRING = re.compile(
    r"\b(?:of|among|from) (?:those|these|them)\b|\bwhich of (?:those|these|them)\b|\b(?:his|her|he|she|him)\b"
)
_SUMMED = frozenset({"total", "totals", "sum", "add", "added", "altogether", "overall"})


def misses_the_point(message: str, plan: Json, before: Json, index: SchemaIndex) -> str | None:
    """Why the changed plan cannot be what was meant, as a clarifying question; None when it can."""
    if "limit" in plan and "order_by" in plan and not _keys(plan) and _measures(plan):
        return "It is open which of the rows before should be put in order: name what should be shown."
    if "limit" in before and "limit" not in plan and len(_keys(plan)) > len(_keys(before)):
        return (
            "The answer before showed only the first of them. Should this be about that one, or about all? Name "
            "it, or ask the whole question."
        )
    if (other := speaks_of_others(message, plan, before)) is not None:
        return other
    shares = any("share_of_total" in each and not each.get("within") for each in plan.get("derive", ()))
    if shares and _keys(plan) and all(_is_pinned(key, plan) for key in _keys(plan)):
        return "Of what should the share be? Only one group is left, which is all of itself."
    said = {word.strip("?.,!").lower() for word in message.split()}
    if not said & _SUMMED and any(_adds_rates(item, plan, index) for item in _new_measures(plan, before)):
        return "I could not tell which number is meant: name the column or the metric."
    return None


def speaks_of_others(message: str, plan: Json, before: Json) -> str | None:
    """Why a message about the rows before cannot mean this plan, which is about others; None when it can."""
    if _REFERRING.search(message.lower()) and _leaves_them(plan, before):
        return "I could not tell how this is about what was answered before: name the rows that are meant."
    return None


def _leaves_them(plan: Json, before: Json) -> bool:
    """Whether the plan is about other rows than the previous answer: a condition, its time or its limit was removed."""
    text = json.dumps(plan, default=str)
    gone = any(json.dumps(each, default=str) not in text for each in before.get("filters", ()))
    undated = "time" in before and "time" not in plan and '"time"' not in text
    return gone or undated or ("limit" in before and "limit" not in plan and "define" not in plan)


def _keys(plan: Json) -> list[str]:
    return [
        str(item.get("as") or item.get("column"))
        for item in plan.get("select", ())
        if ("column" in item and "agg" not in item) or "bucket" in item
    ]


def _measures(plan: Json) -> list[Json]:
    return [item for item in plan.get("select", ()) if "agg" in item or "metric" in item or "op" in item]


def _new_measures(plan: Json, before: Json) -> list[Json]:
    known = [{k: v for k, v in item.items() if k != "as"} for item in _measures(before)]
    return [item for item in _measures(plan) if {k: v for k, v in item.items() if k != "as"} not in known]


def _is_pinned(key: str, plan: Json) -> bool:
    """Whether a condition leaves one value of this key."""
    names = {key} | {
        str(item["column"]) for item in plan["select"] if item.get("as") == key and "column" in item
    }
    return any(str(each.get("column")) in names and each.get("op") == "=" for each in plan.get("filters", ()))


def _adds_rates(item: Json, plan: Json, index: SchemaIndex) -> bool:
    """A sum of prices, rates or durations, which is only meant when it is asked for explicitly."""
    if item.get("agg") != "sum" or not isinstance(item.get("column"), str):
        return False
    column = index.column(str(plan["table"]), str(item["column"]))
    return column is not None and is_averaged(column, index)
