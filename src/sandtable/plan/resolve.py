"""QueryPlan × Dataset → ResolvedPlan, or every problem found on the way.

Invariant: a ResolvedPlan compiles. All checks against the catalog happen here, once, so that what
`check_plan` accepts and what the compiler can translate are the same set.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sandtable.catalog.model import Dataset, Table
from sandtable.plan.conditions import every
from sandtable.plan.decomposing import outputs_of, resolve_why
from sandtable.plan.definitions import Definitions
from sandtable.plan.deriving import Deriving, once
from sandtable.plan.expressions import Expressions
from sandtable.plan.findings import Findings, TooManyProblems
from sandtable.plan.model import OrderBy, PlanBody, QueryPlan, Why
from sandtable.plan.outputs import OutputColumns
from sandtable.plan.problems import PlanProblem
from sandtable.plan.resolved import Condition, OrderTerm, Output, OutputRef, ResolvedPlan, Top
from sandtable.plan.scope import Scope, Unresolved
from sandtable.plan.timing import resolve_window
from sandtable.plan.walking import each_elements, wholes
from sandtable.quoting import quote
from sandtable.recent import Recent

_RESOLVED: Recent[tuple[int, int], tuple[QueryPlan, Dataset, ResolvedPlan]] = Recent(256)
"""Keyed by `id`: both are frozen, and the cache keeps them alive as long as their ids."""


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
        message = f"the plan is about dataset {quote(plan.dataset_id)}, but this is {quote(dataset.id)}"
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
    """A plan over a table that was found. The result is valid only if nothing was added to `found`."""
    scope = Scope(dataset, table, aggregating=plan.why is not None, defined=defined)
    columns = OutputColumns(plan, Expressions(scope, found), found)
    if plan.why is not None:
        return _Resolution(plan, columns, found).resolve_why(plan.why)
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
        named = self._derived(outputs)
        having = named.over_outputs.conditions().all_of(plan.having, "having")
        named.hide_wholes(having)
        top = self._top(named)
        order = self._order(named)
        self._check_ties()
        self._check_elements(outputs, where)
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
            derived=tuple(named.derived),
            having=having,
            top=top,
            order=order,
            limit=plan.limit,
            warnings=tuple(self.found.warnings),
            ties=plan.ties,
        )

    def resolve_why(self, why: Why) -> ResolvedPlan:
        """A plan over the rows that the decomposition makes."""
        expressions = self.columns.expressions
        made = resolve_why(why, expressions)
        where = self._where()
        if wholes(where, made) or each_elements(where, made):
            self.found.add(
                "why",
                "aggregates over the whole table cannot stand beside `why`",
                "Filter in a table of `define`, and ask why over that.",
            )
        outputs = outputs_of(made, why, expressions) if made is not None else ()
        named = Deriving.over(outputs, (), expressions)
        having = (
            named.over_outputs.conditions().all_of(self.plan.having, "having") if made is not None else None
        )
        named.hide_wholes(having)
        order = self._order(named) if made is not None else ()
        self._check_ties()
        if not order:
            refs = [
                OutputRef(o.name, o.expr.type) for o in outputs if o.name in ("dimension", "share_of_change")
            ]
            order = tuple(OrderTerm(ref, ref.name != "dimension", nulls_first=False) for ref in refs)
        return ResolvedPlan(
            table=expressions.scope.table.name,
            joins=tuple(expressions.scope.joins.values()),
            where=where,
            grouped=False,
            outputs=outputs,
            derived=tuple(named.derived),
            having=having,
            top=None,
            order=order,
            limit=self.plan.limit,
            warnings=tuple(self.found.warnings),
            ties=self.plan.ties,
            decomposition=made,
        )

    def _where(self) -> Condition | None:
        expressions = self.columns.expressions
        parts = [expressions.conditions().all_of(self.plan.filters, "filters")]
        if self.plan.time is not None:
            column = expressions.time_column(self.plan.time.column, "time")
            parts.append(resolve_window(self.plan.time, column, expressions.scope.dataset, self.found))
        return every([part for part in parts if part is not None])

    def _derived(self, outputs: tuple[Output, ...]) -> Deriving:
        named = Deriving.over(outputs, self.plan.derive, self.columns.expressions)
        for index, item in enumerate(self.plan.derive):
            named.add(item, f"derive[{index}]")
        return named

    def _top(self, named: Deriving) -> Top | None:
        top = self.plan.top_per_group
        if top is None:
            return None
        by = [named.lookup(name, f"top_per_group.by[{n}]") for n, name in enumerate(top.by)]
        first = named.lookup(top.order_by, "top_per_group.order_by")
        if first is None:
            return None
        return Top(top.n, once(by), first.name, top.dir == "desc", top.ties)

    def _check_elements(self, *nodes: object) -> None:
        each = each_elements(*nodes)
        if len(each) > 1 or (each and wholes(*nodes)):
            what = "elements of another column" if len(each) > 1 else "an aggregate over the whole table"
            self.found.add(
                "select",
                f"elements of a list cannot stand beside {what}",
                "Take them apart in a table of `define`.",
            )

    def _check_ties(self) -> None:
        plan = self.plan
        if not plan.ties:
            return
        if plan.limit is None or not plan.order_by:
            self.found.add(
                "ties", "ties are rows that equal the last of the first n", "Add `limit` and `order_by`."
            )
        if plan.top_per_group is not None:
            self.found.add(
                "ties", "ties beside top_per_group could mean either", 'Write "ties": true in top_per_group.'
            )

    def _order(self, named: Deriving) -> tuple[OrderTerm, ...]:
        terms = [
            self._order_term(item, f"order_by[{n}].expr", named) for n, item in enumerate(self.plan.order_by)
        ]
        kept: list[OrderTerm] = []
        for term in terms:
            if term is not None and all(term.target != other.target for other in kept):
                kept.append(term)
        return tuple(kept)

    def _order_term(self, item: OrderBy, place: str, named: Deriving) -> OrderTerm | None:
        target = named.find(item.expr)
        if target is None:
            target = None if self.columns.grouped else self.columns.expressions.scope.column(item.expr)
            if target is None or isinstance(target, Unresolved):
                named.report(item.expr, place)
                return None
        return OrderTerm(target, item.dir == "desc", item.nulls == "first")
