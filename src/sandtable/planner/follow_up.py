"""A follow-up changes the plan before it: narrower, by something else, another time, another order.

Invariant: what the follow-up does not speak of stays as it was.
"""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass
from typing import Any

from sandtable.planner.columns import is_measure
from sandtable.planner.composing import bucket_item, is_aggregate
from sandtable.planner.draft import Draft, Json
from sandtable.planner.entries import ColumnEntry
from sandtable.planner.index import SchemaIndex
from sandtable.planner.interpret import read_draft
from sandtable.planner.leftovers import unknown_words
from sandtable.planner.linking import Found
from sandtable.planner.outcome import Turn
from sandtable.planner.reading import FREE
from sandtable.planner.vocabulary import AGGREGATES

_CUE = re.compile(
    r"(?:ok(?:ay)? ,? ?)?(?:please )?(?:now|and|what about|how about|(?:the )?same|only|just|also|but|then|sort|"
    r"order it|"
    r"order them|make it|make that|as an?|in percent|without|exclude|excluding|include|remove|add|instead|per|by|for|"
    r"in|since|during|until|split|break|group|top \d+|bottom \d+|limit|show (?:it|that|them|this|only|just)|"
    r"do (?:it|that|the same)|last|before|after|between|weekly|monthly|daily|quarterly|yearly|hourly|except|not|"
    r"highest first|lowest first|ascending|descending|with|from|of those|of these|use|change it|turn it|filter|"
    r"restrict|narrow|compare (?:it|that))(?= |$)"
)
_QUESTION = re.compile(
    r"(?:and |but |now |then |so |ok(?:ay)? )?(?:how many|how much|what is|what are|what was|which|who|where|when|list|"
    r"show me the|show the|give me)(?= )"
)
_OPENING = re.compile(
    r"(?:top \d+|bottom \d+|in|for|from|of|last|since|during|until|before|after|between|weekly|monthly|daily|quarterly|"
    r"yearly|hourly|with|by|per|compare)(?= )"
)
"""Words with which a follow-up may begin, and a question of its own as well."""
_LEANING = re.compile(
    r"(?:it|that|them|this|those|these|they|there|same|instead|too|also|as well|again|only|just)(?= |$)"
)
_ADDING = re.compile(r"\b(?:also|too|further|additionally|as well|split|break|broken|include|add|plus)\b")
_REPLACING = re.compile(r"\b(?:instead|rather|what about|how about)\b")
_SHORT = 9
_BARE = 4
"""`what is the median`: too little to be about something of its own."""


@dataclass(frozen=True, slots=True)
class Changed:
    plan: Json
    certainty: float
    unknown: tuple[str, ...]
    used: tuple[str, ...]


def sounds_like_follow_up(line: str) -> bool:
    """Whether a question leans on the one before it."""
    return bool(_CUE.match(line)) and not _QUESTION.match(line)


def is_short(line: str) -> bool:
    """Short enough to be a change of the question before, and not a whole question of its own."""
    words = line.rstrip("? ").split()
    whole = _QUESTION.match(line) is not None and len(words) > _BARE and not _leans(line)
    return len(words) <= _SHORT and not whole


def _leans(line: str) -> bool:
    return any(_LEANING.match(line, at) for at in range(len(line)) if at == 0 or line[at - 1] == " ")


def starts_afresh(line: str, draft: Draft) -> bool:
    """`Top 5 customers by revenue`: its own measure and its own subject need nothing of the plan before."""
    if not _OPENING.match(line) or _leans(line):
        return False
    spoken = [s for s in draft.spots if s.value is None]
    measured = [s for s in spoken if s.metric is not None or (s.number is not None and is_measure(s.number))]
    others = [s for s in spoken if s not in measured]
    return bool(measured) and bool(others or draft.bucket is not None)


