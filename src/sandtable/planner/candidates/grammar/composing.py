"""Draft → plan: the pieces assembled in the plan language."""

from __future__ import annotations

from typing import Any

from sandtable.catalog.model import ColumnType
from sandtable.planner.candidates.grammar.choosing import default_aggregate
from sandtable.planner.candidates.grammar.deciding import decide
from sandtable.planner.candidates.grammar.draft import Condition, Draft, Measure
from sandtable.planner.candidates.grammar.grouping import entity_column
from sandtable.planner.candidates.grammar.measuring import count_measure
from sandtable.planner.schema.columns import is_measure, is_varied, is_year, label_of, truth
from sandtable.planner.schema.entries import ColumnEntry, Json


def compose(draft: Draft) -> Json | None:
    """A plan, or None when the question asks for nothing that can be shown."""
    _complete(draft)
    select, keys = _keys(draft)
    measures = _all_measures(draft)
    aggregated = (bool(measures) and any(is_aggregate(m.item) for m in measures)) or bool(draft.bucket)
    plan: Json = {"dataset_id": draft.index.dataset.id, "table": draft.home.name}
    if aggregated or (measures and draft.groups):
        plan["select"] = [*select, *(m.item for m in measures)]
        if keys:
            plan["group_by"] = keys
    else:
        rows = _row_items(draft, measures)
        if not rows:
            return None
        plan["select"] = rows
        if _distinct(draft, measures):
            plan["group_by"] = [i["as"] if "as" in i else i["column"] for i in rows]
    if not plan["select"]:
        return None
    _drop_empty_keys(draft, select, aggregated)
    _filters(draft, plan)
    _derive(draft, plan)
    _order(draft, plan, measures, aggregated)
    return plan


def _drop_empty_keys(draft: Draft, keys: list[Json], aggregated: bool) -> None:
    """Leave groups without a name out of a ranking."""
    if not aggregated or draft.rank is None or not draft.rank.keep:
        return
    named = {k["column"] for k in keys if "column" in k and "bucket" not in k}
    for table in draft.index.tables:
        for column in table.columns:
            if table.name in draft.reach and draft.ref(column) in named and _holds_nulls(column):
                leaf = {"column": draft.ref(column), "op": "not_null"}
                draft.conditions.append(Condition(0, 0, leaf, column))


def _holds_nulls(column: ColumnEntry) -> bool:
    return column.profile is not None and column.profile.nulls > 0


def is_aggregate(item: Json) -> bool:
    if "agg" in item or "metric" in item:
        return True
    return "op" in item and (is_aggregate(item["left"]) or is_aggregate(item["right"]))


def _complete(draft: Draft) -> None:
    """Numbers beside groups are combined; a noun beside groups is counted."""
    grouped = bool(draft.groups or draft.bucket or draft.measures or draft.having) or bool(
        draft.rank and draft.rank.measure
    )
    plain = bool(draft.measures) and not any(is_aggregate(m.item) for m in draft.measures)
    if plain and not draft.having and draft.bucket is None:
        draft.asked = [*draft.groups, *draft.asked]
        draft.groups = []
    if grouped and not plain:
        for column in [c for c in draft.asked if is_measure(c) and truth(c) is None]:
            if _is_category(draft, column):
                continue
            draft.asked.remove(column)
            already = [m.column for m in draft.measures]
            if column not in already and not (draft.rank and draft.rank.column is column):
                draft.measures.append(default_aggregate(draft, column, 0))
    if draft.having and not (draft.groups or draft.asked or draft.subject or draft.bucket):
        draft.doubt(0.3, "a count was compared, but not of what")
    counted = draft.having or (draft.rank and (draft.rank.measure or draft.rank.column))
    if (draft.groups or draft.bucket) and not draft.measures and not counted and not draft.distinct:
        draft.measures.append(count_measure(draft, None, distinct=False))
    decide(draft)


def _is_category(draft: Draft, column: ColumnEntry) -> bool:
    """`which class had the most passengers`: a number column with few values that categorizes what is counted."""
    counted = draft.rank is not None and draft.rank.measure is not None
    spot = next((s for s in draft.spots if s.column is column and s.role == "asked"), None)
    if not counted or spot is None or column.type is not ColumnType.INTEGER:
        return False
    if is_varied(column) and not (draft.rank is not None and draft.rank.common):
        return False
    return draft.reading.lower(spot.start - 1) in {"which", "what"}


def _all_measures(draft: Draft) -> list[Measure]:
    found: list[Measure] = []
    seen: set[str] = set()
    extra = [h.measure for h in draft.having]
    ranked = [draft.rank.measure] if draft.rank and draft.rank.measure else []
    for measure in (*draft.measures, *ranked, *extra):
        if measure.name.lower() not in seen:
            seen.add(measure.name.lower())
            found.append(measure)
    return found


def _keys(draft: Draft) -> tuple[list[Json], list[Any]]:
    """The plain select items of a grouped plan, and its `group_by`."""
    columns = list(draft.groups)
    columns.extend(c for c in draft.asked if c not in columns)
    picked = draft.rank is not None or bool(draft.having)
    ranked_within = draft.rank is not None and draft.rank.keep and not draft.asked
    if draft.subject is not None and not draft.bucket and ((not columns and picked) or ranked_within):
        label = entity_column(draft, draft.subject.table) if draft.subject.table else None
        if label is not None and label not in columns:
            columns.append(label)
    items: list[Json] = []
    if draft.bucket is not None and draft.bucket_column is not None:
        items.append(bucket_item(draft, draft.bucket.unit, draft.bucket_column))
    names: set[str] = {str(i["as"]).lower() for i in items}
    for column in columns:
        items.append(_column_item(draft, column, names))
    return items, [i.get("as", i.get("column")) for i in items]


