"""An SQL expression over aggregates → the parts of a metric in the plan language.

Invariant: a metric that is returned means what the SQL means, or NotRead is raised with the reason. All aggregates of
a metric are over the rows of one table, its home; columns of tables that the home refers to may stand beside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, cast

from sandtable.catalog.semantics.exchange import sql_tree as sql
from sandtable.catalog.semantics.exchange.sql_tree import NotRead
from sandtable.quoting import quote

Item = dict[str, Any]

_AGGREGATES = {
    "sum": "sum", "avg": "avg", "average": "avg", "mean": "avg", "min": "min", "max": "max", "count": "count",
    "median": "median", "stddev": "stddev", "stddev_samp": "stddev", "corr": "correlation",
    "percentile_cont": "quantile", "quantile_cont": "quantile",
}  # fmt: skip
_DISTINCT = frozenset({"count", "sum", "avg"})
_NUMBERS = frozenset(
    {"double", "double precision", "float", "float8", "float64", "real", "numeric", "decimal"}
)
_MOST_UNFOLDINGS = 50
_FLIPPED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True, slots=True)
class ColumnOf:
    table: str
    column: str


@dataclass(frozen=True, slots=True)
class ReadMetric:
    table: str
    numerator: Item
    denominator: Item | None


@dataclass(frozen=True, slots=True)
class _Part:
    """A side of a metric, or a part of it: its columns are `ColumnOf`, until the home is known."""

    item: Item
    operands: tuple[frozenset[str], ...]
    """The tables of each aggregate; of its operand, or of its conditions where it counts rows."""


Resolve = Callable[[sql.Name], "ColumnOf | sql.Tree"]
"""What a name stands for: a column, or an expression in its place. Raises NotRead."""
Reaches = Callable[[str, str], bool]
"""Whether each row of the first table refers to at most one row of the second."""


def read_metric(
    tree: sql.Tree, resolve: Resolve, reaches: Reaches, home: str | None = None, *, fixed: bool = False
) -> ReadMetric:
    """`home`: the table whose rows `COUNT(*)` counts, where no column says so; with `fixed` whatever its conditions
    are about."""
    reading = _Reading(resolve, fixed)
    tree = _bare(tree)
    match tree:
        case sql.Arithmetic(op="/", left=left, right=right):
            sides = [reading.value(left), reading.value(_divisor(right))]
        case _:
            sides = [reading.value(tree)]
    aggregates = [tables for side in sides for tables in side.operands]
    if not aggregates:
        raise NotRead("it has no aggregate, such as SUM or COUNT")
    if not all(side.operands for side in sides):
        # A ratio with a constant is one side.
        sides = [_Part({"op": "/", "left": sides[0].item, "right": sides[1].item}, tuple(aggregates))]
    found = _home(aggregates, reaches, home)
    _check(found, [tables for side in sides for tables in _tables(side.item)], reaches)
    placed = [cast(Item, _placed(side.item, found)) for side in sides]
    return ReadMetric(found, placed[0], placed[1] if len(placed) == 2 else None)


def _home(aggregates: list[frozenset[str]], reaches: Reaches, default: str | None) -> str:
    """The most detailed table of each aggregate; the same one for all."""
    homes = {_most_detailed(tables, reaches) for tables in aggregates if tables}
    if len(homes) > 1:
        names = " and ".join(quote(name) for name in sorted(homes))
        raise NotRead(f"it aggregates rows of {names}; here a metric is over the rows of one table")
    if homes:
        return next(iter(homes))
    if default is None:
        raise NotRead("it does not say which table's rows are counted")
    return default


def _most_detailed(tables: frozenset[str], reaches: Reaches) -> str:
    found = [table for table in sorted(tables) if all(reaches(table, other) for other in tables - {table})]
    if len(found) != 1:
        raise NotRead(f"no join leads from one of {', '.join(sorted(tables))} to the others")
    return found[0]


def _check(home: str, tables: Iterable[str], reaches: Reaches) -> None:
    for table in tables:
        if table != home and not reaches(home, table):
            raise NotRead(f"no join leads from {quote(home)} to {quote(table)}")


def _tables(value: Any) -> Iterable[str]:
    match value:
        case ColumnOf(table=table):
            yield table
        case dict():
            for each in cast(Item, value).values():
                yield from _tables(each)
        case list():
            for each in cast(list[Any], value):
                yield from _tables(each)
        case _:
            pass


def _placed(value: Any, home: str) -> Any:
    match value:
        case ColumnOf(table=table, column=column):
            return column if table == home else f"{table}.{column}"
        case dict():
            return {key: _placed(each, home) for key, each in cast(Item, value).items()}
        case list():
            return [_placed(each, home) for each in cast(list[Any], value)]
        case _:
            return value


def _bare(tree: sql.Tree) -> sql.Tree:
    """Without a cast to a number that is not rounded: arithmetic here is exact enough."""
    while isinstance(tree, sql.Cast):
        if tree.type not in _NUMBERS:
            raise NotRead(f"a cast to {quote(tree.type)} cannot be computed here")
        tree = tree.part
    return tree


def _divisor(tree: sql.Tree) -> sql.Tree:
    """`NULLIF(x, 0)` is `x`: dividing by zero is empty here."""
    tree = _bare(tree)
    match tree:
        case sql.Call(function="nullif", arguments=(inner, sql.Constant(value=0))):
            return _bare(inner)
        case _:
            return tree


class _Reading:
    def __init__(self, resolve: Resolve, fixed: bool) -> None:
        self._resolve = resolve
        self._fixed = fixed
        self._unfoldings = 0

    def _found(self, name: sql.Name) -> ColumnOf | sql.Tree:
        found = self._resolve(name)
        self._unfoldings += not isinstance(found, ColumnOf)
        if self._unfoldings > _MOST_UNFOLDINGS:
            raise NotRead(f"{quote(name.text)} is defined by itself, or by too many others")
        return found

    def value(self, tree: sql.Tree) -> _Part:
        """Aggregates, and arithmetic over them."""
        tree = _bare(tree)
        match tree:
            case sql.Constant(value=int() | float() as number) if not isinstance(number, bool):
                return _Part({"value": number}, ())
            case sql.Arithmetic(op=op):
                left = self.value(tree.left)
                right = self.value(_divisor(tree.right) if op == "/" else tree.right)
                return _Part(
                    {"op": op, "left": left.item, "right": right.item}, left.operands + right.operands
                )
            case sql.Call(function="safe_divide", arguments=(left, right)):
                return self.value(sql.Arithmetic("/", left, right))
            case sql.Call():
                return self._aggregate(tree)
            case sql.Name():
                found = self._found(tree)
                if isinstance(found, ColumnOf):
                    raise NotRead(f"{quote(tree.text)} stands outside of an aggregate")
                return self.value(found)
            case _:
                raise NotRead("it is not an aggregate, and no arithmetic over aggregates")

    def _aggregate(self, call: sql.Call) -> _Part:
        if call.function in ("count_if", "countif") and len(call.arguments) == 1:
            return self._part({"agg": "count"}, None, [call.arguments[0]])
        agg = _AGGREGATES.get(call.function)
        if agg is None:
            raise NotRead(f"the function {quote(call.function)} cannot be computed here")
        conditions = [] if call.where is None else [call.where]
        if call.distinct and agg not in _DISTINCT:
            raise NotRead(f"DISTINCT in {quote(call.function)} cannot be computed here")
        match call.arguments:
            case (operand,) if agg not in ("correlation", "quantile"):
                return self._over(agg, operand, conditions, call.distinct)
            case (sql.Name() as one, sql.Name() as other) if agg == "correlation":
                return self._part({"agg": agg, "with": self._column(other)}, one, conditions)
            case (sql.Constant(value=int() | float() as q),) if agg == "quantile" and call.ordered_by:
                return self._part({"agg": agg, "q": q}, call.ordered_by, conditions)
            case (operand, sql.Constant(value=int() | float() as q)) if call.function == "quantile_cont":
                return self._part({"agg": agg, "q": q}, operand, conditions)
            case _:
                raise NotRead(f"these arguments of {quote(call.function)} are not read")

    def _over(self, agg: str, operand: sql.Tree, conditions: list[sql.Tree], distinct: bool) -> _Part:
        """One argument: rows, a column, an expression, or one of these where a condition holds."""
        operand = self._unfolded(operand)
        match operand:
            case sql.Case(branches=((condition, then),), otherwise=otherwise):
                return self._conditional(agg, then, otherwise, [*conditions, condition], distinct, conditions)
            case sql.Case():
                raise NotRead("a CASE with several branches cannot be computed here")
            case sql.Star() if agg == "count" and not distinct:
                return self._part({"agg": "count"}, None, conditions)
            case sql.Constant(value=value) if not distinct and (
                (agg == "count" and value is not None) or (agg == "sum" and value == 1)
            ):
                return self._part({"agg": "count"}, None, conditions)
            case sql.Constant() | sql.Star():
                raise NotRead(f"{agg.upper()} of a constant cannot be computed here")
            case _:
                pass
        if agg == "count" and distinct:
            return self._part({"agg": "count_distinct"}, operand, conditions)
        return self._part({"agg": agg, **({"distinct": True} if distinct else {})}, operand, conditions)

    def _conditional(
        self,
        agg: str,
        then: sql.Tree,
        otherwise: sql.Tree | None,
        conditions: list[sql.Tree],
        distinct: bool,
        outside: list[sql.Tree],
    ) -> _Part:
        match otherwise:
            case None | sql.Constant(value=None):
                return self._over(agg, then, conditions, distinct)
            case sql.Constant(value=0) if agg == "sum" and not distinct:
                return self._over(agg, then, conditions, distinct)
            case sql.Constant(value=0) if agg == "avg" and then == sql.Constant(1) and not distinct:
                held = self._over("count", then, conditions, False)
                whole = self._over("count", sql.Star(), outside, False)
                return _Part({"op": "/", "left": held.item, "right": whole.item}, held.operands)
            case _:
                raise NotRead(f"this ELSE in {agg.upper()} of a CASE cannot be computed here")

    def _unfolded(self, tree: sql.Tree) -> sql.Tree:
        """What a name of an expression stands for."""
        tree = _bare(tree)
        while isinstance(tree, sql.Name):
            found = self._found(tree)
            if isinstance(found, ColumnOf):
                return tree
            tree = _bare(found)
        return tree

    def _part(self, item: Item, operand: sql.Tree | None, conditions: list[sql.Tree]) -> _Part:
        tables: frozenset[str] = frozenset()
        if operand is not None:
            row = self._row(operand)
            tables = frozenset(_tables(row))
            item = {"agg": item["agg"], **(row if set(row) == {"column"} else {"of": row}), **item}
        if conditions:
            # All that must hold, in one list.
            where = [one for each in conditions for one in _all_of(self._condition(each))]
            item = {**item, "where": where}
            tables = tables or frozenset(() if self._fixed else _tables(where))
        return _Part(item, (tables,))

    def _row(self, tree: sql.Tree) -> Item:
        tree = self._unfolded(tree)
        match tree:
            case sql.Name():
                return {"column": self._column(tree)}
            case sql.Constant(value=int() | float() as number) if not isinstance(number, bool):
                return {"value": number}
            case sql.Arithmetic(op=op):
                right = _divisor(tree.right) if op == "/" else tree.right
                return {"op": op, "left": self._row(tree.left), "right": self._row(right)}
            case sql.Compared() | sql.Joined() | sql.Not():
                return {"holds": _all_of(self._condition(tree))}
            case sql.Call(function=function):
                inside = "an aggregate inside another one" if function in _AGGREGATES else "the function"
                raise NotRead(f"{inside} {quote(function)} cannot be computed here")
            case sql.Case():
                raise NotRead("a CASE inside arithmetic cannot be computed here")
            case _:
                raise NotRead("a text stands where a number is needed")

    def _column(self, name: sql.Name) -> ColumnOf:
        found = self._found(name)
        if not isinstance(found, ColumnOf):
            if isinstance(found, sql.Name):
                return self._column(found)
            raise NotRead(f"{quote(name.text)} is an expression where a column is needed")
        return found

    def _condition(self, tree: sql.Tree) -> Item:
        if isinstance(tree, sql.Name):
            tree = self._unfolded(tree)
        match tree:
            case sql.Name():
                return {"column": self._column(tree), "op": "=", "value": True}
            case sql.Joined(word=word, parts=parts):
                return {"all" if word == "and" else "any": [self._condition(part) for part in parts]}
            case sql.Not(part=sql.Compared(op="in") as listed):
                return {**self._compared(listed), "op": "not_in"}
            case sql.Not(part=part):
                return {"not": self._condition(part)}
            case sql.Compared():
                return self._compared(tree)
            case _:
                raise NotRead("a condition is not a comparison")

    def _compared(self, tree: sql.Compared) -> Item:
        left, right, op = tree.left, tree.right, tree.op
        if isinstance(left, sql.Constant) and len(right) == 1 and op in _FLIPPED:
            left, right, op = right[0], (left,), _FLIPPED[op]
        side = self._row(left)
        if op in ("is_null", "not_null"):
            return {**_side(side), "op": op}
        if op in ("like", "ilike"):
            return self._matched(op, side, right[0])
        if op in ("in", "between"):
            return {**_side(side), "op": op, "value": [_constant(each) for each in right]}
        if isinstance(right[0], sql.Constant):
            return {**_side(side), "op": op, "value": _constant(right[0])}
        other = self._row(right[0])
        if set(side) == set(other) == {"column"}:
            return {"column": side["column"], "op": op, "other_column": other["column"]}
        return {**_side(side), "op": op, "than": other}

    def _matched(self, op: str, side: Item, pattern: sql.Tree) -> Item:
        if op == "like":
            raise NotRead("LIKE distinguishes case, which text search here does not")
        text = _constant(pattern)
        inner = text.strip("%") if isinstance(text, str) else ""
        if not isinstance(text, str) or not inner or any(mark in inner for mark in "%_\\"):
            raise NotRead("this pattern of ILIKE cannot be computed here")
        ops = {(True, True): "contains", (False, True): "startswith", (True, False): "endswith"}
        found = ops.get((text.startswith("%"), text.endswith("%")))
        if found is None:
            raise NotRead("ILIKE without `%` cannot be computed here")
        return {**_side(side), "op": found, "value": inner}


def _side(row: Item) -> Item:
    return row if set(row) == {"column"} else {"of": row}


def _all_of(condition: Item) -> list[Item]:
    return condition["all"] if set(condition) == {"all"} else [condition]


def _constant(tree: sql.Tree) -> str | int | float | bool:
    tree = tree.part if isinstance(tree, sql.Cast) else tree
    if not isinstance(tree, sql.Constant):
        raise NotRead("a condition compares with more than a value or a column")
    if tree.value is None:
        raise NotRead("a comparison with NULL holds for no row")
    return tree.value
