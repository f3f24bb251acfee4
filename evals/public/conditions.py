"""What the queries of a database say of its columns: values they name, columns they group by, rows they look for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

Place = tuple[str, str]
_OPS: dict[type[exp.Expr], str] = {
    exp.EQ: "=", exp.GT: ">", exp.GTE: ">=", exp.LT: "<", exp.LTE: "<=", exp.NEQ: "!=", exp.Like: "like",
}  # fmt: skip
_TURNED = {">": "<", "<": ">", ">=": "<=", "<=": ">="}


@dataclass(frozen=True, slots=True)
class Condition:
    alias: str
    column: str
    op: str
    values: tuple[str | float, ...]


@dataclass(frozen=True, slots=True)
class Witness:
    """The conditions of one SELECT, which one row of each of its tables can meet together."""

    tables: dict[str, str]
    """By alias."""
    conditions: tuple[Condition, ...]
    joins: tuple[tuple[Place, Place], ...]
    """Pairs of an alias and a column."""


@dataclass(slots=True)
class Usage:
    witnesses: list[Witness] = field(default_factory=list)
    repeated: set[Place] = field(default_factory=set)
    """Columns that are grouped by, made distinct, or compared for equality: their values come more than once."""
    _values: dict[Place, list[str | float]] = field(default_factory=lambda: defaultdict(list))

    def values(self, place: Place) -> list[str | float]:
        return self._values.get(place, [])

    def add(self, place: Place, value: str | float) -> None:
        if value not in self._values[place]:
            self._values[place].append(value)


def usage_of(queries: Sequence[str], tables: dict[str, set[str]]) -> Usage:
    """`tables`: the columns of each table. All names are in lower case."""
    usage = Usage()
    for sql in queries:
        try:
            tree = sqlglot.parse_one(sql, read="sqlite")
        except SqlglotError:
            continue
        for select in tree.find_all(exp.Select):
            _look_at(select, tables, usage)
    return usage


def _look_at(select: exp.Select, tables: dict[str, set[str]], usage: Usage) -> None:
    own = [t for t in select.find_all(exp.Table) if t.find_ancestor(exp.Select) is select]
    aliases = {t.alias_or_name.lower(): t.name.lower() for t in own if t.name.lower() in tables}
    scope = _Scope(aliases, tables)
    conditions: list[Condition] = []
    joins: list[tuple[Place, Place]] = []
    for node in select.walk():
        if node.find_ancestor(exp.Select) is not select:
            continue
        conditions += scope.conditions(node)
        if isinstance(node, exp.EQ) and (link := scope.join(node)):
            joins.append(link)
        if isinstance(node, exp.Group) or (
            isinstance(node, exp.Distinct) and not node.find_ancestor(exp.Count)
        ):
            columns = (
                node.parent.expressions
                if isinstance(node, exp.Distinct) and node.parent
                else node.expressions
            )
            usage.repeated |= {
                (aliases[found[0]], found[1])
                for column in columns
                if (found := scope.place(column)) is not None
            }
    for condition in conditions:
        place = (aliases[condition.alias], condition.column)
        if condition.op == "=":
            usage.repeated.add(place)
        for value in condition.values:
            usage.add(place, value)
    if aliases and (conditions or joins):
        usage.witnesses.append(Witness(aliases, tuple(conditions), tuple(joins)))


@dataclass(frozen=True, slots=True)
class _Scope:
    aliases: dict[str, str]
    tables: dict[str, set[str]]

    def place(self, node: Any) -> Place | None:
        """The alias and the name of a column of these tables."""
        if not isinstance(node, exp.Column):
            return None
        column, table = node.name.lower(), node.table.lower()
        if table:
            return (table, column) if column in self.tables.get(self.aliases.get(table, ""), ()) else None
        return next(((a, column) for a, name in self.aliases.items() if column in self.tables[name]), None)

    def value(self, node: Any) -> str | float | None:
        """A literal; also a text in double quotes, which SQLite takes for one where there is no such column."""
        if isinstance(node, exp.Neg):
            inner = self.value(node.this)
            return -inner if isinstance(inner, int | float) else None
        if isinstance(node, exp.Literal):
            return node.name if node.is_string else float(node.name)
        if isinstance(node, exp.Column) and not node.table and node.this.quoted and self.place(node) is None:
            return node.name
        return None

    def join(self, node: exp.EQ) -> tuple[Place, Place] | None:
        left, right = self.place(node.left), self.place(node.right)
        return (left, right) if left and right and left[0] != right[0] else None

    def conditions(self, node: exp.Expr) -> Iterator[Condition]:
        if isinstance(node, exp.Between):
            low, high = self.value(node.args["low"]), self.value(node.args["high"])
            if (place := self.place(node.this)) and low is not None and high is not None:
                yield Condition(*place, "between", (low, high))
        elif isinstance(node, exp.In):
            place = self.place(node.this)
            for value in map(self.value, node.expressions if place else ()):
                if place and value is not None:
                    yield Condition(*place, "=", (value,))
        elif type(node) in _OPS and isinstance(node, exp.Binary):
            yield from self._compared(node, _OPS[type(node)])

    def _compared(self, node: exp.Binary, op: str) -> Iterator[Condition]:
        for side, other, sign in ((node.left, node.right, op), (node.right, node.left, _TURNED.get(op, op))):
            place, value = self.place(side), self.value(other)
            if place is None or value is None:
                continue
            if op == "like":
                value = str(value).replace("%", " ").replace("_", "x").strip()
            yield Condition(*place, sign, (value,))
            return
