"""A metric of the plan language → an SQL expression over aggregates, as `metric_reading` reads it.

Invariant: reading what was written gives the same parts. What has no plain SQL form raises NotWritten.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from sandtable.catalog.semantics.model import MetricSemantics
from sandtable.quoting import quote

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FUNCTIONS = {
    "sum": "SUM", "avg": "AVG", "min": "MIN", "max": "MAX", "count": "COUNT", "count_distinct": "COUNT",
    "median": "MEDIAN", "stddev": "STDDEV_SAMP", "correlation": "CORR", "quantile": "PERCENTILE_CONT",
}  # fmt: skip
_COMPARISONS = {"=": "=", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_AGG_FIELDS = frozenset({"agg", "column", "of", "where", "q", "distinct", "with", "as"})
Item = dict[str, Any]


class NotWritten(Exception):
    """The reason, in words."""


def metric_sql(metric: MetricSemantics, names: Mapping[str, str]) -> str:
    """`names`: what tables are called in the expression; others by their own name."""
    writing = _Writing(metric.table, names)
    top = writing.value(metric.numerator)
    return top if metric.denominator is None else _ratio(top, writing.value(metric.denominator))


def column_sql(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else '"' + name.replace('"', '""') + '"'


def _ratio(left: str, right: str) -> str:
    """The cast keeps engines that divide whole numbers from rounding."""
    return f"CAST({left} AS DOUBLE PRECISION) / NULLIF({right}, 0)"


class _Writing:
    def __init__(self, home: str, names: Mapping[str, str]) -> None:
        self._home = home
        self._names = names

    def value(self, item: Item) -> str:
        if "agg" in item:
            return self._aggregate(item)
        return self._arithmetic(item, self.value)

    def _arithmetic(self, item: Item, side: Any) -> str:
        if set(item) == {"value"} and type(item["value"]) in (int, float):
            return repr(item["value"])
        if set(item) - {"as"} != {"op", "left", "right"}:
            raise NotWritten(f"{quote(', '.join(sorted(item)))} has no SQL form here")
        left, right = side(item["left"]), side(item["right"])
        return f"({_ratio(left, right)})" if item["op"] == "/" else f"({left} {item['op']} {right})"

    def _aggregate(self, item: Item) -> str:
        odd = set(item) - _AGG_FIELDS
        agg = item["agg"]
        if odd or agg not in _FUNCTIONS:
            raise NotWritten(f"{quote(', '.join(sorted(odd)) or str(agg))} has no SQL form here")
        operand = self._operand(item)
        if where := item.get("where"):
            held = " AND ".join(self._inside(each) for each in where)
            operand = f"CASE WHEN {held} THEN {operand or '1'} END"
        name = _FUNCTIONS[agg]
        if agg == "quantile":
            return f"PERCENTILE_CONT({item['q']!r}) WITHIN GROUP (ORDER BY {operand})"
        if agg == "correlation":
            if where:
                raise NotWritten("a correlation with conditions has no SQL form here")
            return f"CORR({operand}, {self._column(item['with'])})"
        distinct = "DISTINCT " if agg == "count_distinct" or item.get("distinct") else ""
        return f"{name}({distinct}{operand or '*'})"

    def _operand(self, item: Item) -> str:
        if "of" in item:
            return self._row(item["of"])
        column = item.get("column", "*")
        return "" if column == "*" else self._column(column)

    def _row(self, item: Item) -> str:
        if set(item) - {"as"} == {"column"}:
            return self._column(item["column"])
        return self._arithmetic(item, self._row)

    def _column(self, name: str) -> str:
        table, dot, column = name.rpartition(".")
        table = table if dot else self._home
        return f"{column_sql(self._names.get(table, table))}.{column_sql(column)}"

    def _inside(self, condition: Item) -> str:
        """In parentheses where it stands beside others."""
        found = self._condition(condition)
        return f"({found})" if set(condition) & {"any", "all"} else found

    def _condition(self, condition: Item) -> str:
        match condition:
            case {"any": parts, **rest} if not rest:
                return " OR ".join(self._inside(each) for each in cast(list[Item], parts))
            case {"all": parts, **rest} if not rest:
                return " AND ".join(self._inside(each) for each in cast(list[Item], parts))
            case {"not": part, **rest} if not rest:
                return f"NOT ({self._condition(cast(Item, part))})"
            case {"op": str() as op}:
                return self._compared(condition, op)
            case _:
                raise NotWritten(
                    f"a condition with {quote(', '.join(sorted(condition)))} has no SQL form here"
                )

    def _compared(self, condition: Item, op: str) -> str:
        left = self._row(condition["of"]) if "of" in condition else self._column(condition["column"])
        if op in ("is_null", "not_null"):
            return f"{left} IS {'NOT ' if op == 'not_null' else ''}NULL"
        value = condition.get("value")
        match op:
            case "in" | "not_in":
                listed = ", ".join(_constant(each) for each in cast(list[Any], value))
                return f"{left} {'NOT ' if op == 'not_in' else ''}IN ({listed})"
            case "between":
                low, high = cast(list[Any], value)
                return f"{left} BETWEEN {_constant(low)} AND {_constant(high)}"
            case _ if op not in _COMPARISONS:
                raise NotWritten(f"the condition {quote(op)} has no portable SQL form")
            case _:
                pass
        if "other_column" in condition:
            right = self._column(condition["other_column"])
        else:
            right = self._row(condition["than"]) if "than" in condition else _constant(value)
        return f"{left} {_COMPARISONS[op]} {right}"


def _constant(value: Any) -> str:
    match value:
        case bool():
            return "TRUE" if value else "FALSE"
        case int() | float():
            return repr(value)
        case _:
            return "'" + str(value).replace("'", "''") + "'"
