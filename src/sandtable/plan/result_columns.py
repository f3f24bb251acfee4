"""What each column of a plan's result is: the one description that charts, sentences and tables read.

Invariant: pure. `describe` has exactly the columns of the compiled query, in their order, for every valid plan.
`describe_by_plan` says what the plan says without its dataset, so that a unit corrected in the registry, or a missing
dataset version, does not change it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from sandtable.catalog.model import ColumnType, Dataset
from sandtable.catalog.units import canonical
from sandtable.plan import derivations as d
from sandtable.plan import items as i
from sandtable.plan.definitions import with_defined
from sandtable.plan.model import PlanBody, QueryPlan
from sandtable.plan.reading import read_plan
from sandtable.plan.resolve import resolve_plan
from sandtable.plan.resolved import Bucket, ColumnRef, Derived, Output, ResolvedPlan
from sandtable.plan.units import FRACTION, units_of
from sandtable.plan.validate import require_plan

DerivedRole = Literal[
    "share_of_total", "rank", "position", "change", "running_total", "zscore", "previous", "next", "run", "holds",
    "expression",
]  # fmt: skip
WhyRole = Literal["dimension", "member", "before", "after", "contribution", "effect", "share_of_change"]
Role = Literal["unknown", "key", "bucket", "column", "measure"] | DerivedRole | WhyRole
"""`unknown` is a column of SQL. A `key` is what rows are grouped by, a `bucket` a period of time that they are grouped
by or that each of them has, a `column` a value of each row as the data have it, a `measure` a computed value. Derived
columns and those of `why` have the roles that the plan language names."""

_WHY_ROLES: dict[str, WhyRole] = {
    "dimension": "dimension",
    "member": "member",
    "before": "before",
    "after": "after",
    "contribution": "contribution",
    "rate_effect": "effect",
    "mix_effect": "effect",
    "share_of_change": "share_of_change",
}


@dataclass(frozen=True, slots=True)
class ColumnMeaning:
    name: str
    role: Role = "unknown"
    item: i.AnyItem | d.Derivation | None = None
    """The select item, group key or derivation that makes it; none for a column of `*` and of `why`."""
    column: str = ""
    """The column of the data that is shown or aggregated, without its table; empty for what is computed of several,
    or is converted."""
    aggregate: i.AggName | None = None
    grain: i.BucketUnit | None = None
    """The period of a time bucket."""
    unit: str = ""
    """`fraction` is shown as percent. Without the dataset, only the unit that the plan itself gives."""
    type: ColumnType | None = None
    """None without the dataset."""
    of: str = ""
    """The column of the result that a derived one is about."""
    earlier: str = ""
    """The column of the result that a change is measured from."""
    derived: bool = False
    """Computed over the rows of the result."""

    @property
    def named(self) -> bool:
        """Whether the plan's author chose its name."""
        return getattr(self.item, "as_", None) is not None

    @property
    def is_fraction(self) -> bool:
        """Whether 0.25 stands for 25 %."""
        return self.unit == FRACTION


def describe(plan: QueryPlan, dataset: Dataset) -> tuple[ColumnMeaning, ...]:
    """InvalidInput with every problem when the plan does not fit the dataset."""
    resolved = require_plan(plan, dataset)
    return describe_resolved(plan, resolved, with_defined(resolved, dataset))


def describe_result(
    plan: dict[str, Any] | None, names: Sequence[str], dataset: Dataset | None = None
) -> tuple[ColumnMeaning, ...]:
    """A result with columns of these names, as a table shows it: one description for each column.

    By the plan and the dataset where the result is what the plan gives over that dataset, by the plan alone otherwise.
    Every column of SQL and of Python, which have no plan, is `unknown`.
    """
    read = read_plan(plan) if plan is not None else None
    described = _of_plan(read, names, dataset) if isinstance(read, QueryPlan) else None
    return described or tuple(map(ColumnMeaning, names))


def _of_plan(
    plan: QueryPlan, names: Sequence[str], dataset: Dataset | None
) -> tuple[ColumnMeaning, ...] | None:
    resolved = resolve_plan(plan, dataset) if dataset is not None else None
    if dataset is not None and isinstance(resolved, ResolvedPlan):
        described = describe_resolved(plan, resolved, with_defined(resolved, dataset))
        if [column.name.lower() for column in described] == [name.lower() for name in names]:
            return described
    return describe_by_plan(plan, names)


def describe_resolved(plan: PlanBody, resolved: ResolvedPlan, dataset: Dataset) -> tuple[ColumnMeaning, ...]:
    """The columns of a plan, or of a table that a plan defines. `dataset` has the tables that are defined, too."""
    units = units_of(resolved, dataset)
    if plan.why is not None:
        return tuple(
            replace(_of_why(output.name), unit=units[output.name], type=output.expr.type)
            for output in resolved.outputs
        )
    items = list(_selected(plan, dataset))
    front: list[i.AnyItem | None] = [None] * (len(resolved.outputs) - len(items))
    outputs = zip(resolved.outputs, [*front, *items], strict=True)
    derived = zip(resolved.shown, plan.derive, strict=True)
    return (
        *(_of_output(output, item, resolved.grouped, units[output.name]) for output, item in outputs),
        *(_of_derived(column, item, units[column.name]) for column, item in derived),
    )


