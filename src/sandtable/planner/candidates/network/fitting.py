"""Sketches as plans over a dataset, and properties of a plan that are known without running it."""

from __future__ import annotations

from itertools import pairwise

from sandtable.planner.candidates.network.plans import Json, plan_of
from sandtable.planner.candidates.network.sketch import Item, Token
from sandtable.planner.language.buckets import find_buckets
from sandtable.planner.language.reading import Reading
from sandtable.planner.language.vocabulary import AGGREGATES
from sandtable.planner.language.words import split_words
from sandtable.planner.schema.columns import is_unique
from sandtable.planner.schema.index import SchemaIndex

_NOT_DERIVED = frozenset({"zscore", "position", "previous", "next", "run", "holds"})


def plan_for(sketch: tuple[Token, ...], index: SchemaIndex) -> Json | None:
    """The plan over this dataset: percents as its columns hold them, and texts that are only listed once each."""
    plan = plan_of(_where_metrics_are(sketch, index), index.dataset.id, index.units)
    if plan is not None and "define" in plan:
        (group,) = plan["define"]
        return {**plan, "define": [{**group, "plan": _of_somebody(group["plan"], index)}]}
    if plan is not None and "limit" in plan:
        plan = _of_somebody(plan, index)
    if plan is None or len(plan["select"]) != 1 or "order_by" in plan:
        return plan
    column, home = sketch[1], index.table(str(plan["table"]))
    if isinstance(column, Item) and home is not None:
        entry = index.column(column.table, column.name)
        if entry is not None and entry.text and not (entry.table == home.name and is_unique(entry, home)):
            return {**plan, "group_by": [plan["select"][0].get("as", plan["select"][0]["column"])]}
    return plan


def as_stated(sketch: tuple[Token, ...], question: str, index: SchemaIndex) -> tuple[Token, ...]:
    """The sketch with numbers put together as the catalog states it, where the question does not say how: the network
    goes by names, and does not see that."""
    made = list(sketch)
    said = [word.lower for word in split_words(question)]
    for at, (token, of) in enumerate(pairwise(sketch)):
        entry = index.column(of.table, of.name) if isinstance(of, Item) and of.kind == "column" else None
        if token not in ("sum", "avg") or entry is None or entry.stated_aggregate is None:
            continue
        if not any(word in AGGREGATES and word not in entry.words for word in said):
            made[at] = entry.stated_aggregate
    return tuple(made)


def in_fiscal_periods(plan: Json | None, question: str, index: SchemaIndex) -> Json | None:
    """The plan by fiscal quarter or year where the question says so: sketches have those of the calendar alone."""
    if plan is None or not index.in_fiscal:
        return plan
    said = {each.unit for each in find_buckets(Reading.of(question), in_fiscal=True)}
    select = [
        {**item, "bucket": unit} if (unit := f"fiscal_{item.get('bucket')}") in said else item
        for item in plan["select"]
    ]
    return {**plan, "select": select}


def _where_metrics_are(sketch: tuple[Token, ...], index: SchemaIndex) -> tuple[Token, ...]:
    """The sketch over the table of its metrics: they are computed there, whatever table stands before them."""
    homes = {token.table for token in sketch if isinstance(token, Item) and token.kind == "metric"}
    first = sketch[0]
    if len(homes) != 1 or not isinstance(first, Item) or first.table in homes:
        return sketch
    before, home = index.table(first.table), index.table(homes.pop())
    if before is None or home is None:
        return sketch
    changed = {first: Item("table", home.name)}
    if before.time_column and home.time_column:
        changed[Item("column", before.name, before.time_column)] = Item("column", home.name, home.time_column)
    return tuple(changed.get(token, token) if isinstance(token, Item) else token for token in sketch)


def beyond_sketches(plan: Json) -> bool:
    """Whether no sketch can express the plan: that the network does not write it is then no evidence against it."""
    derived = {field for item in plan.get("derive", ()) for field in item}
    named = {item.get("as") for item in plan.get("derive", ())}
    placed = any(each.get("column") in named for each in plan.get("having", ()))
    several = len(plan.get("having", ())) > 1
    return bool(derived & _NOT_DERIVED) or several or placed or "define" in plan or "why" in plan


def _of_somebody(plan: Json, index: SchemaIndex) -> Json:
    """The plan without groups of empty cells: a ranking needs names, and guests are not one customer."""
    if all("column" in item for item in plan["select"]):
        return plan
    keys = [str(item["column"]) for item in plan["select"] if set(item) <= {"column", "as"}]
    entries = {key: index.column(str(plan["table"]), key) for key in keys}
    empty = [key for key, entry in entries.items() if entry and entry.profile and entry.profile.nulls > 0]
    spoken = {str(condition.get("column")) for condition in plan.get("filters", ())}
    added = [{"column": key, "op": "not_null"} for key in empty if key not in spoken]
    return {**plan, "filters": [*plan.get("filters", ()), *added]} if added else plan
