"""QueryPlan × Dataset → ResolvedPlan, or every problem found on the way.

Invariant: a ResolvedPlan compiles. All checks against the catalog happen here, once, so that what
`check_plan` accepts and what the compiler can translate are the same set.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sandtable.catalog.model import ColumnType, Dataset, Table
from sandtable.plan import derivations as d
from sandtable.plan.conditions import NUMBERS, Conditions, describe, every
from sandtable.plan.definitions import Definitions
from sandtable.plan.expressions import Expressions
from sandtable.plan.findings import Findings, TooManyProblems
from sandtable.plan.model import OrderBy, PlanBody, QueryPlan
from sandtable.plan.names import derived_name, settle
from sandtable.plan.outputs import OutputColumns, names_of
from sandtable.plan.problems import PlanProblem, did_you_mean, listed
from sandtable.plan.resolved import (
    ColumnRef,
    Condition,
    Derived,
    DerivedKind,
    OrderTerm,
    Output,
    OutputRef,
    ResolvedPlan,
    Top,
)
from sandtable.plan.scope import Scope, Unresolved
from sandtable.plan.timing import resolve_window
from sandtable.recent import Recent

_RESOLVED: Recent[tuple[int, int], tuple[QueryPlan, Dataset, ResolvedPlan]] = Recent(256)
"""By identity: both are frozen, and kept here as long as their numbers are."""


def resolve_plan(plan: QueryPlan, dataset: Dataset) -> ResolvedPlan | list[PlanProblem]:
    known = _RESOLVED.get((id(plan), id(dataset)))
    if known is not None:
        return known[2]
    found = Findings()
    try:
        resolved = _resolve(plan, dataset, found)
    except TooManyProblems:
        return found.problems
    if isinstance(resolved, ResolvedPlan):
        _RESOLVED.put((id(plan), id(dataset)), (plan, dataset, resolved))
    return resolved


def _resolve(plan: QueryPlan, dataset: Dataset, found: Findings) -> ResolvedPlan | list[PlanProblem]:
    if plan.dataset_id != dataset.id:
        message = f"the plan is about dataset `{plan.dataset_id}`, but this is `{dataset.id}`"
        found.add("dataset_id", message, f'Write "dataset_id": "{dataset.id}".')
    known = Definitions(dataset, found, resolve_body)
    for index, definition in enumerate(plan.define):
        known.add(definition, f"define[{index}]")
    body = known.resolve(plan, found)
    if body is None or found.problems:
        return found.problems
    read = known.read_by(body)
    warnings = [f"{item.table.name}: {text}" for item in read for text in item.plan.warnings]
    return replace(body, defined=read, warnings=(*warnings, *body.warnings))


def resolve_body(
    plan: PlanBody, dataset: Dataset, table: Table, defined: frozenset[str], found: Findings
) -> ResolvedPlan:
    """A plan over a table that was found. What it returns holds only when nothing was added to `found`."""
    scope = Scope(dataset, table, aggregating=False, defined=defined)
    columns = OutputColumns(plan, Expressions(scope, found), found)
    scope.aggregating = columns.grouped or bool(plan.derive) or plan.top_per_group is not None
    return _Resolution(plan, columns, found).resolve()


@dataclass(frozen=True, slots=True)
class _Resolution:
    plan: PlanBody
    columns: OutputColumns
    found: Findings

    def resolve(self) -> ResolvedPlan:
        plan, scope = self.plan, self.columns.expressions.scope
        outputs = self.columns.resolve()
        where = self._where()
        derived = self._derived(outputs)
        named = _Named(outputs, derived, self.columns.expressions, self.found)
        having = Conditions(named.lookup, self.found).all_of(plan.having, "having")
        top = self._top(named)
        order = self._order(named)
        for join in scope.joins.values():
            if join.fans_out:
                self.found.warn(
                    f"rows of {join.to_table} repeat, once for each matching row of {join.table}."
                )
        return ResolvedPlan(
            table=scope.table.name,
            joins=tuple(scope.joins.values()),
            where=where,
            grouped=self.columns.grouped,
            outputs=outputs,
            derived=derived,
            having=having,
            top=top,
            order=order,
            limit=plan.limit,
            warnings=tuple(self.found.warnings),
        )

    def _where(self) -> Condition | None:
        expressions = self.columns.expressions
        conditions = Conditions(lambda name, place: expressions.column(name, place), self.found)
        parts = [conditions.all_of(self.plan.filters, "filters")]
        if self.plan.time is not None:
            parts.append(resolve_window(self.plan.time, expressions, self.found))
        return every([part for part in parts if part is not None])

    def _derived(self, outputs: tuple[Output, ...]) -> tuple[Derived, ...]:
        taken = names_of(outputs, self.plan.derive)
        done: tuple[Derived, ...] = ()
        for index, item in enumerate(self.plan.derive):
            named = _Named(outputs, done, self.columns.expressions, self.found)
            one = _derive(item, f"derive[{index}]", named, taken)
            if one is not None:
                done = (*done, one)
        return done

    def _top(self, named: _Named) -> Top | None:
        top = self.plan.top_per_group
        if top is None:
            return None
        by = [named.lookup(name, f"top_per_group.by[{n}]") for n, name in enumerate(top.by)]
        first = named.lookup(top.order_by, "top_per_group.order_by")
        if first is None:
            return None
        return Top(top.n, _once(by), first.name, top.dir == "desc")

    def _order(self, named: _Named) -> tuple[OrderTerm, ...]:
        terms = [
            self._order_term(item, f"order_by[{n}].expr", named) for n, item in enumerate(self.plan.order_by)
        ]
        kept: list[OrderTerm] = []
        for term in terms:
            if term is not None and all(term.target != other.target for other in kept):
                kept.append(term)
        return tuple(kept)

    def _order_term(self, item: OrderBy, place: str, named: _Named) -> OrderTerm | None:
        target = named.find(item.expr)
        if target is None:
            target = None if self.columns.grouped else self.columns.expressions.scope.column(item.expr)
            if target is None or isinstance(target, Unresolved):
                named.report(item.expr, place)
                return None
        return OrderTerm(target, item.dir == "desc", item.nulls == "first")


@dataclass(frozen=True, slots=True)
class _Named:
    """Output and derived columns by name; a plain column also answers to its own name."""

    outputs: tuple[Output, ...]
    derived: tuple[Derived, ...]
    expressions: Expressions
    found: Findings

    def find(self, name: str) -> OutputRef | None:
        by_name = {o.name.lower(): OutputRef(o.name, o.expr.type) for o in self.outputs}
        by_name |= {x.name.lower(): OutputRef(x.name, x.type) for x in self.derived}
        ref = by_name.get(name.lower())
        if ref is not None:
            return ref
        joins = dict(self.expressions.scope.joins)
        column = self.expressions.scope.column(name)
        same = [o for o in self.outputs if isinstance(column, ColumnRef) and o.expr == column]
        if not same:
            self.expressions.scope.joins = joins
        return OutputRef(same[0].name, same[0].expr.type) if same else None

    def lookup(self, name: str, place: str) -> OutputRef | None:
        ref = self.find(name)
        if ref is None:
            self.report(name, place)
        return ref

    def report(self, name: str, place: str) -> None:
        if name.lower() in self.found.lost:
            return
        names = [o.name for o in self.outputs] + [x.name for x in self.derived]
        message = f"no output column `{name}`{did_you_mean(name, names)}"
        self.found.add(place, message, f"Output columns: {listed(names)}.")

    def layer(self, names: tuple[str, ...]) -> int:
        layers = {x.name: x.layer for x in self.derived}
        return 1 + max((layers.get(name, 0) for name in names), default=0)

    def series(self, along: str) -> tuple[str, ...]:
        return tuple(o.name for o in self.outputs if o.key and o.name != along)


def _derive(item: d.Derivation, place: str, named: _Named, taken: set[str]) -> Derived | None:
    kind, source_name = _source(item)
    source = named.lookup(source_name, f"{place}.{kind}")
    along = (
        named.lookup(item.along, f"{place}.along") if isinstance(item, d.Change | d.RunningTotal) else None
    )
    within = [named.lookup(name, f"{place}.within[{n}]") for n, name in enumerate(item.within or ())]
    if source is None or any(ref is None for ref in within):
        return None
    if isinstance(item, d.Change | d.RunningTotal) and along is None:
        return None
    if not isinstance(item, d.Rank) and source.type not in NUMBERS:
        message = f"{kind} needs a number, but `{source.name}` is {describe(source.type)}"
        named.found.add(f"{place}.{kind}", message)
        return None
    groups = _once(within)
    if item.within is None and along is not None:
        groups = named.series(along.name)
    read = (source.name, *groups, *((along.name,) if along else ()))
    return Derived(
        name=item.as_ or settle(derived_name(item), taken),
        kind=kind,
        source=source.name,
        within=groups,
        type=_derived_type(item, source.type),
        layer=named.layer(read),
        along=along.name if along else None,
        descending=isinstance(item, d.Rank) and item.dir == "desc",
        percent=isinstance(item, d.Change) and item.kind == "percent",
    )


def _once(refs: list[OutputRef | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(ref.name for ref in refs if ref is not None))


def _source(item: d.Derivation) -> tuple[DerivedKind, str]:
    match item:
        case d.ShareOfTotal(share_of_total=name):
            return "share_of_total", name
        case d.Rank(rank=name):
            return "rank", name
        case d.Change(change=name):
            return "change", name
        case d.RunningTotal(running_total=name):
            return "running_total", name
        case d.ZScore(zscore=name):
            return "zscore", name


def _derived_type(item: d.Derivation, source: ColumnType) -> ColumnType:
    match item:
        case d.Rank():
            return ColumnType.INTEGER
        case d.Change(kind="absolute") | d.RunningTotal():
            return source
        case _:
            return ColumnType.FLOAT
