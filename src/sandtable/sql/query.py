"""The shape of the compiled query: one SELECT, or CTEs named for what they hold.

Aggregates that are values of each row come first (`measured`). Rows are read and grouped (`grouped`, or
`base` for plain rows), then derived columns are added layer by layer (`derived`), then `having`,
`top_per_group` and the order apply. A step that a plan does not need is not written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from sandtable.catalog.model import Dataset
from sandtable.engines import nodes as w
from sandtable.engines.spelling import Spelling
from sandtable.plan.definitions import with_defined
from sandtable.plan.resolved import (
    Bucket,
    ColumnRef,
    Derived,
    Elements,
    Expr,
    Matched,
    Output,
    OutputRef,
    ResolvedPlan,
    Whole,
)
from sandtable.plan.walking import columns_read, each_elements, matches, wholes, zoned_type
from sandtable.sql.column_types import Types
from sandtable.sql.conditions import predicate
from sandtable.sql.decomposition import decomposed
from sandtable.sql.expressions import ExpressionWriter, calendar_order
from sandtable.sql.spreading import Step, free_name, not_over_windows, selecting, spread
from sandtable.sql.windows import Named, derived_column, first_rows, first_with_ties


def build_query(plan: ResolvedPlan, dataset: Dataset, spelling: Spelling) -> exp.Select:
    """The plan as a query in its total order, without a limit; the tables that it defines come first."""
    dataset = with_defined(plan, dataset)
    types = Types.of_plan(plan)
    first: list[exp.CTE] = []
    for item in plan.defined:
        # The same defect of DuckDB 2.0 as in `layered`: a later filter may not reach below a window function.
        windowed = bool(item.plan.derived) or item.plan.top is not None or item.plan.ties
        query = _intermediate(item.plan, dataset, spelling, types)
        first.append(_cte(item.table.name, query, fixed=windowed))
    query = _ordered_query(plan, dataset, spelling, types)
    if first:
        steps = query.ctes
        query.set("with_", exp.With(expressions=[*first, *steps]))
    return query


def _ordered_query(plan: ResolvedPlan, dataset: Dataset, spelling: Spelling, types: Types) -> exp.Select:
    builder = _builder(plan, dataset, spelling, types)
    ranked = plan.top is not None or plan.ties
    return builder.layered() if plan.derived or (ranked and not spelling.qualifies) else builder.single()


def _intermediate(plan: ResolvedPlan, dataset: Dataset, spelling: Spelling, types: Types) -> exp.Select:
    """The rows of a defined table. Order matters only where it decides which rows stay."""
    query = _ordered_query(plan, dataset, spelling, types)
    if plan.limit is None or plan.ties:
        query.set("order", None)
        return query
    return query.limit(exp.Literal.number(plan.limit), copy=False)


def _builder(plan: ResolvedPlan, dataset: Dataset, spelling: Spelling, types: Types) -> _Builder:
    names = frozenset(t.name.lower() for t in dataset.tables)
    taken = set(names)
    looked_up = {
        match: (free_name("matched", taken), _intermediate(match.rows, dataset, spelling, types))
        for match in matches(tuple(o.expr for o in plan.outputs), plan.where, plan.decomposition)
    }
    qualified = bool(looked_up) or _needs_qualifying(plan, dataset)
    return _Builder(plan, names, qualified, _measured(plan), looked_up, spelling, types.inside(plan))


def _measured(plan: ResolvedPlan) -> dict[Expr, str]:
    """Expressions that the first step computes and passes on, by column name; empty when none is needed."""
    targets = [term.target for term in plan.order]
    nodes = (tuple(o.expr for o in plan.outputs), plan.where)
    found = (*wholes(*nodes), *each_elements(*nodes))
    if not found:
        return {}
    taken = {output.name.lower() for output in plan.outputs} | {item.name.lower() for item in plan.derived}
    read = columns_read((tuple(o.expr for o in plan.outputs), plan.where, tuple(targets)))
    names: dict[Expr, str] = {ref: free_name(f"row_{ref.column}", taken) for ref in read}
    names |= {match: free_name("matched", taken) for match in matches(*nodes)}
    return names | {
        part: free_name("element" if isinstance(part, Elements) else "whole", taken) for part in found
    }


def _needs_qualifying(plan: ResolvedPlan, dataset: Dataset) -> bool:
    """With joins, or when an output is named like a column that it is not, bare names would be ambiguous."""
    if plan.joins or plan.decomposition is not None:
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
    measured: Mapping[Expr, str]
    """Values of rows that a first step computes, by name."""
    looked_up: Mapping[Matched, tuple[str, exp.Select]]
    """Rows of other tables that are only tested for existence: their name and the query of their keys."""
    spelling: Spelling
    types: Types

    def single(self) -> exp.Select:
        """Everything in one SELECT: output names that SQL could confuse with columns are written as expressions."""
        plan, writer, hidden = self.plan, self._unfolding(), self._hidden()
        exprs = {output.name: output.expr for output in (*plan.outputs, *hidden)}
        first = self._first_steps(set(self.table_names))
        query = self._rows(plan.outputs, writer, first)
        if plan.having is not None:
            condition = predicate(writer, plan.having)
            query = (
                query.having(condition, copy=False) if plan.grouped else query.where(condition, copy=False)
            )

        def unfolded(name: str) -> exp.Expr:
            return writer.write(exprs[name])

        self._qualify(query, hidden, unfolded, self._terms((), self._placed(unfolded)))
        query = query.order_by(*self._order((), unfolded), copy=False)
        query.set("with_", _with([_cte(name, body, fixed=True) for name, body in first]))
        return query

    def layered(self) -> exp.Select:
        """Rows first, then one CTE per layer of derived columns."""
        plan, hidden = self.plan, self._hidden()
        taken = set(self.table_names)
        first = self._first_steps(taken)
        rows = free_name("grouped" if plan.grouped else "base", taken)
        ctes = [(rows, self._rows((*plan.outputs, *hidden), self._unfolding(), first))]
        names = [output.name for output in (*plan.outputs, *hidden)]
        for layer in range(1, max((item.layer for item in plan.derived), default=0) + 1):
            added = [item for item in plan.derived if item.layer == layer]
            ctes += self._derived(ctes[-1][0], names, added, hidden, taken)
            names += [item.name for item in added]
        filtered = plan.having is not None or plan.top is not None or plan.ties
        helped = hidden or any(item.hidden for item in plan.derived)
        place = free_name("place", {name.lower() for name in names})
        ranked = self._ranked(ctes[-1][0], names, hidden, place) if not self.spelling.qualifies else None
        if ranked is not None:
            ctes.append((free_name("ranked", taken), ranked))
            query = self._cut(ctes[-1][0], place)
        else:
            query = self._final(ctes[-1][0], hidden) if filtered or helped else ctes.pop()[1]
        query = query.order_by(*self._order(hidden, w.column), copy=False)
        steps = [_cte(name, body, fixed=True) for name, body in first]
        for index, (name, body) in enumerate(ctes, 1):
            # DuckDB 2.0 computes wrong shares of decimals when it pushes a filter below the window function
            # (its window_self_join rewrite); a materialized step keeps the filter where it is written.
            steps.append(_cte(name, body, fixed=filtered and index == len(ctes)))
        query.set("with_", _with(steps))
        return query

    def _first_steps(self, taken: set[str]) -> list[tuple[str, exp.Select]]:
        """The rows with the aggregates that are values of each row: one step, or none."""
        if self.plan.decomposition is not None:
            periods = free_name("periods", taken)
            first, second = decomposed(self.plan, self.plan.decomposition, self._writer(_by_name), periods)
            return [(periods, self._joined(first)), (self.plan.decomposition.table, second)]
        if not self.measured:
            return []
        found = not_over_windows(self.spelling, tuple(self.measured))
        if found:
            return self._spread_rows(found, taken)
        return [(free_name("measured", taken), self._read(self.measured))]

    def _read(self, columns: Mapping[Expr, str]) -> exp.Select:
        """Values of the rows of the tables themselves."""
        writer = replace(self._writer(_by_name), names={})
        query = exp.Select().from_(w.table(self.plan.table), copy=False)
        for expr, name in columns.items():
            query = query.select(_aliased(writer.write(expr), name), copy=False)
        return self._joined(query)

    def _spread_rows(self, found: tuple[Whole, ...], taken: set[str]) -> list[Step]:
        """The rows, then those of their aggregates that no window can compute, then the rest."""
        read: dict[Expr, str] = {
            e: name for e, name in self.measured.items() if isinstance(e, ColumnRef | Matched)
        }
        writer = replace(self._writer(_by_name), names=read)
        rows = free_name("rows", taken)
        made = spread(rows, tuple(read.values()), found, writer, taken)
        writer, query = replace(writer, names={**read, **made.names}), made.query
        for expr, name in self.measured.items():
            query = query.select(_aliased(writer.write(expr), name), copy=False)
        return [(rows, self._read(read)), *made.steps, (free_name("measured", taken), query)]

    def _rows(
        self, outputs: tuple[Output, ...], writer: ExpressionWriter, first: list[tuple[str, exp.Select]]
    ) -> exp.Select:
        plan = self.plan
        query = exp.Select().from_(w.table(first[-1][0] if first else plan.table), copy=False)
        for output in outputs:
            query = query.select(_aliased(writer.write(output.expr), output.name), copy=False)
        if not first:
            query = self._joined(query)
        if plan.where is not None and plan.decomposition is None:
            query = query.where(predicate(writer, plan.where), copy=False)
        keys = [writer.write(output.expr) for output in outputs if output.key]
        return query.group_by(*keys, copy=False) if keys else query

    def _joined(self, query: exp.Select) -> exp.Select:
        for join in self.plan.joins:
            near, far = w.column(join.to_column, join.to_table), w.column(join.column, join.table)
            match = exp.EQ(this=near, expression=far)
            query.append("joins", exp.Join(this=w.table(join.table), side="LEFT", on=match))
        for matched, (name, keys) in self.looked_up.items():
            rows = exp.Subquery(this=keys.copy(), alias=exp.TableAlias(this=w.name(name)))
            near = w.column(matched.near.column, matched.near.table)
            match = exp.EQ(this=near, expression=w.column(matched.rows.outputs[0].name, name))
            query.append("joins", exp.Join(this=rows, side="LEFT", on=match))
        return query

    def _derived(
        self, source: str, names: list[str], added: list[Derived], hidden: tuple[Output, ...], taken: set[str]
    ) -> list[Step]:
        """One layer: a step, after those of aggregates that no window can compute."""
        writer = replace(self._writer(_by_name), names={})
        found = not_over_windows(self.spelling, tuple(item.expr for item in added if item.expr is not None))
        if not found:
            steps, query = (), selecting(source, names)
        else:
            made = spread(source, names, found, writer, taken)
            steps, query = made.steps, made.query
            writer = replace(writer, names=made.names)
            for name in names:
                query = query.select(w.column(name), copy=False)
        for item in added:
            column = derived_column(item, self._ties(hidden), w.column, self._placed(w.column), writer)
            query = query.select(_aliased(column, item.name), copy=False)
        return [*steps, (free_name("derived", taken), query)]

    def _ranked(
        self, source: str, names: list[str], hidden: tuple[Output, ...], place: str
    ) -> exp.Select | None:
        """For engines without QUALIFY: every column with the place of its row; none where no rank chooses rows."""
        kept = self._kept(hidden, w.column, self._terms(hidden, self._placed(w.column)))
        if kept is None:
            return None
        query = self._having(selecting(source, names))
        return query.select(exp.alias_(kept.this, w.name(place), copy=False), copy=False)

    def _cut(self, source: str, place: str) -> exp.Select:
        """The first rows by their place."""
        last = self.plan.top.n if self.plan.top is not None else self.plan.limit
        condition = exp.LTE(this=w.column(place), expression=w.number(last or 0))
        return selecting(source, self._shown()).where(condition, copy=False)

    def _final(self, source: str, hidden: tuple[Output, ...]) -> exp.Select:
        query = self._having(selecting(source, self._shown()))
        self._qualify(query, hidden, w.column, self._terms(hidden, self._placed(w.column)))
        return query

    def _shown(self) -> list[str]:
        return [*(o.name for o in self.plan.outputs), *(d.name for d in self.plan.shown)]

    def _having(self, query: exp.Select) -> exp.Select:
        plan = self.plan
        if plan.having is None:
            return query
        helpers = {d.expr: d.name for d in plan.derived if d.hidden and d.expr is not None}
        writer = replace(self._writer(_by_name), names=helpers)
        return query.where(predicate(writer, plan.having), copy=False)

    def _qualify(
        self, query: exp.Select, hidden: tuple[Output, ...], named: Named, terms: list[exp.Expr]
    ) -> None:
        kept = self._kept(hidden, named, terms)
        if kept is not None:
            query.set("qualify", exp.Qualify(this=kept))

    def _kept(self, hidden: tuple[Output, ...], named: Named, terms: list[exp.Expr]) -> exp.LTE | None:
        """Which rows stay by their rank; `terms` is the plan's order."""
        plan = self.plan
        if plan.top is not None:
            return first_rows(plan.top, self._ties(hidden), named, self._placed(named))
        if plan.ties and plan.limit is not None:
            return first_with_ties(terms, plan.limit)
        return None

    def _order(self, hidden: tuple[Output, ...], unfolded: Named) -> list[exp.Expr]:
        """The plan's order, then the tie-breakers. `unfolded` writes the expression behind a
        name, for what cannot be sorted by the name of its column."""
        plan = self.plan

        def placed(name: str) -> exp.Expr:
            return self._placed(unfolded)(name) if self._bucket(name) else w.column(name)

        nodes = self._terms(hidden, placed)
        done = {term.target.name for term in plan.order if isinstance(term.target, OutputRef)}
        rest = plan.key_names if plan.grouped else (*plan.key_names, *(d.name for d in plan.shown))
        if not nodes and not rest:
            rest = (plan.outputs[0].name,)
        return nodes + [_ordered(placed(name), False, False) for name in rest if name not in done]

    def _terms(self, hidden: tuple[Output, ...], placed: Named) -> list[exp.Expr]:
        """The plan's own order."""
        behind = {output.expr: output.name for output in hidden}
        writer = self._writer(lambda ref: placed(ref.name))
        nodes: list[exp.Expr] = []
        for term in self.plan.order:
            name = behind.get(term.target)
            node = w.column(name) if name else writer.write(term.target)
            nodes.append(_ordered(node, term.descending, term.nulls_first))
        return nodes

    def _placed(self, named: Named) -> Named:
        """The sort key of an output column."""
        return lambda name: calendar_order(self.spelling, self._bucket(name), named(name))

    def _bucket(self, name: str) -> str:
        """The unit of an output column that holds names of the calendar; empty for all others."""
        expr = next((o.expr for o in self.plan.outputs if o.name == name), None)
        return expr.unit if isinstance(expr, Bucket) and expr.unit in ("day_name", "month_name") else ""

    def _ties(self, hidden: tuple[Output, ...]) -> tuple[str, ...]:
        """The tie-breakers for the order of a window function."""
        return (*self.plan.key_names, *(output.name for output in hidden))

    def _hidden(self) -> tuple[Output, ...]:
        """Columns that rows are sorted by but that are not shown."""
        taken = {o.name.lower() for o in self.plan.outputs} | {d.name.lower() for d in self.plan.derived}
        refs = [term.target for term in self.plan.order if isinstance(term.target, ColumnRef)]
        return tuple(Output(free_name(f"order_by_{ref.column}", taken), ref, key=False) for ref in refs)

    def _writer(self, output: Callable[[OutputRef], exp.Expr]) -> ExpressionWriter:
        joined = {matched: name for matched, (name, _) in self.looked_up.items()}
        return ExpressionWriter(
            self.spelling,
            self.types.of,
            self.qualified,
            output,
            predicate,
            self._zoned,
            self.measured,
            joined,
        )

    def _zoned(self, expr: Expr) -> bool:
        if isinstance(expr, OutputRef):
            return any(o.name == expr.name and self._zoned(o.expr) for o in self.plan.outputs)
        return zoned_type(expr) is not None

    def _unfolding(self) -> ExpressionWriter:
        """Writes the expression behind an output column instead of its name."""
        exprs = {output.name: output.expr for output in self.plan.outputs}
        return self._writer(lambda ref: self._unfolding().write(exprs[ref.name]))


def _with(steps: list[exp.CTE]) -> exp.With | None:
    return exp.With(expressions=steps) if steps else None


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
