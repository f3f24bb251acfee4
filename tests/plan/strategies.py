"""Valid plans for any catalog: `plans(dataset)` draws the JSON form of a plan that fits the dataset.

What is drawn here is what the language promises to accept; a plan of these that is refused, does not
compile or does not pass the gate is a defect.
"""

from __future__ import annotations

from hypothesis import strategies as st

from sandtable.catalog.model import ColumnType, Dataset, Table
from sandtable.plan.validate import parse_plan, require_plan
from tests.plan.conditions import (
    MOMENTS,
    NUMBERS,
    TEXTS,
    Json,
    Visible,
    filters,
    leaf,
    lookups,
    spans,
    wholes,
    windows,
)

__all__ = ["TEXTS", "plans"]

_ALIASES = st.sampled_from(
    [
        "total",
        "Total sales",
        "x",
        "select",
        'a"b',
        "größe",
        "order",
        "from",
        "base",
        "grouped",
        "derived",
        "%",
    ]
)

_TABLE_NAMES = (
    "top_customers Top _x t1 select order user current_date main temp grouped base derived grouped_2 unnest"
).split()


@st.composite
def aggregates(draw: st.DrawFn, visible: Visible) -> Json:
    where = {"where": [draw(filters(visible, 1))]} if draw(st.integers(0, 3)) == 0 else {}
    numbers = visible.of(*NUMBERS)
    ordered = visible.of(*(set(ColumnType) - {ColumnType.OTHER}))
    kinds = ["count", *(["min"] if ordered else [])]
    kinds += ["count_distinct", "number", "of", "correlation"] if numbers else []
    kind = draw(st.sampled_from(kinds))
    if kind == "count":
        return {"agg": "count", **where}
    if kind == "count_distinct":
        return {"agg": "count_distinct", "column": draw(st.sampled_from(visible.of())), **where}
    if kind == "min":
        agg = draw(st.sampled_from(["min", "max"]))
        return {"agg": agg, "column": draw(st.sampled_from(ordered)), **where}
    column = draw(st.sampled_from(numbers))
    if kind == "correlation":
        return {"agg": "correlation", "column": column, "with": draw(st.sampled_from(numbers)), **where}
    if kind == "of" and draw(st.booleans()):
        held = draw(filters(visible, 1))
        return {"agg": draw(st.sampled_from(["sum", "avg"])), "of": {"holds": [held]}, **where}
    if kind == "of":
        factor = draw(st.sampled_from([{"value": 2}, {"value": -1.5}, {"column": column}]))
        product = {"op": draw(st.sampled_from("+-*/")), "left": {"column": column}, "right": factor}
        return {"agg": draw(st.sampled_from(["sum", "avg"])), "of": product, **where}
    agg = draw(st.sampled_from(["sum", "avg", "median", "stddev", "quantile"]))
    quantile = {"q": draw(st.sampled_from([0, 0.5, 0.95, 1]))} if agg == "quantile" else {}
    distinct = {"distinct": True} if agg in ("sum", "avg") and draw(st.booleans()) else {}
    return {"agg": agg, "column": column, **quantile, **distinct, **where}


@st.composite
def measures(draw: st.DrawFn, visible: Visible) -> Json:
    kind = draw(st.sampled_from(["agg", "agg", "metric", "arithmetic"]))
    if kind == "metric" and visible.metrics:
        where = {"where": [draw(filters(visible, 1))]} if draw(st.booleans()) else {}
        return {"metric": draw(st.sampled_from(visible.metrics)), **where}
    if kind == "arithmetic":
        right = draw(st.sampled_from([{"value": 100}, {"value": 0.5}, {"agg": "count"}]))
        return {"op": draw(st.sampled_from("+-*/")), "left": {"agg": "count"}, "right": right}
    return draw(aggregates(visible))


