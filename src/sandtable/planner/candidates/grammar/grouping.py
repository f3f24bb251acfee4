"""The groups of an answer: `by region`, `per month`, `for each agent`, `Europe vs Asia Pacific`."""

from __future__ import annotations

import re

from sandtable.planner.candidates.grammar.draft import Draft, Rank, Spot
from sandtable.planner.candidates.grammar.timing import default_time
from sandtable.planner.language.reading import FREE
from sandtable.planner.language.vocabulary import GROUP_MARKERS, IMPLIED, ORDER_MARKERS
from sandtable.planner.schema.columns import (
    distinct_of,
    is_identifier,
    is_measure,
    is_unique,
    is_varied,
    is_year,
    key_of,
    label_of,
    speaking_of,
)
from sandtable.planner.schema.entries import ColumnEntry, TableEntry

_GROUP = re.compile("(?:" + "|".join(sorted(GROUP_MARKERS, key=len, reverse=True)) + r")(?= )")
_ORDER = re.compile("(?:" + "|".join(sorted(ORDER_MARKERS, key=len, reverse=True)) + r")(?= )")
_PASSED = frozenset(
    "number the a an whether it was were is are different its their each every type kind of or not if all".split()
)
_VERSUS = frozenset(
    "vs versus compare compared comparing comparison difference between more fewer less higher lower or than".split()
)
_MANY = 60
_EACH_YEAR = re.compile(r"(?:(?:in|for|of) )?(?:each|every|per|by) (?:calendar )?year(?= |$)")
_COMPARING = frozenset("compare comparing comparison".split())
_JOINTS = frozenset("the of all our between across among different".split())


def find_order_keys(draft: Draft) -> list[Spot]:
    """Spots after `sorted by`."""
    found: list[Spot] = []
    for start, end, _ in draft.reading.find(_ORDER):
        spot = draft.after(end, frozenset({"the", "total", "average", "number", "of", "their"}), 3)
        if spot is not None and spot.value is None:
            draft.reading.claim(start, end, "order")
            found.append(spot)
    return found


def find_groups(draft: Draft) -> list[Spot]:
    """Group keys into the draft; returns the spots that follow `by` but are numbers to sort by."""
    keys: list[Spot] = []
    for start, end, _ in draft.reading.find(_GROUP):
        if not draft.reading.free(start, end):
            continue
        spot = draft.after(end, _PASSED, 4)
        taken = False
        while spot is not None and spot.value is None and spot.role in {"", "measured"}:
            if not _add_group(draft, spot):
                if spot.open and draft.reading.lower(start) == "by":
                    keys.append(spot)
                    taken = True
                break
            taken = True
            spot = _next_in_list(draft, spot)
        if taken:
            draft.reading.claim(start, end, "group")
    _each_year(draft)
    _bucket(draft)
    _compared_values(draft)
    _compared_things(draft)
    return keys


def _each_year(draft: Draft) -> None:
    """`in each year after 2015`, where years are plain numbers under another name."""
    years = [c for c in draft.home.columns if is_year(c)]
    for start, end, _ in draft.reading.find(_EACH_YEAR):
        if len(years) == 1 and draft.reading.free(start, end - 1) and years[0] not in draft.groups:
            draft.reading.claim(start, end, "group")
            draft.groups.append(years[0])


def _compared_things(draft: Draft) -> None:
    """`compare the average humidity of the sites`: one row for each of what stands in the plural."""
    computed = bool(draft.measures) or any(s.metric is not None for s in draft.spots)
    if draft.reading.lower(0) not in _COMPARING or draft.groups or draft.comparing or not computed:
        return
    for spot in draft.spots:
        plural = draft.reading.lower(spot.end - 1).endswith("s")
        joined = draft.reading.lower(spot.start - 1) in _JOINTS
        if spot.open and spot.value is None and plural and joined and _add_group(draft, spot):
            return


def _next_in_list(draft: Draft, spot: Spot) -> Spot | None:
    at = spot.end
    if draft.reading.lower(at) not in {",", "and", "&", "then"}:
        return None
    following = draft.after(at + 1, _PASSED | {"and", "by", "per"}, 3)
    if following is None or following.metric is not None or not following.open:
        return None
    if (
        following.column is not None
        and is_measure(following.column)
        and (distinct_of(following.column) or 0) > _MANY
    ):
        return None
    return following


