"""Time: new members in a period, two periods of each group side by side, weekends."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from sandtable.planner.candidates.constructions.construction import (
    Construction,
    Doubt,
    count_of,
    home_of,
    measure_in,
    said_otherwise,
    with_filter,
)
from sandtable.planner.language.reading import Reading
from sandtable.planner.language.times import TimePhrase
from sandtable.planner.language.words import stem
from sandtable.planner.mentions.finding import look
from sandtable.planner.schema.columns import is_unique
from sandtable.planner.schema.entries import Json, TableEntry
from sandtable.planner.schema.index import SchemaIndex

_NEW = re.compile(
    r"(?P<many>how many )?new (?P<who>\w+)(?P<did> (?:did|do|does|have) we (?:get|have|gain|win|had|got))?"
)
_VERSUS = re.compile(r"(?:compared (?:to|with)|versus|vs|against|and|to|with)")
_COMPARE = re.compile(r"^(?:please )?(?:compare|comparing|a comparison of) (?:the )?")
_WEEKEND = re.compile(
    r"(?:placed |made |sent |opened |created )?(?:on|at|during|over) (?:the )?(?P<days>weekends?|weekdays)(?= |$)"
)
_KINDS_OF_DAY = frozenset({stem("weekend"), stem("weekday")})
_DAYS = {"weekend": [6, 7], "weekends": [6, 7], "weekdays": [1, 2, 3, 4, 5]}


def newcomers(reading: Reading, index: SchemaIndex) -> Iterator[Construction | Doubt]:
    """`new customers each month`: those whose first row is in that month."""
    for start, end, match in reading.find(_NEW):
        for text in (f"{match['many'] or ''}{match['who']}{match['did'] or ''}", f"number of {match['who']}"):
            yield Construction(
                (said_otherwise(reading, start, end, text),),
                lambda plans, who=match["who"]: _first_seen(plans[0], index, who),
            )


def _first_seen(plan: Json, index: SchemaIndex, who: str) -> Json | None:
    home, counted = home_of(plan, index), count_of(plan)
    bucket = next((item for item in plan["select"] if "bucket" in item), None)
    if home is None or counted is None or (bucket is None and "time" not in plan):
        return None
    if counted["agg"] == "count" and "column" not in counted:
        return plan
    owner = home.column(str(counted.get("column", "")))
    time = _time_of(home, bucket.get("column") if bucket else plan["time"].get("column"))
    if owner is None or time is None:
        return None
    if is_unique(owner, home):
        return plan
    first = {"agg": "min", "column": time, "within": [owner.name]}
    if bucket is None:
        # Whose first row is in the window: that row is the one that counts them.
        return with_filter(plan, {"column": time, "op": "=", "than": first})
    unit = {"bucket": bucket["bucket"], "column": time}
    begun = {"of": unit, "op": "=", "than": {"bucket": bucket["bucket"], "of": first}}
    new = {**counted, "where": [begun], "as": f"new_{who}"}
    select = [new if item is counted else item for item in plan["select"]]
    order = [{"expr": bucket.get("as", bucket["bucket"])}]
    return {**plan, "select": select, "order_by": order}


def _time_of(home: TableEntry, named: object = None) -> str | None:
    """The column of the row's own time."""
    if isinstance(named, str):
        return named
    moments = [c.name for c in home.columns if c.temporal]
    return home.time_column or (moments[0] if len(moments) == 1 else None)


def periods_by_group(reading: Reading, index: SchemaIndex) -> Iterator[Construction | Doubt]:
    """`2024 against 2025 by category`: a row for each group, the periods side by side, and the change."""
    phrases = [s for s in look(reading.text, index).phrases if s.period is not None and s.bound == "in"]
    if len(phrases) != 2:
        return
    one, other = phrases
    between = (
        reading.line[reading.offsets[one.end] : reading.offsets[other.start]] if one.end < other.start else ""
    )
    linked = between.strip().removesuffix(" in").removesuffix(" of").strip(" ,")
    compared = _COMPARE.match(reading.line) is not None
    if not _VERSUS.fullmatch(linked) or (linked in {"and", "to", "with"} and not compared):
        return
    start = (
        one.start - 1 if reading.lower(one.start - 1) in {"in", "of", "for", "from", "between"} else one.start
    )
    text = re.sub(
        r"(?i)^(?:please )?(?:compare|comparing) (?:the )?", "", said_otherwise(reading, start, other.end)
    )

    def build(plans: Sequence[Json]) -> Json | None:
        return _side_by_side(plans[0], one, other, reading)

    for said in (text, f"show {text}"):
        yield Construction((said,), build)


def _side_by_side(plan: Json, one: TimePhrase, other: TimePhrase, reading: Reading) -> Json | None:
    item = measure_in(plan)
    keys = [k for k in plan["select"] if k is not item]
    if item is None or not keys or any("bucket" in k for k in keys) or "op" in item:
        return None
    if any(key in plan for key in ("time", "derive", "having", "top_per_group", "limit")):
        return None
    earlier, later = sorted((one, other), key=lambda s: str(s.window))
    measures: list[Json] = []
    for phrase in (earlier, later):
        window: dict[str, Any] = dict(phrase.window)
        said = re.sub(r"\W+", "_", reading.written(phrase.start, phrase.end).lower()).strip("_")
        said = re.sub(r"^(?:in|of|during|for)_", "", said)
        where = [*item.get("where", ()), {"time": window}]
        measures.append({**item, "where": where, "as": f"{item['as']}_{said}"[:100]})
    before, after = (str(m["as"]) for m in measures)
    changed = {**plan, "select": [*keys, *measures]}
    changed["derive"] = [{"change": after, "from": before, "kind": "percent", "as": "change"}]
    changed["order_by"] = [{"expr": after, "dir": "desc"}]
    return changed


def on_weekends(reading: Reading, index: SchemaIndex) -> Iterator[Construction | Doubt]:
    """`on weekends`: Saturdays and Sundays of the row's own time."""
    if len({word.stem for word in reading.words} & _KINDS_OF_DAY) > 1:
        return
    for start, end, match in reading.find(_WEEKEND):

        def build(plans: Sequence[Json], days: str = match["days"]) -> Json | None:
            home = home_of(plans[0], index)
            time = _time_of(home) if home else None
            if time is None:
                return None
            return with_filter(
                plans[0], {"of": {"bucket": "day_of_week", "column": time}, "op": "in", "value": _DAYS[days]}
            )

        yield Construction((said_otherwise(reading, start, end),), build)
        before = start - 1 if reading.lower(start - 1) in {"was", "were", "are", "is"} else start
        yield Construction((said_otherwise(reading, before, end, "are there"),), build)