def change_plan(question: str, index: SchemaIndex, before: Turn, found: Found) -> Changed | None:
    """The plan before with what the follow-up says; None when it says nothing that fits."""
    home = index.table(str(before.plan.get("table", "")))
    if home is None or before.plan.get("dataset_id") != index.dataset.id:
        return None
    draft = read_draft(question, index, home, found)
    plan = copy.deepcopy(before.plan)
    line = draft.reading.line
    said = [
        _filters(plan, draft, line),
        _time(plan, draft),
        _groups(plan, draft, line),
        _measures(plan, draft, line),
        _order(plan, draft),
        _share(plan, draft),
    ]
    if not any(said):
        return None
    _mend(plan)
    return Changed(plan, draft.certainty, tuple(unknown_words(draft)), tuple(draft.used))


def _filters(plan: Json, draft: Draft, line: str) -> bool:
    if not draft.conditions:
        return False
    had: list[Json] = list(plan.get("filters", []))
    for condition in draft.conditions:
        column = condition.json.get("column")
        same = [
            f
            for f in had
            if column is not None and f.get("column") == column and f.get("op") in {"=", "in", "!=", "not_in"}
        ]
        if (
            same
            and condition.value is not None
            and not condition.negated
            and re.search(r"\b(?:also|include|add|plus|too)\b", line)
        ):
            earlier = same[0]["value"]
            values: list[Any] = [*(earlier if isinstance(earlier, list) else [earlier]), condition.value]
            had = [f for f in had if f not in same]
            had.append({"column": column, "op": "in", "value": values})
            continue
        if same and not condition.negated and same[0]["op"] in {"=", "in"}:
            had = [f for f in had if f not in same]
        had.append(condition.json)
    plan["filters"] = had
    return True


def _time(plan: Json, draft: Draft) -> bool:
    if draft.time is None or (draft.bucket is not None and draft.bucket.change):
        return False
    plan["time"] = draft.time
    return True


def _key_items(plan: Json) -> list[Json]:
    return [i for i in plan["select"] if not is_aggregate(i)]


def _measure_items(plan: Json) -> list[Json]:
    return [i for i in plan["select"] if is_aggregate(i)]


def _groups(plan: Json, draft: Draft, line: str) -> bool:
    columns: list[ColumnEntry] = list(draft.groups)
    if not columns and draft.bucket is None and not draft.conditions and draft.time is None:
        columns = [c for c in draft.asked if not is_measure(c)]
    if not columns and draft.bucket is None:
        return False
    items: list[Json] = []
    if draft.bucket is not None and draft.bucket_column is not None:
        items.append(bucket_item(draft, draft.bucket.unit, draft.bucket_column))
    items.extend({"column": draft.ref(c), "as": c.name} for c in columns)
    measures = _measure_items(plan) or [{"agg": "count", "as": "count"}]
    keys = _key_items(plan) if _measure_items(plan) else []
    if draft.bucket is not None and not columns and any("bucket" in k for k in keys):
        keys = [k for k in keys if "bucket" not in k]
    elif not _ADDING.search(line):
        keys = []
    names = {_name(i) for i in items}
    plan["select"] = [*(k for k in keys if _name(k) not in names), *items, *measures]
    plan["group_by"] = [_name(i) for i in plan["select"] if not is_aggregate(i)]
    plan.pop("top_per_group", None)
    plan.pop("limit", None)
    if draft.bucket is not None:
        plan.pop("order_by", None)
    return True


def _name(item: Json) -> str:
    if "as" in item:
        return str(item["as"])
    return str(item.get("metric") or item.get("column", "")).rpartition(".")[2]


def _measures(plan: Json, draft: Draft, line: str) -> bool:
    new = [m.item for m in draft.measures if is_aggregate(m.item)]
    old = _measure_items(plan)
    if not new:
        new = _same_with_other_aggregate(draft, old)
    if not new and not draft.conditions:
        new = [_with_column(draft, c, old) for c in draft.asked if is_measure(c)]
    if not new or not old:
        return False
    names = {_name(i) for i in new}
    kept = [] if _REPLACING.search(line) else [i for i in old if _name(i) not in names]
    plan["select"] = [*_key_items(plan), *new, *kept]
    plan.pop("derive", None)
    return True


