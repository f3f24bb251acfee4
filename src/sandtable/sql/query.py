"""The shape of the compiled query: one SELECT, or CTEs named for what they hold.

Rows are read and grouped (`grouped`, or `base` for plain rows), then derived columns are added layer
by layer (`derived`), then `having`, `top_per_group` and the order apply. A step that a plan does not
need is not written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from sandtable.catalog.model import Dataset
from sandtable.plan.resolved import ColumnRef, Derived, Expr, Output, OutputRef, ResolvedPlan, zoned_type
from sandtable.sql import writing as w
from sandtable.sql.conditions import predicate
from sandtable.sql.expressions import ExpressionWriter
from sandtable.sql.windows import derived_column, first_rows


def build_query(plan: ResolvedPlan, dataset: Dataset) -> exp.Select:
    """The plan as a query in its total order, without a limit; the tables that it defines come first."""
    defined = tuple(item.table for item in plan.defined)
    dataset = dataset.model_copy(update={"tables": (*dataset.tables, *defined)})
    first: list[exp.CTE] = []
    for item in plan.defined:
        # The same defect of DuckDB 2.0 as in `layered`: a later filter may not reach below a window function.
        windowed = bool(item.plan.derived) or item.plan.top is not None
        first.append(_cte(item.table.name, _intermediate(item.plan, dataset), fixed=windowed))
    query = _ordered_query(plan, dataset)
    if first:
        steps = query.ctes
        query.set("with_", exp.With(expressions=[*first, *steps]))
    return query


def _ordered_query(plan: ResolvedPlan, dataset: Dataset) -> exp.Select:
    builder = _builder(plan, dataset)
    return builder.layered() if plan.derived else builder.single()


def _intermediate(plan: ResolvedPlan, dataset: Dataset) -> exp.Select:
    """The rows of a defined table. Order matters only where it decides which rows stay."""
    query = _ordered_query(plan, dataset)
    if plan.limit is None:
        query.set("order", None)
        return query
    return query.limit(exp.Literal.number(plan.limit), copy=False)


def _builder(plan: ResolvedPlan, dataset: Dataset) -> _Builder:
    names = frozenset(t.name.lower() for t in dataset.tables)
    return _Builder(plan, names, _needs_qualifying(plan, dataset))


def _needs_qualifying(plan: ResolvedPlan, dataset: Dataset) -> bool:
    """With joins, or when an output is named like a column that it is not, bare names would be ambiguous."""
    if plan.joins:
        return True
    table = dataset.table(plan.table)
    for output in plan.outputs:
        column = table.column(output.name) if table else None
        same = isinstance(output.expr, ColumnRef) and column is not None and output.expr.column == column.name
        if column is not None and not same:
            return True
    return False


@dataclass(frozen=True, slots=True)
class _Builder:
    plan: ResolvedPlan
    table_names: frozenset[str]
    qualified: bool

    def single(self) -> exp.Select:
        """Everything in one SELECT: output names are unfolded where SQL could confuse them with columns."""
        plan, writer, hidden = self.plan, self._unfolding(), self._hidden()
        query = self._rows(plan.outputs, writer)
        if plan.having is not None:
            condition = predicate(writer, plan.having)
            query = (
                query.having(condition, copy=False) if plan.grouped else query.where(condition, copy=False)
            )
        if plan.top is not None:
            exprs = {output.name: output.expr for output in (*plan.outputs, *hidden)}
            condition = first_rows(plan.top, self._ties(hidden), lambda name: writer.write(exprs[name]))
            query.set("qualify", exp.Qualify(this=condition))
        return query.order_by(*self._order(), copy=False)

    def layered(self) -> exp.Select:
        """Rows first, then one CTE per layer of derived columns."""
        plan, hidden = self.plan, self._hidden()
        taken = set(self.table_names)
        first = _free("grouped" if plan.grouped else "base", taken)
        ctes = [(first, self._rows((*plan.outputs, *hidden), self._unfolding()))]
        names = [output.name for output in (*plan.outputs, *hidden)]
        for layer in range(1, max(item.layer for item in plan.derived) + 1):
            added = [item for item in plan.derived if item.layer == layer]
            ctes.append((_free("derived", taken), self._derived(ctes[-1][0], names, added, hidden)))
            names += [item.name for item in added]
        filtered = plan.having is not None or plan.top is not None
        query = self._final(ctes[-1][0], hidden) if filtered or hidden else ctes.pop()[1]
        query = query.order_by(*self._order(hidden), copy=False)
        steps: list[exp.CTE] = []
        for index, (name, body) in enumerate(ctes, 1):
            # DuckDB 2.0 computes wrong shares of decimals when it pushes a filter below the window function
            # (its window_self_join rewrite); a materialized step keeps the filter where it is written.
            steps.append(_cte(name, body, fixed=filtered and index == len(ctes)))
        query.set("with_", exp.With(expressions=steps) if steps else None)
        return query

    def _rows(self, outputs: tuple[Output, ...], writer: ExpressionWriter) -> exp.Select:
        plan = self.plan
        query = exp.Select().from_(w.table(plan.table), copy=False)
        for output in outputs:
            query = query.select(_aliased(writer.write(output.expr), output.name), copy=False)
        for join in plan.joins:
            near, far = w.column(join.to_column, join.to_table), w.column(join.column, join.table)
            match = exp.EQ(this=near, expression=far)
            query.append("joins", exp.Join(this=w.table(join.table), side="LEFT", on=match))
        if plan.where is not None:
            query = query.where(predicate(writer, plan.where), copy=False)
        keys = [writer.write(output.expr) for output in outputs if output.key]
        return query.group_by(*keys, copy=False) if keys else query

    def _derived(
        self, source: str, names: list[str], added: list[Derived], hidden: tuple[Output, ...]
    ) -> exp.Select:
        query = exp.Select().from_(w.table(source), copy=False)
        for name in names:
            query = query.select(w.column(name), copy=False)
        for item in added:
            column = derived_column(item, self._ties(hidden), w.column)
            query = query.select(_aliased(column, item.name), copy=False)
        return query

    def _final(self, source: str, hidden: tuple[Output, ...]) -> exp.Select:
        plan = self.plan
        query = exp.Select().from_(w.table(source), copy=False)
        for name in [*(o.name for o in plan.outputs), *(d.name for d in plan.derived)]:
            query = query.select(w.column(name), copy=False)
        if plan.having is not None:
            query = query.where(predicate(self._writer(_by_name), plan.having), copy=False)
        if plan.top is not None:
            query.set("qualify", exp.Qualify(this=first_rows(plan.top, self._ties(hidden), w.column)))
        return query

    def _order(self, hidden: tuple[Output, ...] = ()) -> list[exp.Expr]:
        """The plan's order, then whatever still tells two rows apart."""
        plan, writer = self.plan, self._writer(_by_name)
        behind = {output.expr: output.name for output in hidden}
        nodes: list[exp.Expr] = []
        for term in plan.order:
            name = behind.get(term.target)
            node = w.column(name) if name else writer.write(term.target)
            nodes.append(_ordered(node, term.descending, term.nulls_first))
        done = {term.target.name for term in plan.order if isinstance(term.target, OutputRef)}
        rest = plan.key_names if plan.grouped else (*plan.key_names, *(d.name for d in plan.derived))
        if not nodes and not rest:
            rest = (plan.outputs[0].name,)
        return nodes + [_ordered(w.column(name), False, False) for name in rest if name not in done]

    def _ties(self, hidden: tuple[Output, ...]) -> tuple[str, ...]:
        """What tells rows apart where a window function walks over them."""
        return (*self.plan.key_names, *(output.name for output in hidden))

    def _hidden(self) -> tuple[Output, ...]:
        """Columns that rows are ordered by and that are not shown."""
        taken = {o.name.lower() for o in self.plan.outputs} | {d.name.lower() for d in self.plan.derived}
        refs = [term.target for term in self.plan.order if isinstance(term.target, ColumnRef)]
        return tuple(Output(_free(f"order_by_{ref.column}", taken), ref, key=False) for ref in refs)

    def _writer(self, output: Callable[[OutputRef], exp.Expr]) -> ExpressionWriter:
        return ExpressionWriter(self.qualified, output, predicate, self._zoned)

    def _zoned(self, expr: Expr) -> bool:
        if isinstance(expr, OutputRef):
            return any(o.name == expr.name and self._zoned(o.expr) for o in self.plan.outputs)
        return zoned_type(expr) is not None

    def _unfolding(self) -> ExpressionWriter:
        """Writes the expression behind an output column instead of its name."""
        exprs = {output.name: output.expr for output in self.plan.outputs}
        return self._writer(lambda ref: self._unfolding().write(exprs[ref.name]))


def _cte(name: str, body: exp.Select, *, fixed: bool) -> exp.CTE:
    return exp.CTE(this=body, alias=exp.TableAlias(this=w.name(name)), materialized=True if fixed else None)


def _by_name(ref: OutputRef) -> exp.Expr:
    return w.column(ref.name)


def _aliased(node: exp.Expr, name: str) -> exp.Expr:
    if isinstance(node, exp.Column) and not node.args.get("table") and node.name == name:
        return node
    return exp.Alias(this=node, alias=w.name(name))


def _ordered(node: exp.Expr, descending: bool, nulls_first: bool) -> exp.Expr:
    # DuckDB puts nulls last in both directions; only the exception is written.
    return exp.Ordered(this=node, desc=descending or None, nulls_first=nulls_first)


def _free(wanted: str, taken: set[str]) -> str:
    name, count = wanted, 1
    while name.lower() in taken:
        count += 1
        name = f"{wanted}_{count}"
    taken.add(name.lower())
    return name