@st.composite
def dimensions(draw: st.DrawFn, visible: Visible) -> Json:
    moments = visible.of(*MOMENTS)
    kind = draw(st.integers(0, 9))
    if kind == 0:
        return {"holds": [draw(filters(visible, 1))]}
    if kind == 1 and visible.of(*NUMBERS):
        return draw(wholes(visible))
    if kind == 3 and visible.of(ColumnType.TEXT):
        return {"elements": draw(st.sampled_from(visible.of(ColumnType.TEXT))), "take": "count"}
    if kind == 2 and moments:
        return draw(spans(visible))
    if moments and draw(st.booleans()):
        column = draw(st.sampled_from(moments))
        units = [
            "day",
            "week",
            "month",
            "quarter",
            "year",
            "day_of_week",
            "month_of_year",
            "day_name",
            "month_name",
        ]
        if visible.columns[column].type is ColumnType.TIMESTAMP:
            units += ["hour", "hour_of_day", "hour_name"]
        return {"bucket": draw(st.sampled_from(units)), "column": column}
    return {"column": draw(st.sampled_from(visible.of()))}


def _named(draw: st.DrawFn, items: list[Json]) -> list[str]:
    """Gives every item a name of its own and returns the names."""
    names: list[str] = []
    for index, item in enumerate(items):
        name = draw(_ALIASES) if draw(st.integers(0, 2)) == 0 else f"c{index}"
        name = name if name.lower() not in {n.lower() for n in names} else f"{name} {index}"
        item["as"] = name
        names.append(name)
    return names


@st.composite
def derivations(draw: st.DrawFn, numbers: list[str], keys: list[str], every: list[str]) -> Json:
    within = {"within": draw(st.lists(st.sampled_from(keys), max_size=3))} if keys else {}
    kinds = (
        "share_of_total rank change running_total zscore previous next position run agg arithmetic holds from"
    )
    kind = draw(st.sampled_from(kinds.split()))
    source = draw(st.sampled_from(numbers))
    other = draw(st.sampled_from(numbers))
    if kind == "from":
        return {"change": source, "from": other, "kind": draw(st.sampled_from(["absolute", "percent"]))}
    if kind == "agg":
        return {"agg": draw(st.sampled_from(["avg", "sum", "max"])), "column": source, **within}
    if kind == "arithmetic":
        return {"op": draw(st.sampled_from("+-*/")), "left": {"column": source}, "right": {"column": other}}
    if kind == "holds":
        return {"holds": [{"column": source, "op": ">", "than": {"agg": "avg", "column": other}}]}
    if kind == "run":
        held = {"column": source, "op": draw(st.sampled_from([">", "<="])), "value": draw(st.integers(-1, 3))}
        return {"run": [held], "along": draw(st.sampled_from(keys or every))}
    if kind in ("change", "running_total", "previous", "next"):
        along = {"along": draw(st.sampled_from(keys or every))}
        percent = {"kind": draw(st.sampled_from(["absolute", "percent"]))} if kind == "change" else {}
        return {kind: source, **along, **percent, **(within if draw(st.booleans()) else {})}
    return {kind: source, **within}


@st.composite
def plans(draw: st.DrawFn, dataset: Dataset) -> Json:
    """The JSON form of a plan that fits `dataset`; some define tables and read them."""
    define: list[Json] = []
    known = dataset
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):
        name = draw(st.sampled_from([name for name in _TABLE_NAMES if known.table(name) is None]))
        define.append({"name": name, "plan": draw(bodies(known, define))})
        known = _with_defined(dataset, define)
    plan = draw(bodies(known, define))
    return {"dataset_id": dataset.id, **({"define": define} if define else {}), **plan}


def _with_defined(dataset: Dataset, define: list[Json]) -> Dataset:
    """The dataset and the tables that are defined so far, as the language itself types them."""
    tables: list[Table] = []
    for index, one in enumerate(define):
        probe = {"define": define[: index + 1], "table": one["name"], "select": [{"column": "*"}]}
        tables.append(
            require_plan(parse_plan({"dataset_id": dataset.id, **probe}), dataset).defined[-1].table
        )
    return dataset.model_copy(update={"tables": (*dataset.tables, *tables)})


@st.composite
def causes(draw: st.DrawFn, visible: Visible) -> Json:
    """Why a measure changed; some parts of it only."""
    numbers = visible.of(*NUMBERS)
    measures: list[Json] = [
        {"agg": "count"},
        *({"metric": m} for m in visible.metrics if m != "shipping_cost"),
    ]
    measures += [{"agg": agg, "column": draw(st.sampled_from(numbers))} for agg in ("sum", "avg") if numbers]
    names = draw(st.lists(st.sampled_from(visible.of()), min_size=1, max_size=3))
    why = {"of": draw(st.sampled_from(measures)), "by": names}
    plan: Json = {"why": why | {"before": draw(windows(visible)), "after": draw(windows(visible))}}
    if draw(st.booleans()):
        name = draw(st.sampled_from(visible.of()))
        plan["filters"] = [draw(leaf(name, visible.columns[name].type))]
    elif visible.related:
        plan["filters"] = [draw(lookups(visible, 1))]
    if draw(st.booleans()):
        plan["having"] = [
            {"column": "contribution", "op": ">", "than": {"agg": "avg", "column": "contribution"}}
        ]
    return plan


