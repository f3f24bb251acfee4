"""The meaning of a part of a plan: its columns, what it does with them, which rows it keeps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from sandtable.planner.language.words import stem
from sandtable.planner.schema.columns import is_code, truth
from sandtable.planner.schema.entries import ColumnEntry, TableEntry

PartKind = Literal["measure", "by", "where", "when", "order", "limit", "shape", "chart"]
Path = tuple[str | int, ...]
Json = Mapping[str, Any]
_NEGATIVE = frozenset({"!=", "not_in", "is_null"})
ADDED_UP = {
    "sum": "added up", "avg": "averaged", "count": "counted", "count_distinct": "different ones counted",
    "min": "the lowest", "max": "the highest", "median": "median", "stddev": "spread", "quantile": "quantile",
    "correlation": "correlation",
}  # fmt: skip
SAID = {
    "=": "is",
    "!=": "is not",
    "in": "is one of",
    "not_in": "is none of",
    "is_null": "is empty",
    "not_null": "is given",
}


@dataclass(frozen=True, slots=True)
class Piece:
    """One part of a plan with what it means. `does` holds aggregates, directions and other marks."""

    kind: PartKind
    path: Path
    label: str
    columns: tuple[ColumnEntry, ...] = ()
    does: frozenset[str] = frozenset()
    op: str = ""
    values: tuple[Any, ...] = ()
    negative: bool = False
    number: float | None = None
    table: TableEntry | None = None
    names: frozenset[str] = frozenset()
    """Stems of what is named in the plan but is no column: a metric, a defined table."""
    window: Json = field(default_factory=dict[str, Any])
    factors: tuple[float, ...] = ()
    """Numbers that a measure is multiplied or divided by, such as 60 for minutes as hours."""
    unit: str = ""
    """The unit that the plan asks for, where it names one."""

    @property
    def compares_rows(self) -> bool:
        return "against" in self.does

    @property
    def is_negated(self) -> bool:
        """Whether it is inside a `not`; a `not` around the rows of another table does not negate their conditions."""
        inside = [at for at, step in enumerate(self.path[:-1]) if step == "exists"]
        return "not" in self.path[inside[-1] if inside else 0 :]

    def holds(self, other: Piece) -> bool:
        """Whether the other one is a condition on the rows that this one looks for."""
        return "exists" in self.does and other.path[: len(self.path)] == self.path and other is not self


def spoken(column: ColumnEntry) -> str:
    return " ".join(column.words)


def listed(value: object) -> list[object]:
    return list(cast("Iterable[object]", value)) if isinstance(value, list | tuple) else []


def objects_in(value: object) -> list[Json]:
    return [cast("Json", item) for item in listed(value) if isinstance(item, Mapping)]


def texts_in(value: object) -> list[str]:
    return [item for item in listed(value) if isinstance(item, str)]


def chart_in(plan: Json) -> list[Piece]:
    """The kind of chart that the plan names, if it does."""
    kind = plan.get("chart")
    if not isinstance(kind, str):
        return []
    return [Piece("chart", ("chart",), f"chart: {kind.replace('_', ' ')}", does=frozenset({kind}))]


def says_no(column: ColumnEntry | None, op: str, values: tuple[Any, ...]) -> bool:
    """Whether a condition keeps the rows where something is not so: empty, false, zero, other than."""
    if op in _NEGATIVE:
        return True
    if len(values) != 1:
        return False
    value = values[0]
    if op == "<" and value == 1:
        return True
    if op != "=":
        return False
    if value is False or (value == 0 and not isinstance(value, str)):
        return True
    if isinstance(value, str) and value.strip().lower() in {"none", "n/a", "nothing", "-"}:
        return True
    pair = truth(column) if column is not None else None
    return pair is not None and pair[1] is not None and value == pair[1]


def is_flag(piece: Piece) -> bool:
    """A condition on a column that holds yes and no only."""
    if piece.op not in {"=", "!="} or len(piece.columns) != 1 or len(piece.values) != 1:
        return False
    return isinstance(piece.values[0], bool) or truth(piece.columns[0]) is not None


def adds_codes(piece: Piece) -> bool:
    """A sum or an average of identifiers or codes, which is meaningless."""
    if piece.kind != "measure" or not piece.does & {"sum", "avg", "median", "stddev"}:
        return False
    return bool(piece.columns) and all(map(is_code, piece.columns))


def unit_asked(item: Json) -> str:
    unit = item.get("unit")
    return stem(unit.lower()) if isinstance(unit, str) else ""


def aggregates(item: Json) -> bool:
    if "agg" in item or "metric" in item:
        return item.get("within") is None
    sides = (item.get("left"), item.get("right"), item.get("from"), item.get("to"))
    return any(isinstance(side, Mapping) and aggregates(cast("Json", side)) for side in sides)
