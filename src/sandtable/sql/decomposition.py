"""`why` → two steps: what was measured in each period by dimension and member, and what each contributed.

Invariant: the contributions of a dimension add up to the change of the whole. For a sum that is plain; a ratio is a
weighted mean of the members' rates, and (r1 - r0)(w0 + w1)/2 + (w1 - w0)((r0 + r1)/2 - R) adds up to it for any R,
because the weights of each period add up to 1. R is the mean of both ratios: a member whose rate is that of the whole
then has no mix effect.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from sandtable.engines import nodes as w
from sandtable.engines.spelling import Operand
from sandtable.plan.aggregating import restricted
from sandtable.plan.decomposing import ALL
from sandtable.plan.resolved import Condition, Decomposition, Expr, ResolvedPlan, Some
from sandtable.sql.conditions import predicate
from sandtable.sql.expressions import ExpressionWriter

_PERIODS = ("before", "after")


def decomposed(
    plan: ResolvedPlan, made: Decomposition, writer: ExpressionWriter, periods: str
) -> tuple[exp.Select, exp.Select]:
    """The step that measures, without its joins, and the step that compares; `periods` is the name of the first."""
    writer = replace(writer, names={})
    first = exp.Select().from_(w.table(plan.table), copy=False)
    for node, name in _labels(made, writer):
        first = first.select(exp.alias_(node, w.name(name), copy=False), copy=False)
    for period, condition in zip(_PERIODS, (made.before, made.after), strict=True):
        for part, expr in (("number", made.number), ("base", made.base)):
            if expr is not None:
                node = _measured(expr, condition, writer)
                first = first.select(exp.alias_(node, w.name(f"{part}_{period}"), copy=False), copy=False)
    conditions = [Some((made.before, made.after)), *([plan.where] if plan.where is not None else [])]
    for condition in conditions:
        first = first.where(predicate(writer, condition), copy=False)
    sets: list[exp.Expr] = [exp.Tuple(expressions=[])]
    sets += [exp.Tuple(expressions=[writer.write(ref)]) for _, ref in made.dimensions]
    first.set("group", exp.Group(grouping_sets=[exp.GroupingSets(expressions=sets)]))
    return first, _ratio(periods, writer) if made.base is not None else _amount(periods, writer)


def _labels(made: Decomposition, writer: ExpressionWriter) -> list[tuple[exp.Expr, str]]:
    """Which dimension a row is about, and which member of it."""
    names: list[exp.Expr] = []
    members: list[exp.Expr] = []
    for text, ref in made.dimensions:
        grouped = exp.EQ(this=w.function("GROUPING", writer.write(ref)), expression=w.number(0))
        member = writer.spelling.as_text(Operand(writer.by_the_clock(ref), lambda ref=ref: writer.types(ref)))
        names.append(exp.If(this=grouped, true=writer.spelling.label(text)))
        members.append(exp.If(this=grouped.copy(), true=member))
    whole = writer.spelling.label(ALL)
    return [
        (exp.Case(ifs=names, default=whole), "dimension"),
        (exp.Case(ifs=members, default=whole.copy()), "member"),
    ]


def _measured(expr: Expr, condition: Condition, writer: ExpressionWriter) -> exp.Expr:
    return w.function("COALESCE", writer.write(restricted(expr, condition)), w.number(0))


def _amount(periods: str, writer: ExpressionWriter) -> exp.Select:
    contribution = exp.Sub(this=w.column("number_after"), expression=w.column("number_before"))
    whole = _over_dimension(contribution.copy())
    return _selected(
        periods,
        {
            "before": w.column("number_before"),
            "after": w.column("number_after"),
            "contribution": contribution,
            "share_of_change": writer.spelling.quotient(contribution.copy(), whole),
        },
    )


def _ratio(periods: str, writer: ExpressionWriter) -> exp.Select:
    """Rates and weights first, in a step inside, then the effects."""
    inner: dict[str, exp.Expr] = {}
    for period in _PERIODS:
        number, base = f"number_{period}", f"base_{period}"
        inner[period] = writer.spelling.quotient(w.column(number), w.column(base))
        inner[f"weight_{period}"] = writer.spelling.quotient(w.column(base), _over_dimension(w.column(base)))
        inner[f"whole_{period}"] = writer.spelling.quotient(
            _over_dimension(w.column(number)), _over_dimension(w.column(base))
        )
    rates = _selected(periods, inner)

    def known(period: str, other: str) -> exp.Expr:
        # A member that is absent in one period gets its rate of the other, so that its whole effect is mix.
        return w.function("COALESCE", w.column(period), w.column(other), w.number(0))

    later, earlier = known("after", "before"), known("before", "after")
    weights = [w.column(f"weight_{period}") for period in _PERIODS]
    wholes = [w.column(f"whole_{period}") for period in _PERIODS]
    rate = _half(_times(_minus(later, earlier), _plus(*weights)))
    middle = _minus(_half(_plus(later, earlier)), _half(_plus(*wholes)))
    mix = _times(_minus(weights[1], weights[0]), middle)
    change = _minus(wholes[1], wholes[0])
    return _selected(
        exp.Subquery(this=rates, alias=exp.TableAlias(this=w.name("rates"))),
        {
            "before": w.column("before"),
            "after": w.column("after"),
            "contribution": _plus(rate, mix),
            "rate_effect": rate.copy(),
            "mix_effect": mix.copy(),
            "share_of_change": writer.spelling.quotient(_plus(rate, mix), change),
        },
    )


def _selected(source: str | exp.Expr, columns: dict[str, exp.Expr]) -> exp.Select:
    query = exp.Select().from_(w.table(source) if isinstance(source, str) else source, copy=False)
    for name in ("dimension", "member"):
        query = query.select(w.column(name), copy=False)
    for name, node in columns.items():
        plain = isinstance(node, exp.Column) and node.name == name
        query = query.select(node if plain else exp.alias_(node, w.name(name), copy=False), copy=False)
    return query


def _over_dimension(node: exp.Expr) -> exp.Expr:
    return exp.Window(this=w.function("SUM", node), partition_by=[w.column("dimension")], over="OVER")


def _plus(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return exp.Add(this=w.grouped(left.copy()), expression=w.grouped(right.copy()))


def _minus(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return exp.Sub(this=w.grouped(left.copy()), expression=w.grouped(right.copy()))


def _times(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return exp.Mul(this=w.grouped(left.copy()), expression=w.grouped(right.copy()))


def _half(node: exp.Expr) -> exp.Expr:
    return exp.Div(this=w.grouped(node.copy()), expression=w.number(2))
