"""Conditions for any catalog: what a plan over a table may name, and filters and windows over that."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from sandtable.catalog.model import Column, ColumnType, Dataset, Table

Json = dict[str, Any]

NUMBERS = {ColumnType.INTEGER, ColumnType.DECIMAL, ColumnType.FLOAT}
MOMENTS = {ColumnType.DATE, ColumnType.TIMESTAMP}

_HOSTILE = st.sampled_from(
    [
        "", "'", "''", "'; DROP TABLE orders; --", "%", "_", "\\", "100%_\\%", '"', "$$", "/* */", "--", "\n",
        "\x00", "\u200b", "\u202e", "é", "🎁", "{{ x }}", "__SQLGLOT__LB__", "E'\\n'", "?", "$1", ":a", "\t",
        "\ufeff", "\u00a0", "x" * 300,
    ]
)  # fmt: skip
TEXTS = st.one_of(
    _HOSTILE,
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    st.lists(_HOSTILE, max_size=3).map("".join),
)
_DATES = st.dates().map(lambda d: d.isoformat())
_STAMPS = st.datetimes().map(lambda d: d.isoformat(sep="T", timespec="seconds"))


def values(type_: ColumnType) -> st.SearchStrategy[Any]:
    """JSON values that compare with a column of that type."""
    match type_:
        case ColumnType.INTEGER:
            return st.integers(-(2**31), 2**31 - 1)
        case ColumnType.DECIMAL | ColumnType.FLOAT:
            return st.one_of(st.integers(-1000, 1000), st.floats(allow_nan=False, allow_infinity=False))
        case ColumnType.BOOLEAN:
            return st.booleans()
        case ColumnType.DATE | ColumnType.TIMESTAMP:
            return st.one_of(_DATES, _STAMPS)
        case ColumnType.TIME:
            return st.times().map(lambda t: t.isoformat(timespec="seconds"))
        case _:
            return TEXTS


class Visible:
    """What a plan over `table` may name: own columns, and those along many-to-one relationships."""

    def __init__(self, dataset: Dataset, table: Table) -> None:
        self.columns: dict[str, Column] = {c.name: c for c in table.columns}
        for other in _reachable(dataset, table):
            self.columns |= {f"{other.name}.{c.name}": c for c in other.columns}
        self.metrics = [m.name for m in dataset.metrics if m.table.lower() == table.name.lower()]
        self.has_time = table.time_column is not None
        self._dataset = dataset
        self.related = _referring(dataset, table)

    def from_other(self, name: str) -> Visible:
        """What a condition on the rows of another table may name."""
        other = self._dataset.table(name)
        assert other is not None
        return Visible(self._dataset, other)

    def of(self, *types: ColumnType) -> list[str]:
        return [name for name, column in self.columns.items() if not types or column.type in types]


def _referring(dataset: Dataset, table: Table) -> list[Json]:
    """Tables that refer to this one, each with the column that does where several do."""
    direct = [r for r in dataset.relationships if r.one_table.lower() == table.name.lower()]
    names = [r.many_table for r in direct]
    return [
        {"table": r.many_table, **({"via": r.many_column} if names.count(r.many_table) > 1 else {})}
        for r in direct
    ]


def _reachable(dataset: Dataset, table: Table) -> list[Table]:
    """Tables with exactly one way to them, so that naming them is never ambiguous."""
    ways: dict[str, int] = {table.name: 1}
    frontier = [table.name]
    while frontier:
        step: dict[str, int] = {}
        for r in dataset.relationships:
            if r.many_table in frontier and r.one_table not in ways:
                step[r.one_table] = step.get(r.one_table, 0) + ways[r.many_table]
        ways |= step
        frontier = list(step)
    return [t for t in dataset.tables if ways.get(t.name) == 1 and t.name != table.name]


@st.composite
def filters(draw: st.DrawFn, visible: Visible, depth: int = 2) -> Json:
    if depth and draw(st.integers(0, 3)) == 0:
        kind = draw(st.sampled_from(["any", "all", "not"]))
        if kind == "not":
            return {"not": draw(filters(visible, depth - 1))}
        return {kind: draw(st.lists(filters(visible, depth - 1), min_size=1, max_size=3))}
    kind = draw(st.integers(0, 6))
    if kind == 2 and depth and visible.related:
        return draw(lookups(visible, depth - 1))
    if kind == 0 and visible.of(*MOMENTS):
        return {"time": draw(windows(visible))}
    if kind == 1 and visible.of(*NUMBERS):
        return draw(relations(visible))
    name = draw(st.sampled_from(visible.of()))
    return draw(leaf(name, visible.columns[name].type))


@st.composite
def lookups(draw: st.DrawFn, visible: Visible, depth: int) -> Json:
    """Whether another table has rows for a row."""
    rows = dict(draw(st.sampled_from(visible.related)))
    if draw(st.booleans()):
        rows["where"] = draw(st.lists(filters(visible.from_other(rows["table"]), depth), max_size=2))
    if draw(st.booleans()):
        rows["at_least"] = draw(st.integers(1, 3))
    return {"exists": rows}


@st.composite
def relations(draw: st.DrawFn, visible: Visible) -> Json:
    """A number against a number: arithmetic, elapsed time, or an aggregate of the whole or of the row's group."""
    column = st.sampled_from(visible.of(*NUMBERS)).map(lambda name: {"column": name})
    sides = [column, wholes(visible), st.integers(-5, 5).map(lambda number: {"value": number})]
    if visible.of(*MOMENTS):
        sides.append(spans(visible))
    left, right = draw(st.one_of(sides[:2])), draw(st.one_of(sides))
    if draw(st.booleans()):
        right = {"op": draw(st.sampled_from("+-*/")), "left": right, "right": {"value": 1.5}}
    return {"of": left, "op": draw(st.sampled_from(["=", "!=", "<", "<=", ">", ">="])), "than": right}


