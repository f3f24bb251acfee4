"""SQL of one SELECT, or of two set against each other, as a sketch. `NoSketch` says why there is none."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from sandtable.planner.candidates.network.sketch import Item, Token
from training.reader.spider_names import Names, NoSketch, Place
from training.reader.spider_sql import Scope, Tokens, conjuncts

_AGGREGATES: dict[type[exp.Expr], str] = {exp.Sum: "sum", exp.Avg: "avg", exp.Min: "min", exp.Max: "max"}
_OPS: dict[type[exp.Expr], str] = {exp.EQ: "==", exp.GT: ">", exp.GTE: ">=", exp.LT: "<", exp.LTE: "<="}
_OF_COLUMNS: dict[type[exp.Expr], str] = {
    exp.Sub: "less",
    exp.Add: "added",
    exp.Div: "over",
    exp.Mul: "times",
}
_OF_MEASURES: dict[type[exp.Expr], str] = {exp.Sub: "minus", exp.Add: "plus", exp.Div: "per"}


def sketch_of(tree: exp.Expr, names: Names, *, keyed: bool = False) -> tuple[Token, ...]:
    """With `keyed`, keys of groups that SQL does not show are shown, though what is shown of their rows names them."""
    if isinstance(tree, exp.Select):
        return _Outputs(Scope(tree, names), keyed=keyed).sketch()
    if isinstance(tree, exp.SetOperation):
        return _set(tree, names)
    raise NoSketch("not a query")


def _set(tree: exp.SetOperation, names: Names) -> tuple[Token, ...]:
    left, right = tree.left, tree.right
    if not isinstance(left, exp.Select) or not isinstance(right, exp.Select) or tree.args.get("order"):
        raise NoSketch("several set operations")
    one, other = Scope(left, names), Scope(right, names)
    if one.aggregated or len(left.expressions) != len(right.expressions):
        raise NoSketch("a set operation of aggregates")
    home = one.home()
    x, y = one.place(left.expressions[0]), other.place(right.expressions[0])
    if isinstance(tree, exp.Union):
        if x != y or other.aggregated:
            raise NoSketch("a union of different columns")
        both = [one.conditions(home), other.conditions(home)]
        if any(len(each) != 1 for each in both) or one.superlative or other.superlative:
            raise NoSketch("a union of several conditions")
        return _Outputs(one).sketch([["either", *both[0][0], "or", *both[1][0]]], only=True)
    found = other.member(x, y, home)
    if isinstance(tree, exp.Except):
        if len(found) != 1:
            raise NoSketch("a difference of several conditions")
        found = [["not", *found[0]]]
    return _Outputs(one).sketch(found)


@dataclass(slots=True)
class _Outputs:
    scope: Scope
    keyed: bool = False
    items: list[Tokens] = field(default_factory=list[Tokens])
    order: Tokens = field(default_factory=list[Token])

    def sketch(self, more: list[Tokens] | None = None, *, only: bool = False) -> tuple[Token, ...]:
        """With further conditions, or with only these."""
        scope, tree = self.scope, self.scope.tree
        home = scope.home()
        conditions = [] if only else scope.conditions(home)
        conditions += more or []
        self.items = [self.item(each) for each in tree.expressions]
        self._groups()
        having = self._having()
        self._order()
        limit = self._limit()
        if len(self.items) > 8:
            raise NoSketch("more than eight outputs")
        made: Tokens = [Item("table", home)]
        for each in self.items:
            made += each
        made += self._conditions(home, conditions)
        made += [*having, *self.order, *limit, "end"]
        return tuple(made)

    def _conditions(self, home: str, conditions: list[Tokens]) -> Tokens:
        """Where, and time: of two ends of one column the window between them."""
        wheres: Tokens = []
        times: dict[Item, Item] = {}
        for each in conditions:
            column, window = each[-1], each[1] if len(each) > 1 else None
            dated = each[0] == "when" and isinstance(column, Item) and isinstance(window, Item)
            if not dated or not isinstance(column, Item) or not isinstance(window, Item):
                wheres += ["where", *each]
            elif column not in times:
                times[column] = window
            else:
                both = dict((*times[column].value, *window.value))
                if len(both) != len(times[column].value) + len(window.value):
                    raise NoSketch("two windows of one column")
                times[column] = Item("window", value=tuple(sorted(both.items())))
        made: Tokens = []
        table = self.scope.names.dataset.table(home)
        for number, (column, window) in enumerate(times.items()):
            if number:
                wheres += ["where", "when", window, "on", column]
            elif table is not None and column == Item("column", home, table.time_column or ""):
                made = ["time", window]
            else:
                made = ["time", window, "on", column]
        return [*wheres, *made]

    def item(self, node: exp.Expr) -> Tokens:
        if isinstance(node, exp.Alias | exp.Paren):
            return self.item(node.this)
        if isinstance(node, exp.Star) or (isinstance(node, exp.Column) and isinstance(node.this, exp.Star)):
            if len(self.scope.aliases) > 1 and not isinstance(node, exp.Column):
                raise NoSketch("all columns of several tables")
            if len(self.scope.tree.expressions) > 1 or self.scope.aggregated:
                raise NoSketch("all columns beside others")
            return ["rows"]
        if isinstance(node, exp.Column):
            return [self.scope.names.item(self.scope.place(node))]
        if type(node) in _OF_MEASURES and isinstance(node, exp.Binary):
            return [_OF_MEASURES[type(node)], *self.measure(node.left), *self.measure(node.right)]
        return self.measure(node)

    def measure(self, node: exp.Expr) -> Tokens:
        if isinstance(node, exp.Count):
            return self._count(node)
        word = _AGGREGATES.get(type(node))
        if word is None:
            raise NoSketch("an expression that is no measure")
        of = node.this.this if isinstance(node.this, exp.Paren) else node.this
        if type(of) in _OF_COLUMNS and isinstance(of, exp.Binary):
            left, right = self.scope.place(of.left), self.scope.place(of.right)
            return [word, _OF_COLUMNS[type(of)], self.scope.names.item(left), self.scope.names.item(right)]
        return [word, self.scope.names.item(self.scope.place(of))]

    def _count(self, node: exp.Count) -> Tokens:
        if not isinstance(node.this, exp.Distinct):
            return ["count"]
        (column,) = node.this.expressions
        place = self.scope.place(column)
        if place[0] == self.scope.home() and self._is_key(place):
            return ["count"]
        return ["distinct", self.scope.names.item(place)]

    def _is_key(self, place: Place) -> bool:
        names = self.scope.names
        return any(to == place for _, to in names.links) and all(src != place for src, _ in names.links)

    def _groups(self) -> None:
        """Keys that are not shown: known by what is shown of their table, else they are shown too."""
        group = self.scope.tree.args.get("group")
        keys = [self.scope.place(each) for each in group.expressions] if group else []
        columns = [each[0] for each in self.items if isinstance(each[0], Item)]
        if not keys and self.scope.aggregated and columns:
            self._at_the_end()
            return
        shown = {column.table for column in columns}
        hidden = [key for key in keys if self.scope.names.item(key) not in columns]
        added = [key for key in hidden if self.keyed or key[0] not in shown]
        self.items[:0] = [[self.scope.names.item(key)] for key in added]

    def _at_the_end(self) -> None:
        """`SELECT name, max(age)` without groups: SQLite gives the name of the row with that age."""
        measures = [each for each in self.items if not isinstance(each[0], Item)]
        if len(measures) != 1 or measures[0][0] not in {"min", "max"} or len(measures[0]) != 2:
            raise NoSketch("columns beside aggregates without groups")
        place = self.items.index(measures[0])
        self.order = ["desc" if measures[0][0] == "max" else "asc", f"#{place + 1}"]
        self.items[place] = [measures[0][1]]
        self.scope.aggregated = False

    def _having(self) -> Tokens:
        having = self.scope.tree.args.get("having")
        made: Tokens = []
        for node in conjuncts(having.this) if having is not None else []:
            word = _OPS.get(type(node))
            value = self.scope.literal(node.args.get("expression"))
            if word is None or not isinstance(value, float):
                raise NoSketch("a condition on groups of another kind")
            made += ["having", word, self._reference(self.measure(node.this)), Item("number", value=value)]
        return made

    def _reference(self, item: Tokens) -> str:
        if item not in self.items:
            self.items.append(item)
        return f"#{self.items.index(item) + 1}"

    def _order(self) -> None:
        tree = self.scope.tree
        ordered = tree.args.get("order")
        if ordered is not None and (self.order or self.scope.superlative):
            raise NoSketch("an order beside a superlative")
        self.order += self.scope.superlative
        named = {each.alias.lower(): each.this for each in tree.expressions if isinstance(each, exp.Alias)}
        keys: list[exp.Expr] = ordered.expressions if ordered is not None else []
        for key in keys:
            direction = "desc" if key.args.get("desc") else "asc"
            node = (
                named.get(key.this.name.lower(), key.this) if isinstance(key.this, exp.Column) else key.this
            )
            item = self.item(node)
            if isinstance(item[0], Item) and item not in self.items and not self.scope.aggregated:
                self.order += [direction, item[0]]
            elif isinstance(item[0], Item) and item not in self.items:
                raise NoSketch("an order by what is not shown")
            else:
                self.order += [direction, self._reference(item)]

    def _limit(self) -> Tokens:
        limit = self.scope.tree.args.get("limit")
        if limit is None:
            superlative = self.scope.superlative or (self.order and not self.scope.tree.args.get("order"))
            return ["limit", Item("number", value=1.0)] if superlative else []
        count = self.scope.literal(limit.expression)
        if not isinstance(count, float) or not self.order:
            raise NoSketch("the first rows of no order")
        if self.scope.aggregated and self.scope.tree.args.get("group") is None:
            raise NoSketch("the first rows of one total")
        return ["limit", Item("number", value=count)]
