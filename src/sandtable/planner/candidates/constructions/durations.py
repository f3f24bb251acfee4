"""Elapsed time and units: `took more than a day to resolve`, `average delivery time`, `in hours`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sandtable.catalog.units import canonical, conversion, units_like
from sandtable.planner.candidates.constructions.construction import (
    Construction,
    Doubt,
    count_of,
    home_of,
    said_otherwise,
    with_filter,
    with_measure,
)
from sandtable.planner.language.reading import Reading
from sandtable.planner.language.words import parse_number
from sandtable.planner.schema.durations import elapsed_until, minutes_of, period_named, unit_in
from sandtable.planner.schema.entries import ColumnEntry, Json, TableEntry
from sandtable.planner.schema.index import SchemaIndex

_MORE = "more than|longer than|over|at least|less than|shorter than|under|at most|up to|within|no more than"
_OPS = {
    "more than": ">", "longer than": ">", "over": ">", "at least": ">=", "less than": "<", "shorter than": "<",
    "under": "<", "at most": "<=", "up to": "<=", "within": "<=", "no more than": "<=",
}  # fmt: skip
_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "ten": 10}
_TOOK = re.compile(
    rf"(?:(?:that|which|who) )?(?:(?:was|were|is|are|has been|have been) )?(?P<verb>took|take|takes|taken|needed|needs|"
    rf"need|lasted|\w+ed) (?P<op>{_MORE}) (?P<n>a|an|\d[\d.,]*|{'|'.join(w for w in _NUMBERS if len(w) > 2)}) "
    r"(?P<unit>seconds?|minutes?|mins?|hours?|hrs?|days?|weeks?)"
    r"(?: (?:(?:to|for|until) (?:be |get )?|of |in )(?P<what>\w+))?(?= |$)"
)
_CARRIERS = frozenset("took take takes taken needed needs need lasted".split())
_AVERAGES = {
    "average": "avg", "avg": "avg", "mean": "avg", "median": "median", "typical": "median", "longest": "max",
    "maximum": "max", "shortest": "min", "minimum": "min",
}  # fmt: skip
_TIME_OF = re.compile(rf"(?:the )?(?P<agg>{'|'.join(_AVERAGES)}) (?P<what>\w+) (?:times?|durations?)(?= |$)")
_HOW_LONG = (
    re.compile(
        r"how long (?:does|do|did) (?:a |an |the )?(?P<what>\w+) take(?P<avg> on average| typically| usually)?(?= |$)"
    ),
    re.compile(
        r"how long (?:does|do|did) it take (?P<avg>on average )?to (?:get )?(?P<what>\w+)(?: (?:a|an|the) \w+)?(?= |$)"
    ),
)
_IN_UNIT = re.compile(r"(?:, )?(?:measured |expressed |given )?(?:in|as) (?P<unit>[a-z°€$£]{2,})(?= |$)")
_AGGREGATED = frozenset({"sum", "avg", "min", "max", "median", "quantile", "stddev"})


def took_longer(reading: Reading, index: SchemaIndex) -> Iterator[Construction | Doubt]:
    """`took more than a day to resolve`: a condition on the minutes, or on the time between two moments."""
    for start, end, match in reading.find(_TOOK):
        what = match["what"] or (match["verb"] if match["verb"] not in _CARRIERS else "")
        number = _NUMBERS.get(match["n"]) or parse_number(match["n"])
        if not what or number is None:
            continue
        known = {
            t.name: f for t in index.tables if (f := _lasting(t, what, match["op"], number, match["unit"]))
        }

        def build(plans: Sequence[Json], known: dict[str, Json] = known) -> Json | None:
            condition = known.get(str(plans[0]["table"]))
            return with_filter(plans[0], condition) if condition else None

        for text in ("", "are there") if known else ():
            yield Construction((said_otherwise(reading, start, end, text),), build)


def _lasting(table: TableEntry, what: str, said: str, number: float, unit: str) -> Json | None:
    op = _OPS[said]
    column = minutes_of(what, table)
    if column is not None:
        found = conversion(unit, unit_in(column))
        value = float(found.factor) * number if found else None
        if value is None:
            return None
        return {"column": column.name, "op": op, "value": int(value) if value.is_integer() else value}
    elapsed, period = elapsed_until(what, table), period_named(unit)
    if elapsed is None or period is None:
        return None
    exact = int(number) if float(number).is_integer() else number
    return {"of": {**elapsed, "elapsed": period}, "op": op, "value": exact}


def time_between(reading: Reading, index: SchemaIndex) -> Iterator[Construction | Doubt]:
    """`average delivery time`: of the time between two moments, where no column holds it."""
    for start, end, match in reading.find(_TIME_OF):
        for table in index.tables:
            elapsed = elapsed_until(match["what"], table)
            if elapsed is None or minutes_of(match["what"], table) is not None:
                continue
            item = {
                "agg": _AVERAGES[match["agg"]],
                "of": elapsed,
                "as": f"{match['agg']}_{match['what']}_{elapsed['elapsed']}s",
            }

            def build(plans: Sequence[Json], table: TableEntry = table, item: Json = item) -> Json | None:
                counted = count_of(plans[0])
                if counted is None or home_of(plans[0], index) is not table or "column" in counted:
                    return None
                return with_measure(plans[0], counted, item)

            rows = " ".join(table.words)
            yield Construction((said_otherwise(reading, start, end, f"number of {rows}"),), build)


def how_long(reading: Reading, index: SchemaIndex) -> Iterator[Construction | Doubt]:
    """`how long does delivery take`: the average time of it."""
    for pattern in _HOW_LONG:
        for start, end, match in reading.find(pattern):
            text = said_otherwise(reading, start, end, f"average {match['what']} time")
            yield Construction((re.sub(r"\bon average\b", "", text),), lambda plans: plans[0])


def in_units(reading: Reading, index: SchemaIndex) -> Iterator[Construction | Doubt]:
    """`in hours`: the number that is computed, in another unit."""
    for start, end, match in reading.find(_IN_UNIT):
        wanted = match["unit"]
        if not units_like(wanted) or canonical(wanted) in {"months", "quarters", "years"}:
            continue

        def build(plans: Sequence[Json], wanted: str = wanted) -> Json | None:
            plan, changed = plans[0], False
            if "having" in plan:
                return None
            for item in list(plan["select"]):
                new = _converted(item, plan, index, wanted)
                if new is not None:
                    plan, changed = with_measure(plan, item, new), True
            return plan if changed else None

        yield Construction((said_otherwise(reading, start, end),), build)


def _converted(item: Json, plan: Json, index: SchemaIndex, wanted: str) -> Json | None:
    unit = canonical(wanted)
    elapsed, period = item.get("of"), period_named(wanted)
    if isinstance(elapsed, dict) and "elapsed" in elapsed and period:
        name = str(item["as"]).replace(f"_{elapsed['elapsed']}s", f"_{period}s")
        return {**item, "of": {**elapsed, "elapsed": period}, "as": name}
    column = _column_of(item, plan, index)
    own = unit_in(column) if column is not None else ""
    if not own or conversion(own, wanted) is None or ("agg" in item and item["agg"] not in _AGGREGATED):
        return None
    return {**item, "unit": unit, "as": _name_in(str(item.get("as") or item.get("metric")), own, unit)}


def _column_of(item: Json, plan: Json, index: SchemaIndex) -> ColumnEntry | None:
    name = item.get("column")
    if "metric" in item:
        metric = next((m.metric for m in index.metrics if m.metric.name == item["metric"]), None)
        if metric is None or metric.denominator is not None or metric.numerator.get("agg") not in _AGGREGATED:
            return None
        return index.column(metric.table, str(metric.numerator.get("column")))
    if not isinstance(name, str) or "agg" not in item:
        return None
    table, dot, column = name.rpartition(".")
    return index.column(table if dot else str(plan["table"]), column)


def _name_in(name: str, own: str, unit: str) -> str:
    """`average_resolution_minutes` in hours is `average_resolution_hours`."""
    spoken = {"°C": "celsius", "°F": "fahrenheit", "%": "percent"}.get(unit, unit.replace("/", "_per_"))
    ending = {"°C": "_c", "%": "_pct"}.get(own, f"_{own.lower()}")
    stemmed = name.removesuffix(ending)
    return f"{stemmed}_{spoken}"[:100]
