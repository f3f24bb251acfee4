"""The output columns of a plan: group keys, select items, their names and how they are looked up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sandtable.plan import items as i
from sandtable.plan.derivations import Derivation
from sandtable.plan.expressions import Expressions
from sandtable.plan.findings import Findings
from sandtable.plan.model import PlanBody
from sandtable.plan.names import likely_names, made_up, settle
from sandtable.plan.resolved import ColumnRef, Expr, Output
from sandtable.plan.walking import is_aggregate, row_parts
from sandtable.quoting import quote


@dataclass(frozen=True, slots=True)
class Selected:
    """One select item (or group key) with its expression and where it stands in the plan."""

    item: i.AnyItem
    expr: Expr
    place: str

    @property
    def wanted(self) -> str | None:
        return None if isinstance(self.item, i.ValueOperand) else self.item.as_


@dataclass(frozen=True, slots=True)
class OutputColumns:
    plan: PlanBody
    expressions: Expressions
    found: Findings

    @property
    def grouped(self) -> bool:
        return self.plan.grouped

    def resolve(self) -> tuple[Output, ...]:
        selected = list(self._selected())
        keys = self._keys(selected)
        key_exprs = [key.expr for key in keys]
        added = [key for key in keys if all(key.expr != s.expr for s in selected)]
        if self.grouped:
            self._check_keys(selected, key_exprs)
        return self._named([*added, *selected], key_exprs)

    def _selected(self) -> Iterator[Selected]:
        for index, item in enumerate(self.plan.select):
            place = f"select[{index}]"
            if isinstance(item, i.ColumnItem) and item.column == "*":
                yield from self._every_column(item, place)
                continue
            expr = self.expressions.item(item, place)
            if expr is None:
                self.found.lost |= likely_names(item)
            else:
                yield Selected(item, expr, place)

    def _every_column(self, item: i.ColumnItem, place: str) -> Iterator[Selected]:
        if self.grouped:
            self.found.add(
                place, "`*` cannot stand beside aggregates or group_by", "Name the columns you need."
            )
            return
        if item.as_ is not None:
            self.found.add(f"{place}.as", "`*` stands for several columns and cannot be renamed")
        for column in self.expressions.scope.table.columns:
            expr = ColumnRef(self.expressions.scope.table.name, column.name, column.type, column.sql_type)
            yield Selected(i.ColumnItem(column=column.name), expr, place)

    def _keys(self, selected: list[Selected]) -> list[Selected]:
        if not self.plan.group_by:
            plain = [s for s in selected if self.grouped and not is_aggregate(s.expr)]
            return _once([s for s in plain if any(row_parts(s.expr))])
        keys = [self._key(key, f"group_by[{n}]", selected) for n, key in enumerate(self.plan.group_by)]
        return _once([key for key in keys if key is not None])

    def _key(self, key: str | i.BucketItem, place: str, selected: list[Selected]) -> Selected | None:
        if isinstance(key, i.BucketItem):
            bucket = self.expressions.bucket(key, place)
            return Selected(key, bucket, place) if bucket is not None else None
        named = next((s for s in selected if self._is_called(s, key)), None)
        if named is not None and not is_aggregate(named.expr):
            return named
        if named is not None and self.expressions.scope.table.column(key) is None:
            message = f"{quote(key)} is an aggregate; group_by takes columns, buckets and plain select items"
            self.found.add(place, message, f"Remove {quote(key)} from group_by.")
            return None
        column = self.expressions.column(key, place)
        return Selected(i.ColumnItem(column=key), column, place) if column is not None else None

    def _is_called(self, item: Selected, name: str) -> bool:
        return (item.wanted or made_up(item.item, item.expr)).lower() == name.lower()

    def _check_keys(self, selected: list[Selected], keys: list[Expr]) -> None:
        for item in selected:
            loose = [part for part in row_parts(item.expr) if item.expr not in keys and part not in keys]
            if not loose:
                continue
            name = item.wanted or made_up(item.item, item.expr)
            if is_aggregate(item.expr):
                self.found.add(
                    item.place,
                    f"{quote(name)} mixes an aggregate with a plain column that is not in group_by",
                    "Add that column to group_by, or aggregate it (such as max).",
                )
                continue
            self.found.add(
                item.place,
                f"{quote(name)} is neither aggregated nor in group_by",
                f'Add "{name}" to group_by, aggregate it, or leave group_by out to group by all plain items.',
            )

    def _named(self, selected: list[Selected], keys: list[Expr]) -> tuple[Output, ...]:
        taken = self._explicit_names(selected)
        outputs: list[Output] = []
        for item in selected:
            name = item.wanted
            if name is None:
                name = made_up(item.item, item.expr)
                if isinstance(item.expr, ColumnRef) and name.lower() in taken:
                    name = f"{item.expr.table}_{item.expr.column}"
                name = settle(name, taken)
            key = self.grouped and item.expr in keys
            outputs.append(Output(name, item.expr, key, self._format(item.item)))
        return tuple(outputs)

    def _format(self, item: i.AnyItem) -> str:
        metric = (
            self.expressions.scope.dataset.metric(item.metric) if isinstance(item, i.MetricItem) else None
        )
        return metric.format if metric else "number"

    def _explicit_names(self, selected: list[Selected]) -> set[str]:
        wanted = [(s.wanted, f"{s.place}.as") for s in selected if s.wanted is not None]
        wanted += [(d.as_, f"derive[{n}].as") for n, d in enumerate(self.plan.derive) if d.as_ is not None]
        taken: dict[str, str] = {}
        for name, place in wanted:
            first = taken.setdefault(name.lower(), place)
            if first != place:
                self.found.add(
                    place, f"two output columns are called {quote(name)} ({first} too)", "Rename one of them."
                )
        return set(taken)


def _once(selected: list[Selected]) -> list[Selected]:
    kept: list[Selected] = []
    for item in selected:
        if all(item.expr != other.expr for other in kept):
            kept.append(item)
    return kept


def names_of(outputs: tuple[Output, ...], derive: tuple[Derivation, ...]) -> set[str]:
    """Every name that is taken before derived columns are named."""
    return {o.name.lower() for o in outputs} | {d.as_.lower() for d in derive if d.as_ is not None}