def describe_by_plan(plan: PlanBody, names: Sequence[str]) -> tuple[ColumnMeaning, ...] | None:
    """What the plan alone says about a result with columns of these names.

    None where it cannot say that: for `*`, and for a result that is not the plan's.
    """
    if plan.why is not None:
        return tuple(map(_of_why, names)) if set(names) <= set(_WHY_ROLES) else None
    front = len(names) - len(plan.select) - len(plan.derive)
    if front < 0 or any(_is_every_column(item) for item in plan.select):
        return None
    computed = names[front + len(plan.select) :]
    return (
        *(_front_key(plan, name, alone=front == 1) for name in names[:front]),
        *(_of_item(name, item, plan.grouped) for name, item in zip(names[front:], plan.select, strict=False)),
        *(_of_derivation(name, item) for name, item in zip(computed, plan.derive, strict=True)),
    )


def _is_every_column(item: i.AnyItem) -> bool:
    return isinstance(item, i.ColumnItem) and item.column == "*"


def _selected(plan: PlanBody, dataset: Dataset) -> Iterator[i.AnyItem | None]:
    """For each output that `select` makes its item; none for a column of `*`."""
    table = dataset.table(plan.table)
    for item in plan.select:
        if _is_every_column(item) and table is not None:
            yield from (None for _ in table.columns)
        else:
            yield item


def _of_why(name: str) -> ColumnMeaning:
    role = _WHY_ROLES[name]
    return ColumnMeaning(name, role, unit=FRACTION if role == "share_of_change" else "")


def _front_key(plan: PlanBody, name: str, *, alone: bool) -> ColumnMeaning:
    """A key that is not selected: such keys come first. Without the dataset, one of several is only known as a key."""
    buckets = [key for key in plan.group_by if isinstance(key, i.BucketItem)]
    return (
        _of_item(name, buckets[0], grouped=True)
        if alone and len(buckets) == 1
        else ColumnMeaning(name, "key")
    )


def _of_item(name: str, item: i.AnyItem, grouped: bool) -> ColumnMeaning:
    unit = _given_unit(item)
    match item:
        case i.BucketItem(bucket=grain):
            role = "measure" if i.has_aggregate(item) else "bucket"
            return ColumnMeaning(name, role, item, grain=grain)
        case i.AggItem(agg=aggregate, column=column) if item.within is None:
            source = (column or "").rpartition(".")[2]
            return ColumnMeaning(name, "measure", item, source, aggregate, unit=unit)
        case i.ColumnItem(column=column, unit=None):
            return ColumnMeaning(name, "key" if grouped else "column", item, column.rpartition(".")[2])
        case i.ArithmeticItem() | i.ElapsedItem() | i.ElementsItem(take="count"):
            computed = i.has_aggregate(item) or not grouped
        case _:
            computed = i.has_aggregate(item)
    role = "measure" if computed else "key" if grouped else "column"
    return ColumnMeaning(name, role, item, unit=unit)


def _given_unit(item: i.AnyItem) -> str:
    """The unit that the item itself names, or that elapsed time has."""
    match item:
        case i.ElapsedItem(elapsed=unit):
            return f"{unit}s"
        case i.AggItem(unit=None, agg=aggregate, of=i.ElapsedItem(elapsed=unit)):
            return f"{unit}s" if aggregate not in ("count", "count_distinct") else ""
        case i.ColumnItem(unit=str(unit)) | i.AggItem(unit=str(unit)) | i.MetricItem(unit=str(unit)):
            return canonical(unit)
        case i.ArithmeticItem(unit=str(unit)):
            return canonical(unit)
        case _:
            return ""


def _of_derivation(name: str, item: d.Derivation) -> ColumnMeaning:
    made = ColumnMeaning(name, _derived_role(item), item, of=d.source_of(item), derived=True)
    match item:
        case d.ShareOfTotal():
            return replace(made, unit=FRACTION)
        case d.Change(kind=kind, from_=earlier):
            return replace(made, unit=FRACTION if kind == "percent" else "", earlier=earlier or "")
        case d.Run(step=step):
            return replace(made, unit=f"{step}s" if step else "")
        case i.AggItem() | i.ElapsedItem() | i.HoldsItem() | i.ArithmeticItem():
            return replace(made, unit=_given_unit(item))
        case _:
            return made


def _derived_role(item: d.Derivation) -> DerivedRole:
    match item:
        case i.HoldsItem():
            return "holds"
        case i.AggItem() | i.ElapsedItem() | i.ArithmeticItem():
            return "expression"
        case _:
            return cast("DerivedRole", item.shape.strip("<>"))


def _of_output(output: Output, item: i.AnyItem | None, grouped: bool, unit: str) -> ColumnMeaning:
    said = _of_item(output.name, item, grouped) if item is not None else ColumnMeaning(output.name, "column")
    grain = output.expr.unit if isinstance(output.expr, Bucket) else None
    role: Role = said.role
    if grouped:
        role = "measure" if not output.key else "bucket" if grain else "key"
    shown = output.expr.column if isinstance(output.expr, ColumnRef) else ""
    source = said.column if said.aggregate else shown
    return replace(said, role=role, column=source, grain=grain, unit=unit, type=output.expr.type)


def _of_derived(derived: Derived, item: d.Derivation, unit: str) -> ColumnMeaning:
    # The source of a run is a hidden column.
    of = derived.source if isinstance(item, d.Windowed) else ""
    said = _of_derivation(derived.name, item)
    return replace(said, unit=unit, type=derived.type, of=of, earlier=derived.earlier or "")
