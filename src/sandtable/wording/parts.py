"""A plan as parts in words, each with its place in the plan: "total revenue", "by country", "in May".

Invariant: total and deterministic. A plan that cannot be read or does not fit the dataset has no parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sandtable.catalog.model import Dataset
from sandtable.plan import items as i
from sandtable.plan.definitions import with_defined
from sandtable.plan.derivations import source_of
from sandtable.plan.filters import InWindow
from sandtable.plan.model import QueryPlan
from sandtable.plan.reading import read_plan
from sandtable.plan.resolve import resolve_plan
from sandtable.plan.resolved import ColumnRef, ResolvedPlan
from sandtable.plan.walking import matches
from sandtable.wording import conditions
from sandtable.wording.phrases import joined, words
from sandtable.wording.reading import PlanWords, ordered

PlanPartKind = Literal["measure", "by", "where", "when", "order", "limit"]
PlanPath = tuple[str | int, ...]
_ORDER: tuple[PlanPartKind, ...] = ("measure", "by", "where", "when", "order", "limit")
_LONGEST = 300


@dataclass(frozen=True, slots=True)
class PlanPart:
    kind: PlanPartKind
    path: PlanPath
    """The fields and places that lead to it in the plan, such as `("filters", 0)`."""
    text: str


def parts_of(plan: Mapping[str, Any], dataset: Dataset) -> tuple[PlanPart, ...]:
    """The parts in the order of an English sentence; none for a plan that does not fit the dataset."""
    fitting = _fitting(plan, dataset)
    if fitting is None:
        return ()
    parsed, resolved = fitting
    known = with_defined(resolved, dataset)
    found = list(_parts(PlanWords(parsed, known, resolved)))
    inner = {item.table.name: item.plan for item in resolved.defined}
    for at, definition in enumerate(parsed.define):
        if definition.name in inner:
            said = PlanWords(definition.plan, known, inner[definition.name]).all()
            found.append(PlanPart("where", ("define", at), f'"{words(definition.name)}" means: {said}'))
    found.sort(key=lambda part: _ORDER.index(part.kind))
    return tuple(PlanPart(part.kind, part.path, _shortened(part.text)) for part in found)


def text_at(plan: Mapping[str, Any], dataset: Dataset, path: PlanPath) -> str | None:
    """The words of the part at this place, empty where there is none; None for a plan that does not fit the dataset."""
    fitting = _fitting(plan, dataset)
    if fitting is None:
        return None
    parsed, resolved = fitting
    parts = _parts_in(PlanWords(parsed, with_defined(resolved, dataset), resolved), path[0])
    return next((_shortened(part.text) for part in parts if part.path == path), "")


def _fitting(plan: Mapping[str, Any], dataset: Dataset) -> tuple[QueryPlan, ResolvedPlan] | None:
    parsed = read_plan(dict(plan))
    resolved = resolve_plan(parsed, dataset) if isinstance(parsed, QueryPlan) else None
    return (
        (parsed, resolved) if isinstance(parsed, QueryPlan) and isinstance(resolved, ResolvedPlan) else None
    )


def joins_of(plan: Mapping[str, Any], dataset: Dataset) -> tuple[str, ...]:
    """The columns by which the plan joins tables: `orders.customer_id = customers.customer_id`."""
    fitting = _fitting(plan, dataset)
    return tuple(dict.fromkeys(_joins(fitting[1]))) if fitting is not None else ()


def _joins(plan: ResolvedPlan) -> Iterator[str]:
    for defined in plan.defined:
        yield from _joins(defined.plan)
    for join in plan.joins:
        yield f"{join.to_table}.{join.to_column} = {join.table}.{join.column}"
    for match in matches(plan.where, plan.having, plan.outputs, plan.derived):
        key = match.rows.outputs[0].expr
        if isinstance(key, ColumnRef):
            yield f"{match.near.table}.{match.near.column} = {key.table}.{key.column}"
        yield from _joins(match.rows)


def _parts(said: PlanWords) -> Iterator[PlanPart]:
    for field in ("select", "filters", "time", "having", "order_by", "top_per_group", "limit"):
        yield from _parts_in(said, field)


def _parts_in(said: PlanWords, field: str | int) -> Iterator[PlanPart]:
    """The parts in one field of the plan. Those of `select`, `group_by`, `derive` and `why` depend on one another."""
    match field:
        case "select" | "group_by" | "derive" | "why":
            yield from _why(said) if said.plan.why is not None else _selected(said)
        case "filters" | "having" | "order_by":
            yield from _listed_in(said, field)
        case "time" if time := said.time():
            yield PlanPart("when", ("time",), time)
        case "top_per_group" if top := said.top():
            yield PlanPart("limit", ("top_per_group",), top)
        case "limit" if limit := said.limit():
            yield PlanPart("limit", ("limit",), limit)
        case _:
            return


def _listed_in(said: PlanWords, field: Literal["filters", "having", "order_by"]) -> Iterator[PlanPart]:
    match field:
        case "filters":
            for at, item in enumerate(said.plan.filters):
                text = conditions.restriction([item], said.items.terms).removeprefix("where ")
                yield PlanPart("when" if isinstance(item, InWindow) else "where", (field, at), text)
        case "having":
            for at, item in enumerate(said.plan.having):
                text = conditions.all_of([item], said.over_outputs.terms)
                yield PlanPart("where", (field, at), f"only where {text}")
        case "order_by":
            for at, term in enumerate(said.plan.order_by):
                yield PlanPart("order", (field, at), ordered(term, said.lookup(term.expr)))


def _why(said: PlanWords) -> Iterator[PlanPart]:
    why = said.plan.why
    assert why is not None
    yield PlanPart("measure", ("why", "of"), f"why {said.items.item(why.of).text} changed")
    for at, name in enumerate(why.by):
        yield PlanPart("by", ("why", "by", at), said.naming.column(name).text)
    yield PlanPart("when", ("why", "before"), f"from {said.items.window(why.before).removeprefix('in ')}")
    yield PlanPart("when", ("why", "after"), f"to {said.items.window(why.after).removeprefix('in ')}")


def _selected(said: PlanWords) -> Iterator[PlanPart]:
    plan = said.plan
    if not said.plan.grouped:
        shown = [said.items.item(item).text for item in plan.select]
        yield PlanPart("measure", ("select",), f"{joined(shown)} of {said.naming.rows}")
    else:
        yield from _grouped(said)
    for at, item in enumerate(plan.derive):
        text = said.over_outputs.full_derivation(item, said.lookup(source_of(item)), said.outputs)
        yield PlanPart("measure", ("derive", at), text)


def _grouped(said: PlanWords) -> Iterator[PlanPart]:
    keys: set[str] = set()
    computed = bool(said.measures()) or bool(said.plan.derive)
    if not computed:
        yield PlanPart("measure", ("select",), f"the different values of {joined(said.keys())}")
    for at, item in enumerate(said.plan.select):
        text = said.items.item(item).text
        if i.has_aggregate(item):
            yield PlanPart("measure", ("select", at), text)
        elif computed and text not in keys:
            keys.add(text)
            yield PlanPart("by", ("select", at), text)
    for at, key in enumerate(said.plan.group_by):
        text = said.lookup(key).text if isinstance(key, str) else said.items.bucket(key).text
        if computed and text not in keys:
            keys.add(text)
            yield PlanPart("by", ("group_by", at), text)


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1].rstrip() + "…"