def _add_group(draft: Draft, spot: Spot) -> bool:
    if spot.role == "measured" or spot.metric is not None:
        return False
    if draft.rank is not None and spot.column is not None and is_measure(spot.column):
        return False
    column = entity_column(draft, spot.table) if spot.table is not None else _groupable(spot)
    if column is None:
        return False
    spot.role, spot.chosen = "group", column
    if column not in draft.groups:
        draft.groups.append(column)
    return True


def _groupable(spot: Spot) -> ColumnEntry | None:
    best = spot.columns[0].score if spot.columns else 0.0
    near = [m.target for m in spot.columns if m.score >= best - 0.15]
    for column in near:
        if isinstance(column, ColumnEntry) and (not column.numeric or not is_measure(column)):
            return column
    column = spot.column
    return None if column is None or (is_measure(column) and is_varied(column)) else column


def entity_column(draft: Draft, table: TableEntry) -> ColumnEntry | None:
    """`per product` where products are a table: its label, or the column that points to it."""
    if table.name not in draft.reach:
        return None
    label = label_of(table)
    if label is not None and not is_identifier(label):
        return label
    for relation in draft.index.dataset.relationships:
        if relation.many_table == draft.home.name and relation.one_table == table.name:
            return draft.home.column(relation.many_column)
    return label or key_of(table)


def _bucket(draft: Draft) -> None:
    if draft.bucket is not None or not draft.buckets:
        return
    chosen = next((b for b in draft.buckets if b.asked), None) or next(
        (b for b in draft.buckets if b.unit != "auto"), draft.buckets[0]
    )
    draft.bucket = chosen
    named = next((c for c in draft.groups if c.temporal), None)
    draft.bucket_column = named or _beside(draft) or _happened(draft) or default_time(draft)
    if named is not None:
        draft.groups.remove(named)


def _happened(draft: Draft) -> ColumnEntry | None:
    """`discharges each month`: what is counted has a day of its own."""
    counted = [m.column for m in draft.measures if m.item.get("agg") == "count"]
    return next((c for c in counted if c is not None and c.temporal), None)


def _beside(draft: Draft) -> ColumnEntry | None:
    """A date that was named and is not used otherwise: `hires per year by hire date`."""
    for spot in draft.spots:
        if spot.open and spot.column is not None and spot.column.temporal:
            spot.role = "time"
            return spot.column
    return None


def _compare_by_adjective(draft: Draft, column: ColumnEntry) -> bool:
    """`is Everest taller than K2`: both rows with what is compared."""
    if draft.measures or not is_unique(column, draft.home):
        return False
    for at, word in enumerate(draft.reading.words):
        found = speaking_of(IMPLIED[word.lower][0], draft.home) if word.lower in IMPLIED else None
        if found is not None and draft.reading.owner[at] in {FREE, "rank"}:
            draft.asked.extend(c for c in (column, found) if c not in draft.asked)
            draft.reading.claim(at, at + 1, "asked")
            asks = draft.reading.lower(0) in {"which", "who"}
            down = IMPLIED[word.lower][1]
            draft.rank = Rank(at, at + 1, down, 1, column=found, word=word.lower) if asks else None
            return True
    return False


def _compared_values(draft: Draft) -> None:
    """`Europe vs Asia Pacific`: the values are the groups."""
    words = set(draft.reading.line.split())
    asked_for_each = draft.reading.line.count("how many") > 1
    if not (words & _VERSUS or asked_for_each):
        return
    for condition in draft.conditions:
        if condition.column is None or condition.json.get("op") != "in":
            continue
        said = words & {"vs", "versus", "compare", "compared", "comparing", "comparison", "difference"}
        than = "than" in words or (
            "or" in words and words & {"more", "higher", "lower", "less", "fewer", "which"}
        )
        between = {draft.reading.lower(i) for i in range(condition.start, condition.end)}
        if asked_for_each or said or (than and between & {"than", "or"}):
            draft.comparing = True
            if _compare_by_adjective(draft, condition.column):
                continue
            if condition.column not in draft.groups:
                draft.groups.append(condition.column)