@st.composite
def bodies(draw: st.DrawFn, dataset: Dataset, define: list[Json]) -> Json:
    """A plan without `dataset_id`; it likes to read what was defined last."""
    last = draw(st.booleans()) if define else False
    table = dataset.tables[-1] if last else draw(st.sampled_from(dataset.tables))
    visible = Visible(dataset, table)
    if visible.of(*MOMENTS) and draw(st.integers(0, 9)) == 0:
        return {"table": table.name, **draw(causes(visible))}
    grouped = draw(st.booleans())
    keys = draw(st.lists(dimensions(visible), min_size=0 if grouped else 1, max_size=3))
    computed = draw(st.lists(measures(visible), min_size=1, max_size=3)) if grouped else []
    names = _named(draw, keys + computed)
    key_names, value_names = names[: len(keys)], names[len(keys) :]
    plan: Json = {"table": table.name, "select": keys + computed}
    if grouped and keys and draw(st.booleans()):
        plan["group_by"] = key_names
    if draw(st.booleans()):
        plan["filters"] = draw(st.lists(filters(visible), min_size=1, max_size=3))
    if visible.of(*MOMENTS) and draw(st.booleans()):
        plan["time"] = draw(windows(visible))
    counted = [n for n, item in zip(value_names, computed, strict=True) if _is_number(item)]
    _finish(draw, plan, counted or _number_columns(visible, keys), key_names, names)
    if not grouped and draw(st.booleans()):
        plan["order_by"].insert(0, {"expr": draw(st.sampled_from(visible.of()))})
    return plan


def _is_number(item: Json) -> bool:
    return item.get("agg") not in ("min", "max")


def _number_columns(visible: Visible, keys: list[Json]) -> list[str]:
    plain = [
        k
        for k in keys
        if not {"bucket", "agg", "holds", "elapsed", "elements"} & k.keys()
        and visible.columns[k["column"]].type in NUMBERS
    ]
    return [k["as"] for k in plain]


def _finish(draw: st.DrawFn, plan: Json, numbers: list[str], keys: list[str], names: list[str]) -> None:
    if numbers and draw(st.booleans()):
        plan["derive"] = draw(st.lists(derivations(numbers, keys, names), min_size=1, max_size=3))
        for index, item in enumerate(plan["derive"]):
            item["as"] = f"d{index}"
        names = [*names, *(item["as"] for item in plan["derive"])]
        numbers = [*numbers, *(item["as"] for item in plan["derive"] if "holds" not in item)]
    if numbers and draw(st.booleans()):
        op = draw(st.sampled_from([">", "<=", "!="]))
        value = draw(st.integers(-5, 5))
        compared = st.sampled_from([{"value": value}, {"than": {"agg": "avg", "column": numbers[0]}}])
        plan["having"] = [{"column": draw(st.sampled_from(numbers)), "op": op, **draw(compared)}]
    if keys and draw(st.integers(0, 2)) == 0:
        by = draw(st.lists(st.sampled_from(keys), min_size=1, max_size=3))
        top = {"n": draw(st.integers(1, 3)), "by": by, "order_by": draw(st.sampled_from(names))}
        plan["top_per_group"] = {
            **top,
            "dir": draw(st.sampled_from(["asc", "desc"])),
            "ties": draw(st.booleans()),
        }
    orders = st.fixed_dictionaries(
        {"expr": st.sampled_from(names), "dir": st.sampled_from(["asc", "desc"])},
        optional={"nulls": st.sampled_from(["first", "last"])},
    )
    plan["order_by"] = draw(st.lists(orders, max_size=2))
    if draw(st.booleans()):
        plan["limit"] = draw(st.integers(1, 10_000))
        plan["ties"] = "top_per_group" not in plan and bool(plan["order_by"]) and draw(st.booleans())