def _same_with_other_aggregate(draft: Draft, old: list[Json]) -> list[Json]:
    """`and the median?`"""
    columns = [c for c in (_column_of(draft, item) for item in old) if c is not None]
    said: list[str] = []
    for at, word in enumerate(draft.reading.words):
        if columns and word.lower in AGGREGATES and draft.reading.owner[at] in {FREE, "rank"}:
            said.append(AGGREGATES[word.lower])
            draft.reading.claim(at, at + 1, "measure")
    return [
        {"agg": agg, "column": c, "as": f"{agg}_{c.rpartition('.')[2]}"[:100]}
        for agg in said
        for c in columns
    ]


def _column_of(draft: Draft, item: Json) -> str | None:
    if "metric" in item:
        metric = draft.index.dataset.metric(str(item["metric"]))
        item = metric.numerator if metric is not None and metric.denominator is None else {}
    return str(item["column"]) if item.get("column") not in {None, "*"} and "agg" in item else None


def _with_column(draft: Draft, column: ColumnEntry, old: list[Json]) -> Json:
    aggs = [str(i["agg"]) for i in old if "agg" in i and i["agg"] not in {"count", "count_distinct"}]
    agg = aggs[0] if aggs else "avg"
    return {"agg": agg, "column": draft.ref(column), "as": f"{agg}_{column.name}"[:100]}


def _order(plan: Json, draft: Draft) -> bool:
    names = [_name(i) for i in _measure_items(plan)]
    said = False
    if draft.order:
        outputs = {_name(i) for i in plan["select"]}
        wanted = [(n, down) for n, down in draft.order if n in outputs]
        plan["order_by"] = [{"expr": n, "dir": "desc" if down else "asc"} for n, down in wanted]
        said = bool(wanted)
    rank, downward = draft.rank, draft.downward
    if rank is not None and (names or plan.get("order_by")):
        key = names[0] if names else plan["order_by"][0]["expr"]
        down = rank.descending if downward is None else downward
        plan["order_by"] = [{"expr": key, "dir": "desc" if down else "asc"}]
        if rank.keep and (rank.count or rank.word not in {"highest", "lowest"}):
            plan["limit"] = rank.count or 1
        return True
    if downward is not None and not said:
        key = names[0] if names else _name(plan["select"][0])
        plan["order_by"] = [{"expr": key, "dir": "desc" if downward else "asc"}]
        said = True
    return said


def _share(plan: Json, draft: Draft) -> bool:
    if not draft.of_total:
        return False
    measures = [_name(i) for i in _measure_items(plan)]
    if not measures:
        return False
    plan["derive"] = [{"share_of_total": measures[0], "as": "share"}]
    return True


def _mend(plan: Json) -> None:
    """Order, derived columns and conditions on the result may only name what is still there."""
    for item in plan["select"]:
        item.setdefault("as", _name(item)) if "column" not in item else None
    names = {_name(i) for i in plan["select"]}
    unit = next((_name(i) for i in plan["select"] if "bucket" in i), None)
    kept: list[Json] = []
    for derived in plan.get("derive", []):
        of = next(
            (
                derived[k]
                for k in ("share_of_total", "rank", "change", "running_total", "zscore")
                if k in derived
            ),
            None,
        )
        if of not in names or ("along" in derived and unit is None):
            continue
        if "along" in derived:
            derived["along"] = unit
        kept.append(derived)
        names.add(str(derived.get("as", "")))
    _set(plan, "derive", kept)
    rows = not _measure_items(plan)
    _set(plan, "order_by", [o for o in plan.get("order_by", []) if rows or o["expr"] in names])
    _set(plan, "having", [h for h in plan.get("having", []) if "any" in h or h.get("column") in names])
    if unit is not None and "order_by" not in plan:
        plan["order_by"] = [{"expr": unit, "dir": "asc"}]


def _set(plan: Json, key: str, value: list[Json]) -> None:
    if value:
        plan[key] = value
    else:
        plan.pop(key, None)