@st.composite
def wholes(draw: st.DrawFn, visible: Visible) -> Json:
    """An aggregate as a value of each row."""
    within = draw(st.lists(st.sampled_from(visible.of()), max_size=2))
    agg = draw(st.sampled_from(["count", "sum", "avg", "max", "median", "count_distinct"]))
    column = {"column": draw(st.sampled_from(visible.of(*NUMBERS)))} if agg != "count" else {}
    name = draw(st.sampled_from(visible.of()))
    where = {"where": [draw(leaf(name, visible.columns[name].type))]} if draw(st.booleans()) else {}
    return {"agg": agg, **column, **where, "within": within}


@st.composite
def spans(draw: st.DrawFn, visible: Visible) -> Json:
    moments = visible.of(*MOMENTS)
    unit = draw(st.sampled_from(["second", "minute", "hour", "day", "week", "month", "quarter", "year"]))
    ends = {
        end: draw(st.sampled_from(moments))
        for end in draw(st.sampled_from([["from"], ["to"], ["from", "to"]]))
    }
    return {"elapsed": unit, **ends, "as_of": "2024-06-30"}


@st.composite
def leaf(draw: st.DrawFn, name: str, type_: ColumnType) -> Json:
    ops = ["=", "!=", "in", "not_in", "is_null", "not_null"]
    if type_ not in (ColumnType.BOOLEAN, ColumnType.OTHER):
        ops += ["<", "<=", ">", ">=", "between"]
    if type_ in (ColumnType.TEXT, ColumnType.OTHER):
        ops += ["contains", "startswith", "endswith"]
    if type_ is ColumnType.TEXT:
        ops += ["has"]
    op = draw(st.sampled_from(ops))
    if op in ("is_null", "not_null"):
        return {"column": name, "op": op}
    one = values(type_)
    if op in ("in", "not_in"):
        return {"column": name, "op": op, "value": draw(st.lists(one, min_size=1, max_size=4))}
    if op == "between":
        one = _DATES if type_ in MOMENTS else one
        return {"column": name, "op": op, "value": sorted(draw(st.lists(one, min_size=2, max_size=2)))}
    if op in ("=", "<") and draw(st.integers(0, 4)) == 0:
        return {"column": name, "op": op, "other_column": name}
    return {"column": name, "op": op, "value": draw(one)}


@st.composite
def windows(draw: st.DrawFn, visible: Visible) -> Json:
    column = draw(st.sampled_from(visible.of(*MOMENTS)))
    shape = draw(st.sampled_from(["last", "range", "period"]))
    as_of = draw(st.sampled_from(["2024-06-30", "2024-02-29T13:45:00", "2023-12-31T23:59:59Z"]))
    if shape == "last":
        unit = draw(st.sampled_from(["day", "week", "month", "quarter", "year"]))
        return {"column": column, "last": draw(st.integers(1, 400)), "unit": unit, "as_of": as_of}
    if shape == "range":
        start, end = sorted(draw(st.lists(st.dates(), min_size=2, max_size=2)))
        return {"column": column, "from": start.isoformat(), "to": end.isoformat()}
    period = draw(st.sampled_from(["today", "yesterday", "last_week", "this_month", "last_quarter", "ytd"]))
    return {"column": column, "period": period, "as_of": as_of}
