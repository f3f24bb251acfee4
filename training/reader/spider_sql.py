"""What the joins and conditions of one SELECT say of the rows of a table, in the words of a sketch.

Tables are joined along references only. Where every row of the result is a row of one table, that table is read, and
what it is joined with is a condition: of columns it refers to, or that rows referring to it exist. With aggregates
the most detailed table is read. `NoSketch` says why a query has no sketch that is sure to mean the same.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp

from sandtable.catalog.model import ColumnType
from sandtable.planner.candidates.network.sketch import Item, Token
from training.reader import windows
from training.reader.spider_names import Names, NoSketch, Place

Tokens = list[Token]
_AGGREGATES: dict[type[exp.Expr], str] = {exp.Sum: "sum", exp.Avg: "avg", exp.Min: "min", exp.Max: "max"}
_OPS: dict[type[exp.Expr], str] = {exp.EQ: "==", exp.GT: ">", exp.GTE: ">=", exp.LT: "<", exp.LTE: "<="}
_TURNED = {">": "<", "<": ">", ">=": "<=", "<=": ">=", "==": "=="}
_ARITHMETIC: dict[type[exp.Expr], tuple[str, str]] = {
    exp.Sub: ("minus", "less"), exp.Add: ("plus", "added"), exp.Div: ("per", "over"), exp.Mul: ("", "times"),
}  # fmt: skip
_NUMBERS = {ColumnType.INTEGER, ColumnType.FLOAT, ColumnType.DECIMAL}
_ISO = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass(slots=True)
class Scope:
    tree: exp.Select
    names: Names
    outer: str = ""
    """The table that a condition of this query is about."""
    aliases: dict[str, str] = field(default_factory=dict[str, str])
    edges: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    """Which table refers to which, along the joins."""
    wheres: list[exp.Expr] = field(default_factory=list[exp.Expr])
    aggregated: bool = False
    superlative: Tokens = field(default_factory=list[Token])

    def __post_init__(self) -> None:
        tree = self.tree
        sources = [tree.args.get("from_") or tree.args.get("from"), *tree.args.get("joins", [])]
        conditions: list[exp.Expr] = []
        for source in sources:
            table = source.this if source is not None else None
            if not isinstance(table, exp.Table) or (
                table.name.lower() not in {t for t, _ in self.names.columns}
            ):
                raise NoSketch("a table that is no table of the database")
            if table.name.lower() in self.aliases.values():
                raise NoSketch("a table joined with itself")
            self.aliases[table.alias_or_name.lower()] = table.name.lower()
            if isinstance(source, exp.Join):
                if source.side or source.args.get("using"):
                    raise NoSketch("an outer join, or one by name")
                if source.args.get("on") is not None:
                    conditions += conjuncts(source.args["on"])
        if tree.args.get("where") is not None:
            conditions += conjuncts(tree.args["where"].this)
        for each in conditions:
            if not self._is_join(each):
                self.wheres.append(each)
        if len(self.edges) < len(self.aliases) - 1:
            raise NoSketch("a join that does not follow a reference")
        parts = [*tree.expressions, tree.args.get("having"), tree.args.get("order")]
        self.aggregated = tree.args.get("group") is not None or any(
            each.find_ancestor(exp.Select) is tree
            for part in parts
            if part
            for each in part.find_all(exp.AggFunc)
        )

    def _is_join(self, node: exp.Expr) -> bool:
        if not isinstance(node, exp.EQ):
            return False
        left, right = self.place_or_none(node.left), self.place_or_none(node.right)
        if left is None or right is None or left[0] == right[0]:
            return False
        if (left, right) in self.names.links:
            self.edges.add((left[0], right[0]))
        elif (right, left) in self.names.links:
            self.edges.add((right[0], left[0]))
        else:
            raise NoSketch("a join that does not follow a reference")
        return True

    def place_or_none(self, node: exp.Expr) -> Place | None:
        if not isinstance(node, exp.Column):
            return None
        column, table = node.name.lower(), node.table.lower()
        tables = (
            [self.aliases[table]] if table in self.aliases else [] if table else list(self.aliases.values())
        )
        return next(((t, column) for t in tables if (t, column) in self.names.columns), None)

    def place(self, node: exp.Expr) -> Place:
        found = self.place_or_none(node.this if isinstance(node, exp.Alias) else node)
        if found is None:
            raise NoSketch("an expression where a column is needed")
        return found

    def reach(self, table: str) -> set[str]:
        """The tables that a row of this one refers to, itself too."""
        found, new = {table}, [table]
        while new:
            one = new.pop()
            for child, parent in self.edges:
                if child == one and parent not in found:
                    found.add(parent)
                    new.append(parent)
        return found

    def home(self) -> str:
        needed = set(self.aliases.values())
        if not self.aggregated:
            shown = [*self.tree.expressions, self.tree.args.get("order")]
            columns = [c for part in shown if part for c in part.find_all(exp.Column)]
            needed = {found[0] for c in columns if (found := self.place_or_none(c))} or needed
        return self.rooted(needed)

    def rooted(self, needed: set[str]) -> str:
        """The least detailed table that reaches all of them."""
        fitting = [t for t in self.aliases.values() if needed <= self.reach(t)]
        if not fitting:
            raise NoSketch("no table is the most detailed one")
        return min(fitting, key=lambda t: len(self.reach(t)))

    def conditions(self, home: str) -> list[Tokens]:
        """What the query says of a row of `home`; joins with more detailed tables become `exists`."""
        near = self.reach(home)
        own: list[Tokens] = []
        branches = self._branches(near)
        far: list[list[Tokens]] = [[] for _ in branches]
        self.outer = home
        for each in self.wheres:
            used = {f[0] for c in _own_columns(each) if (f := self.place_or_none(c))}
            branch = next((n for n, tables in enumerate(branches) if used & tables), None)
            if (first := self._first(each)) and used <= near:
                self.superlative += first
            elif used <= near:
                own.append(self.condition(each))
            elif branch is not None and used <= branches[branch] | near:
                self.outer = self.rooted(branches[branch] | {home})
                far[branch].append(self.condition(each))
                self.outer = home
            else:
                raise NoSketch("a condition over tables that are not joined one way")
        for tables, found in zip(branches, far, strict=True):
            made: Tokens = ["exists", Item("table", self.rooted(tables | {home}))]
            for each in found:
                made += ["&", *each]
            own.append(made)
        return own

    def _branches(self, near: set[str]) -> list[set[str]]:
        left = set(self.aliases.values()) - near
        found: list[set[str]] = []
        while left:
            group = {left.pop()}
            while more := {t for edge in self.edges for t in edge if set(edge) & group and t in left}:
                group |= more
                left -= more
            found.append(group)
        return found

    def condition(self, node: exp.Expr) -> Tokens:
        if isinstance(node, exp.Paren):
            return self.condition(node.this)
        if isinstance(node, exp.Not):
            return ["not", *self.condition(node.this)]
        if isinstance(node, exp.Or):
            parts = [self.condition(each) for each in flat(node, exp.Or)]
            return ["either", *parts[0], *(token for part in parts[1:] for token in ("or", *part))]
        if isinstance(node, exp.In):
            return self._in(node)
        if isinstance(node, exp.Between):
            return self._between(node)
        if isinstance(node, exp.Like):
            return self._like(node)
        if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
            return ["null", self.names.item(self.place(node.this))]
        if isinstance(node, exp.NEQ):
            return ["not", *self._compared(node, "==")]
        if type(node) in _OPS and isinstance(node, exp.Binary):
            return self._compared(node, _OPS[type(node)])
        raise NoSketch(f"a condition of another kind ({type(node).__name__})")

    def _compared(self, node: exp.Binary, op: str) -> Tokens:
        left, right = node.left, node.right
        if self.place_or_none(left) is None and self.place_or_none(right) is not None:
            left, right, op = right, left, _TURNED[op]
        place = self.place(left)
        other = self.place_or_none(right)
        column = self.names.item(place)
        if other is not None and self.literal(right) is None:
            return ["col=" if op == "==" else f"col{op}", column, self.names.item(other)]
        if isinstance(right, exp.Subquery):
            return self._against_whole(place, op, right.this)
        value = self.literal(right)
        if value is None:
            raise NoSketch("a comparison with an expression")
        return self._against(place, op, value)

    def _against(self, place: Place, op: str, value: str | float) -> Tokens:
        column, kind = self.names.item(place), self.names.type_of(place)
        if kind in _NUMBERS:
            try:
                return [op, column, Item("number", value=float(value))]
            except ValueError:
                raise NoSketch("a number column compared with a text") from None
        if kind is ColumnType.DATE:
            return ["when", Item("window", value=_dated(op, str(value))), "on", column]
        if op != "==":
            raise NoSketch("a text compared by size")
        return [Item("value", place[0], column.name, self.names.cell(place, value))]

    def _against_whole(self, place: Place, op: str, inner: exp.Expr) -> Tokens:
        if not isinstance(inner, exp.Select):
            raise NoSketch("a comparison with a set operation")
        chosen: exp.Expr = inner.expressions[0]
        word = _AGGREGATES.get(type(chosen))
        if word is None:
            raise NoSketch("a comparison with a query")
        if any(inner.args.get(part) for part in ("where", "group", "joins", "limit")):
            raise NoSketch("a comparison with a query of its own conditions")
        if Scope(inner, self.names).place(chosen.this) != place or word == "sum":
            raise NoSketch("a comparison with an aggregate of another column")
        if op == "==" and word in {"min", "max"}:
            raise NoSketch("a superlative within a condition")
        if f"whole{op}".replace("==", "=") not in {"whole>", "whole<", "whole="}:
            raise NoSketch("a comparison with an aggregate, or equal")
        return [f"whole{op}".replace("==", "="), self.names.item(place), word]

    def _first(self, node: exp.Expr) -> Tokens:
        """`c = (SELECT max(c) FROM t)` is an order, of which the first row is meant."""
        query = node.expression if isinstance(node, exp.EQ) else None
        inner = query.this if isinstance(query, exp.Subquery) else None
        chosen = inner.expressions[0] if isinstance(inner, exp.Select) else None
        if (
            not isinstance(chosen, exp.Max | exp.Min)
            or not isinstance(inner, exp.Select)
            or len(self.wheres) > 1
        ):
            return []
        if any(inner.args.get(part) for part in ("where", "group", "joins", "limit")):
            return []
        place = self.place_or_none(node.this)
        if place is None or Scope(inner, self.names).place(chosen.this) != place:
            return []
        return ["desc" if isinstance(chosen, exp.Max) else "asc", self.names.item(place)]

    def _between(self, node: exp.Between) -> Tokens:
        place = self.place(node.this)
        low, high = self.literal(node.args["low"]), self.literal(node.args["high"])
        if low is None or high is None:
            raise NoSketch("a comparison with an expression")
        if self.names.type_of(place) is ColumnType.DATE:
            if not _ISO.fullmatch(str(low)) or not _ISO.fullmatch(str(high)):
                raise NoSketch("a date that is no day")
            window = windows.frozen({"from": str(low), "to": str(high)})
            return ["when", Item("window", value=window), "on", self.names.item(place)]
        if self.names.type_of(place) not in _NUMBERS or isinstance(low, str) or isinstance(high, str):
            raise NoSketch("a text compared by size")
        return ["between", self.names.item(place), Item("number", value=low), Item("number", value=high)]

    def _like(self, node: exp.Like) -> Tokens:
        place, value = self.place(node.this), self.literal(node.expression)
        text = str(value)
        inner = text.strip("%")
        if value is None or not inner or "%" in inner or "_" in inner:
            raise NoSketch("a pattern")
        if self.names.type_of(place) is not ColumnType.TEXT:
            raise NoSketch("a pattern over what is no text")
        if inner == text:
            return [Item("value", place[0], self.names.columns[place], self.names.cell(place, text))]
        word = "contains" if text[0] == text[-1] == "%" else "startswith" if text[-1] == "%" else "endswith"
        return [word, self.names.item(place), Item("text", value=inner.strip())]

    def _in(self, node: exp.In) -> Tokens:
        place = self.place(node.this)
        query = node.args.get("query")
        if query is None:
            values = [self.literal(each) for each in node.expressions]
            if not values or any(value is None for value in values):
                raise NoSketch("a list of expressions")
            parts = [self._against(place, "==", value) for value in values if value is not None]
            made = [*parts[0], *(token for part in parts[1:] for token in ("or", *part))]
            return ["either", *made] if len(parts) > 1 else made
        inner = query.this if isinstance(query, exp.Subquery) else query
        if not isinstance(inner, exp.Select) or len(inner.expressions) != 1:
            raise NoSketch("a comparison with a set operation")
        one = Scope(inner, self.names)
        found = one.member(place, one.place(inner.expressions[0]), self.outer)
        if len(found) == 1:
            return found[0]
        raise NoSketch("membership under several conditions")

    def member(self, x: Place, y: Place, home: str) -> list[Tokens]:
        """What holds of a row of `home` whose column `x` is among the `y` of this query."""
        tree = self.tree
        if tree.args.get("limit") or tree.args.get("order"):
            raise NoSketch("membership in the first rows")
        if x == y and not self.aggregated:
            found = self.conditions(x[0])
        elif (x, y) in self.names.links and not self.aggregated:
            found = self.conditions(y[0])
        elif ((y, x) in self.names.links or x == y) and x[0] == home:
            found = [self._existing(x, y)]
        else:
            raise NoSketch("membership that does not follow a reference")
        if not found:
            raise NoSketch("membership without a condition")
        return found

    def _existing(self, x: Place, y: Place) -> Tokens:
        made: Tokens = ["exists"]
        if self.aggregated:
            having = self.tree.args.get("having")
            least = having.this if having is not None else None
            count = self.literal(least.expression) if isinstance(least, exp.GTE) else None
            group = self.tree.args.get("group")
            if (
                not isinstance(count, float)
                or not isinstance(least, exp.GTE)
                or not isinstance(least.this, exp.Count)
            ):
                raise NoSketch("membership by an aggregate")
            if group is None or [self.place(each) for each in group.expressions] != [y]:
                raise NoSketch("membership by an aggregate")
            made = ["at_least", Item("number", value=count)]
        self.aggregated, before = False, self.aggregated
        root = y[0] if x != y else self.rooted({*self.aliases.values()})
        if root == x[0]:
            raise NoSketch("membership by an aggregate")
        made.append(Item("table", root))
        for each in self.conditions(root):
            made += ["&", *each]
        self.aggregated = before
        return made

    def literal(self, node: exp.Expr | None) -> str | float | None:
        """Also a text in double quotes, which SQLite takes for one where there is no such column."""
        if isinstance(node, exp.Neg):
            inner = self.literal(node.this)
            return -inner if isinstance(inner, float) else None
        if isinstance(node, exp.Literal):
            return node.name if node.is_string else float(node.name)
        if (
            isinstance(node, exp.Column)
            and not node.table
            and node.this.quoted
            and not self.place_or_none(node)
        ):
            return node.name
        return None


def conjuncts(node: exp.Expr) -> list[exp.Expr]:
    return flat(node, exp.And)


def flat(node: exp.Expr, kind: type[exp.Connector]) -> list[exp.Expr]:
    if isinstance(node, exp.Paren) and isinstance(node.this, kind):
        return flat(node.this, kind)
    if isinstance(node, kind):
        return [*flat(node.left, kind), *flat(node.right, kind)]
    return [node]


def _own_columns(node: exp.Expr) -> list[exp.Column]:
    """Without those of queries inside."""
    outer = node.find_ancestor(exp.Select)
    return [c for c in node.find_all(exp.Column) if c.find_ancestor(exp.Select) is outer]


def _dated(op: str, day: str) -> tuple[tuple[str, Any], ...]:
    if not _ISO.fullmatch(day):
        raise NoSketch("a date that is no day")
    date, one = dt.date.fromisoformat(day), dt.timedelta(days=1)
    window = {
        ">": {"from": (date + one).isoformat()},
        ">=": {"from": day},
        "<": {"to": (date - one).isoformat()},
        "<=": {"to": day},
    }.get(op, {"from": day, "to": day})
    return windows.frozen(window)
