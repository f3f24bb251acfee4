"""Numbers with units, and the direction of a comparison."""

from __future__ import annotations

from sandtable.planner.conscience.pieces import Piece
from sandtable.planner.conscience.units import Unit, unit_named, unit_of
from sandtable.planner.language.words import stem
from sandtable.planner.schema.entries import ColumnEntry

_NEAR = 1e-9


def in_column(value: float, said: Unit | None, column: ColumnEntry) -> tuple[float, ...]:
    """What a number with its unit may be in the column's own unit; nothing when the units do not fit."""
    own = unit_of(column)
    if said is None:
        return (value,)
    if own is None:
        return (value,)
    if own.kind != said.kind:
        return () if own.kind != -1 or said.kind != -1 else (value,)
    if own.kind == -1:
        return (value,) if own.name == said.name else ()
    scaled = value * said.factor / own.factor
    if said.factor in (2629800, 7889400, 31557600) and own.factor != said.factor:
        # A month has 30 or 31 days, a year 365 or 366.
        return (scaled, round(scaled), value * 30, value * 365, value * 12, value * 52)
    return (scaled,)


def same_number(a: float, b: object) -> bool:
    if isinstance(b, str):
        try:
            b = float(b)
        except ValueError:
            return False
    if isinstance(b, bool) or not isinstance(b, int | float):
        return False
    return abs(a - b) <= _NEAR * max(1.0, abs(a), abs(b))


def has_number(piece: Piece, value: float, said: Unit | None, *, percent: bool) -> bool:
    """Whether a condition compares with this quantity, in the unit of its column or of the time that passed."""
    wanted = {value, value / 100} if percent else {value}
    if said is not None and (passed := _passed_in(piece)) is not None and passed.kind == said.kind:
        return any(same_number(value * said.factor / passed.factor, given) for given in piece.values)
    if percent and piece.columns and unit_of(piece.columns[0]) is not None:
        return False
    for column in piece.columns[:1]:
        if "count" not in piece.does and "count_distinct" not in piece.does:
            wanted |= {w for v in tuple(wanted) for w in in_column(v, said, column)}
            if said is not None and unit_of(column) is not None:
                wanted = {w for v in (value,) for w in in_column(v, said, column)}
    for scale in _scales(piece):
        # 5 million in a column of millions is 5, never 5 million of them.
        wanted = {w / scale if abs(w) >= scale else w for w in wanted}
    return any(same_number(number, given) for number in wanted for given in piece.values)


def _passed_in(piece: Piece) -> Unit | None:
    """`over 2 weeks` between two dates is over 14 days: the unit in which the plan counts what passed."""
    if "elapsed" not in piece.does:
        return None
    return next((unit for mark in piece.does if (unit := unit_named(stem(mark))) is not None), None)


def _scales(piece: Piece) -> tuple[float, ...]:
    """`Gross ($M)` holds millions."""
    stems = {s for column in piece.columns[:1] for s in column.stems}
    return (1e6,) if stems & {"million", "m", "mil", "mn"} else (1e3,) if stems & {"thousand", "k"} else ()


_OPPOSITE = {">": "<=", ">=": "<", "<": ">=", "<=": ">", "=": "!=", "!=": "="}


def directions(said: str, op: str, *, negative: bool = False) -> bool:
    """Whether the operator of a condition goes the way that the words do: over → >, at most → <=, since → >=."""
    if negative and op in _OPPOSITE and op not in {"=", "!="}:
        op = _OPPOSITE[op]
    if said == op:
        return True
    match said:
        case "=":
            return op in {"=", "in", "contains"}
        case "between":
            return op in {"between", ">=", "<=", ">", "<"}
        case "!=":
            return op in {"!=", "not_in"}
        case ">" | "<":
            return False
        case ">=":
            return op == "between"
        case "<=":
            return op == "between"
        case _:
            return False


def is_converted(piece: Piece, unit: Unit) -> bool:
    """Whether a measure is given in this unit: its column has it, or a factor turns it into that."""
    if piece.unit:
        given = unit_named(piece.unit)
        return given is not None and (given.kind, given.factor) == (unit.kind, unit.factor)
    units = [own for column in piece.columns if (own := unit_of(column)) is not None]
    if any(
        own.kind == unit.kind and own.factor == unit.factor and (unit.kind >= 0 or own.name == unit.name)
        for own in units
    ):
        return not piece.factors
    if unit.kind == -1:
        return not any(own.kind == -1 for own in units) and bool(piece.columns)
    if "elapsed" in piece.does:
        return any(unit_named(stem(mark)) == unit for mark in piece.does if mark.isalpha())
    ratios = {own.factor / unit.factor for own in units if own.kind == unit.kind}
    return any(same_number(r, f) or same_number(1 / r, f) for r in ratios for f in piece.factors)
