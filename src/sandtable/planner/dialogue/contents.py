"""The data that a follow-up names: conditions, windows, keys, measures and an order, as edits.

The words are read like those of any question, over the table of the previous plan.
"""

from __future__ import annotations

import re

from sandtable.planner.candidates.grammar.choosing import default_aggregate
from sandtable.planner.candidates.grammar.composing import bucket_item, is_aggregate
from sandtable.planner.candidates.grammar.draft import Condition, Draft
from sandtable.planner.candidates.grammar.interpret import read_draft
from sandtable.planner.dialogue.edits import Change, Drop, Group, Measures, Narrow, Sort, Top, Window
from sandtable.planner.dialogue.message import Message
from sandtable.planner.dialogue.view import View, name_of
from sandtable.planner.language import periods
from sandtable.planner.language.reading import FREE
from sandtable.planner.language.vocabulary import AGGREGATES
from sandtable.planner.mentions.finding import look
from sandtable.planner.schema.columns import is_measure
from sandtable.planner.schema.entries import ColumnEntry, Json

_FURTHER = re.compile(r"\b(?:split|break|broken|further|too|also|as well|add|additionally|and split)\b")
_YEAR = re.compile(r"\b(?:19|20)\d{2}\b")


def read_contents(text: str, message: Message, view: View) -> tuple[Draft, list[Change]]:
    """The draft of the words, and the edits that they ask for."""
    draft = read_draft(text, view.index, view.home, look(text, view.index))
    found = [
        _narrow(draft, message, view),
        _window(draft, text, view),
        *_order_or_group(draft, message, view),
        _measures(draft, message, view),
    ]
    return draft, [change for change in found if change is not None]


def _narrow(draft: Draft, message: Message, view: View) -> Change | None:
    if not draft.conditions:
        return None
    adding = message.mode("adding") is not None
    conditions = tuple(_at_home(condition, view) for condition in draft.conditions)
    undone = _undone(conditions, view) if adding else None
    return undone or Narrow(conditions, adding=adding)


def _undone(conditions: tuple[Json, ...], view: View) -> Drop | None:
    """`the refunds too` after `without the refunds`: the condition goes."""
    filters = view.plan.get("filters", [])
    paths: list[tuple[str | int, ...]] = []
    for new in conditions:
        for at, old in enumerate(filters):
            same = old.get("column") == new.get("column") and old.get("value") == new.get("value")
            if same and old.get("op") == "!=" and new.get("op") == "=":
                paths.append(("filters", at))
    return Drop(tuple(paths)) if paths and len(paths) == len(conditions) else None


def _at_home(condition: Condition, view: View) -> Json:
    """A value that also occurs in a column of the previous conditions is read as a value of that column."""
    value = condition.value
    if value is None or condition.negated:
        return condition.json
    for piece in view.conditions:
        column = piece.columns[0] if len(piece.columns) == 1 else None
        if column is None or piece.path[0] != "filters" or len(piece.path) != 2 or column.profile is None:
            continue
        held = next((v.value for v in column.profile.values if _same(v.value, value)), None)
        if held is not None and piece.op in {"=", "in"}:
            return {"column": view.plan["filters"][int(piece.path[1])]["column"], "op": "=", "value": held}
    return condition.json


def _same(a: object, b: object) -> bool:
    return str(a).lower() == str(b).lower()


def _window(draft: Draft, text: str, view: View) -> Change | None:
    if draft.time is None or (draft.bucket is not None and draft.bucket.change):
        return None
    window = dict(draft.time)
    phrase = draft.phrases[0] if len(draft.phrases) == 1 else None
    before = view.period
    if phrase is not None and phrase.period is not None and before is not None and not _YEAR.search(text):
        said = phrase.period
        if said.unit in {"month", "quarter"} and "from" in window and "to" in window:
            moved = periods.nearest(said, before)
            window = {**{k: v for k, v in window.items() if k == "column"}, **moved.window}
    column = view.time_column
    if "column" not in window and column is not None and column != view.home.time_column:
        window = {"column": column, **window}
    return Window(window)


def _order_or_group(draft: Draft, message: Message, view: View) -> list[Change]:
    sorting = _sort(draft, message, view)
    if sorting is not None:
        return [sorting]
    return [change for change in (_group(draft, message, view),) if change is not None]