def bucket_item(draft: Draft, unit: str, column: ColumnEntry) -> Json:
    chosen = _auto_unit(draft, column) if unit == "auto" else unit
    return {"bucket": chosen, "column": draft.ref(column), "as": chosen}


def _auto_unit(draft: Draft, column: ColumnEntry) -> str:
    window = draft.time or {}
    if window.get("unit") in {"day", "week"} or (
        window.get("unit") == "month" and window.get("last", 9) <= 2
    ):
        return "day"
    profile = column.profile
    if profile and profile.minimum and profile.maximum:
        years = int(str(profile.maximum)[:4]) - int(str(profile.minimum)[:4])
        return "year" if years > 5 else "month"
    return "month"


def _column_item(draft: Draft, column: ColumnEntry, names: set[str]) -> Json:
    name = column.name
    if name.lower() in names:
        name = f"{column.table}_{column.name}"[:100]
    names.add(name.lower())
    item: Json = {"column": draft.ref(column)}
    if name != column.name or column.table != draft.home.name:
        item["as"] = name
    return item


def _is_one(draft: Draft) -> bool:
    """`give me the oldest song` asks for one by its name; `show` asks to see the row."""
    rank = draft.rank
    return (
        rank is not None
        and rank.keep
        and (rank.count or 1) == 1
        and draft.reading.lower(0) in {"give", "get"}
    )


def _row_items(draft: Draft, measures: list[Measure]) -> list[Json]:
    columns = list(draft.asked)
    if draft.rank is not None and columns == [draft.rank.column] and draft.subject is not None:
        columns = []
    within = draft.groups if draft.rank is not None and draft.rank.keep and draft.rank.column else []
    if not columns and draft.subject is not None and draft.subject.table is not None:
        label = label_of(draft.subject.table) if draft.subject.table.name in draft.reach else None
        if label is None or (
            draft.rows and draft.subject.table.name == draft.home.name and not _is_one(draft)
        ):
            return [{"column": "*"}]
        columns = [label]
    if not columns and not measures and (draft.conditions or draft.rank or draft.time):
        label = label_of(draft.home)
        return [{"column": draft.ref(label)}] if label and not draft.rows else [{"column": "*"}]
    if draft.rank is not None and draft.rank.column is not None and draft.rank.column not in columns:
        columns.append(draft.rank.column)
    if draft.against is not None and draft.against not in columns:
        columns.append(draft.against)
    columns.extend(c for c in within if c not in columns)
    names: set[str] = {m.name.lower() for m in measures}
    return [*(_column_item(draft, c, names) for c in columns), *(m.item for m in measures)]


def _distinct(draft: Draft, measures: list[Measure]) -> bool:
    if measures or draft.rank or draft.order or draft.derive:
        return False
    if not draft.asked and draft.subject is not None and draft.subject.table is not draft.home:
        return True
    return draft.distinct or (len(draft.asked) == 1 and not draft.asked[0].numeric)


def _filters(draft: Draft, plan: Json) -> None:
    filters = [c.json for c in draft.conditions] + draft.compared
    if filters:
        plan["filters"] = filters
    if draft.time:
        plan["time"] = draft.time
    having = [{"column": h.measure.name, "op": h.op, "value": h.value} for h in draft.having]
    if having:
        plan["having"] = having


def _derive(draft: Draft, plan: Json) -> None:
    if draft.derive:
        plan["derive"] = draft.derive
    if draft.derived_having:
        plan["having"] = [*plan.get("having", []), *draft.derived_having]


def _order(draft: Draft, plan: Json, measures: list[Measure], aggregated: bool) -> None:
    rank = draft.rank
    if draft.order:
        plan["order_by"] = [{"expr": n, "dir": "desc" if down else "asc"} for n, down in draft.order]
    elif rank is not None and (rank.measure or rank.column):
        name = rank.measure.name if rank.measure else draft.ref(rank.column) if rank.column else ""
        if rank.column is not None:
            shown = next((i for i in plan["select"] if i.get("column") == name and "as" in i), None)
            name = str(shown["as"]) if shown else name
        plan["order_by"] = [{"expr": name, "dir": "desc" if rank.descending else "asc"}]
        _keep(draft, plan, name)
    elif draft.bucket is not None and draft.bucket.unit != "auto" and aggregated:
        plan["order_by"] = [{"expr": plan["select"][0].get("as", draft.bucket.unit), "dir": "asc"}]
    elif len(draft.groups) == 1 and is_year(draft.groups[0]) and measures and aggregated:
        plan["order_by"] = [{"expr": draft.groups[0].name, "dir": "asc"}]
    elif draft.groups and measures and aggregated:
        plan["order_by"] = [{"expr": measures[0].name, "dir": "desc"}]
    if draft.limit is not None:
        plan["limit"] = draft.limit


def _keep(draft: Draft, plan: Json, name: str) -> None:
    rank = draft.rank
    assert rank is not None
    if not rank.keep:
        return
    explicit = draft.groups
    others = [
        i for i in plan["select"] if "column" in i and i["column"] not in {draft.ref(g) for g in explicit}
    ]
    each = "group_by" in plan or (rank.column is not None and not draft.comparing)
    if explicit and others and not rank.common and each:
        plan["top_per_group"] = {
            "n": rank.count or 1,
            "by": [g.name for g in explicit],
            "order_by": name,
            "dir": "desc" if rank.descending else "asc",
        }
        plan["order_by"] = [*({"expr": g.name} for g in explicit), *plan["order_by"]]
        return
    plan["limit"] = rank.count or 1
