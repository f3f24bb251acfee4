"""Aggregates as values of each row, for engines that cannot compute them over a window.

The rows get the number of their group, each group gets its aggregate, and both are joined by that number: joining by
the groups' own values would not be a plain equality, for null is one of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sandtable.engines import nodes as w
from sandtable.engines.spelling import Spelling
from sandtable.plan.resolved import Aggregate, Expr, Whole
from sandtable.plan.walking import walk, wholes
from sandtable.sql.expressions import ExpressionWriter

Step = tuple[str, exp.Select]
_NEVER_OVER_WINDOWS = frozenset({"count_distinct", "median", "quantile"})


@dataclass(frozen=True, slots=True)
class Spread:
    steps: tuple[Step, ...]
    query: exp.Select
    """Reads the rows with their aggregates; its columns are yet to be chosen."""
    names: Mapping[Expr, str]
    """The column of each aggregate."""


def not_over_windows(spelling: Spelling, node: object) -> tuple[Whole, ...]:
    """The aggregates of each row that the engine cannot compute over a window."""
    if spelling.windows_any:
        return ()
    return tuple(whole for whole in wholes(node) if any(map(_is_hard, walk(whole.aggregate))))


def _is_hard(part: object) -> bool:
    return isinstance(part, Aggregate) and (part.distinct or part.function in _NEVER_OVER_WINDOWS)


def spread(
    source: str, columns: Sequence[str], found: Sequence[Whole], writer: ExpressionWriter, taken: set[str]
) -> Spread:
    """`source` is a step with these columns, `writer` writes by their names; `taken` are the names of other steps."""
    groups = list(dict.fromkeys(whole.within for whole in found))
    used = {name.lower() for name in columns}
    numbers = {within: free_name("group", used) for within in groups if within}
    names: dict[Expr, str] = {whole: free_name("whole", used) for whole in found}
    steps: list[Step] = []
    if numbers:
        query = selecting(source, columns)
        for within, number in numbers.items():
            order = exp.Order(expressions=[exp.Ordered(this=writer.write(key)) for key in within])
            rank = exp.Window(this=w.function("DENSE_RANK"), order=order, over="OVER")
            query = query.select(exp.alias_(rank, w.name(number), copy=False), copy=False)
        source = free_name("numbered", taken)
        steps.append((source, query))
    query = exp.Select().from_(w.table(source), copy=False)
    for within in groups:
        name = free_name("spread", taken)
        steps.append((name, _grouped(source, numbers.get(within), within, names, writer)))
        query.append("joins", _join(source, name, numbers.get(within)))
    return Spread(tuple(steps), query, names)


def _grouped(
    source: str,
    number: str | None,
    within: tuple[Expr, ...],
    names: Mapping[Expr, str],
    writer: ExpressionWriter,
) -> exp.Select:
    query = exp.Select().from_(w.table(source), copy=False)
    if number is not None:
        query = query.select(w.column(number), copy=False).group_by(w.column(number), copy=False)
    for whole, name in names.items():
        if isinstance(whole, Whole) and whole.within == within:
            node = writer.write(whole.aggregate)
            query = query.select(exp.alias_(node, w.name(name), copy=False), copy=False)
    return query


def _join(source: str, name: str, number: str | None) -> exp.Join:
    if number is None:
        return exp.Join(this=w.table(name), kind="CROSS")
    match = exp.EQ(this=w.column(number, source), expression=w.column(number, name))
    return exp.Join(this=w.table(name), side="LEFT", on=match)


def selecting(source: str, names: Sequence[str]) -> exp.Select:
    query = exp.Select().from_(w.table(source), copy=False)
    for name in names:
        query = query.select(w.column(name), copy=False)
    return query


def free_name(wanted: str, taken: set[str]) -> str:
    """The name, or one with a number after it; it is taken from then on."""
    name, count = wanted, 1
    while name.lower() in taken:
        count += 1
        name = f"{wanted}_{count}"
    taken.add(name.lower())
    return name