def _sort(draft: Draft, message: Message, view: View) -> Change | None:
    outputs = {name_of(i).lower(): name_of(i) for i in view.plan["select"]}
    whole_rows = any(i.get("column") == "*" for i in view.plan["select"])
    for name, down in draft.order:
        bare = name.rpartition(".")[2]
        if bare.lower() in outputs:
            return Sort(outputs[bare.lower()], down)
        if not view.measures and (whole_rows or view.column(name) is not None):
            return Sort(name, down)
    rank = draft.rank
    if rank is not None and not draft.groups and draft.bucket is None:
        return _ranked(draft, message, view)
    if draft.downward is not None and view.keys:
        return Sort(None, draft.downward)
    keyed = [c for c in draft.groups if any(c in p.columns for _, p in view.keys)]
    if draft.groups and keyed == draft.groups and view.measures:
        # `by region` where it is by region already.
        return Sort(next(n for n, p in view.keys if keyed[0] in p.columns), down=False)
    if len(draft.groups) == 1 and not view.measures and _shows(view, draft.groups[0]):
        return Sort(draft.ref(draft.groups[0]), down=False)
    return None


def _shows(view: View, column: ColumnEntry) -> bool:
    names = {name_of(i).lower() for i in view.plan["select"]}
    return ("*" in names and column.table == view.home.name) or column.name.lower() in names


def _ranked(draft: Draft, message: Message, view: View) -> Change | None:
    rank = draft.rank
    assert rank is not None
    down = rank.descending if draft.downward is None else draft.downward
    first = not rank.keep or re.search(r"\b(?:first|on top)\b", message.text) is not None
    if rank.column is not None and not view.measures:
        return Sort(draft.ref(rank.column), down) if first else None
    if not view.keys or not view.measures:
        return None
    if rank.column is not None and not any(rank.column in p.columns for p in view.measured):
        return None
    return Sort(None, down) if first else Top(rank.count or 1, down)


def _group(draft: Draft, message: Message, view: View) -> Change | None:
    columns = list(draft.groups)
    if not columns and draft.bucket is None:
        return None
    if draft.bucket is not None and draft.bucket.change:
        return None
    items: list[Json] = []
    if draft.bucket is not None and draft.bucket_column is not None:
        items.append(_bucket(draft, view))
    items.extend({"column": draft.ref(c), "as": c.name} for c in columns)
    return Group(tuple(items), _FURTHER.search(message.text) is not None)


def _bucket(draft: Draft, view: View) -> Json:
    assert draft.bucket is not None and draft.bucket_column is not None
    item = bucket_item(draft, draft.bucket.unit, draft.bucket_column)
    named = any(s.column is draft.bucket_column for s in draft.spots)
    return item if named or view.time_column is None else {**item, "column": view.time_column}


def _measures(draft: Draft, message: Message, view: View) -> Change | None:
    old = view.measures
    new = [m.item for m in draft.measures if is_aggregate(m.item)]
    if not new:
        new = _same_with_other_aggregate(draft, old, view)
    if not new and not draft.conditions and not draft.groups:
        new = [_with_column(draft, c, old) for c in draft.asked if is_measure(c)]
    if not new or not old:
        return None
    if message.mode("adding") is not None or message.text.startswith("with "):
        return Measures(tuple(new), "after")
    replacing = message.mode("instead") is not None or message.same or not message.opened
    return Measures(tuple(new), "replace" if replacing else "beside")


def _same_with_other_aggregate(draft: Draft, old: list[Json], view: View) -> list[Json]:
    """`and the median?`"""
    columns = [c for c in (_column_of(view, item) for item in old) if c is not None]
    said: list[str] = []
    for at, word in enumerate(draft.reading.words):
        if columns and word.lower in AGGREGATES and draft.reading.owner[at] in {FREE, "rank"}:
            said.append(AGGREGATES[word.lower])
            draft.reading.claim(at, at + 1, "measure")
    return [
        {"agg": agg, "column": c, "as": f"{agg}_{c.rpartition('.')[2]}"[:100]}
        for agg in said[:1]
        for c in columns
    ]


def _column_of(view: View, item: Json) -> str | None:
    if "metric" in item:
        metric = view.index.dataset.metric(str(item["metric"]))
        item = metric.numerator if metric is not None and metric.denominator is None else {}
    return str(item["column"]) if item.get("column") not in {None, "*"} and "agg" in item else None


def _with_column(draft: Draft, column: ColumnEntry, old: list[Json]) -> Json:
    """The previous aggregate, except that a column that is usually averaged is not summed."""
    usual = default_aggregate(draft, column, 0).item
    aggs = [str(i["agg"]) for i in old if "agg" in i and i["agg"] not in {"count", "count_distinct"}]
    if not aggs or (aggs[0] == "sum" and usual["agg"] == "avg"):
        return usual
    return {"agg": aggs[0], "column": draft.ref(column), "as": f"{aggs[0]}_{column.name}"[:100]}
