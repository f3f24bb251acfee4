"""The texts that a query compares columns of the dataset with: `city = 'Berlin'`, `status IN ('paid', 'open')`.

Invariant: pure, and nothing is approved or refused here. A comparison is listed only where the tree shows which column
of which table is compared; a name that may stand for something else is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sandtable.catalog.model import ColumnType, Dataset
from sandtable.policy.names import fold
from sandtable.policy.place import place_of
from sandtable.policy.tree import Node, as_node, listed, records, under

MOST_COMPARISONS = 50

_EQUAL = frozenset(
    {"COMPARE_EQUAL", "COMPARE_NOTEQUAL", "COMPARE_DISTINCT_FROM", "COMPARE_NOT_DISTINCT_FROM"}
)
_UNLIKE = frozenset({"COMPARE_NOTEQUAL", "COMPARE_DISTINCT_FROM", "COMPARE_NOT_IN"})
_LISTED = frozenset({"COMPARE_IN", "COMPARE_NOT_IN"})
_PARTS = ("select_list", "where_clause", "group_expressions", "having", "qualify", "modifiers")
_STAR_CHANGES = ("rename_list", "exclude_list", "qualified_exclude_list", "replace_list", "expr", "columns")


@dataclass(frozen=True, slots=True)
class Span:
    """Characters of the text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Comparison:
    value: str
    table: str
    column: str
    negated: bool
    alone: bool
    """Whether its condition has no other value."""
    literal: Span | None
    """Where the value stands in the text."""
    name: Span | None
    """Where the column stands in the text, with its qualifier."""
    beside: tuple[tuple[str, str], ...]
    """The tables that its SELECT reads, by the names they have there."""


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of the dataset."""

    table: str
    column: str


@dataclass(frozen=True, slots=True)
class _Relation:
    columns: Mapping[str, _Column | None]
    """By folded name; None for what is computed."""
    whole: bool = True
    """Whether it has no other columns."""
    table: str = ""
    """The table of the dataset that it is; empty for a subquery or a CTE."""


_UNKNOWN = _Relation({}, whole=False)
_Named = tuple[str, _Relation]
_Level = list[_Named]
_Scope = Mapping[str, _Relation]


def comparisons_of(text: str, statement: Node, dataset: Dataset) -> tuple[Comparison, ...]:
    """In the order in which the tree has them. `statement` is the tree of the text itself, with its positions."""
    reading = _Reading(text, dataset)
    reading.query(under(statement, "node"), {}, [])
    return tuple(reading.found)


class _Reading:
    def __init__(self, text: str, dataset: Dataset) -> None:
        self._text = text
        self._dataset = dataset
        self._texts = {
            _Column(table.name, column.name)
            for table in dataset.tables
            for column in table.columns
            if column.type is ColumnType.TEXT
        }
        self._tables = {
            fold(table.name): _Relation(
                {fold(column.name): _Column(table.name, column.name) for column in table.columns},
                table=table.name,
            )
            for table in dataset.tables
        }
        self.found: list[Comparison] = []

    def query(self, node: Node, scope: _Scope, outer: list[_Level]) -> _Relation:
        """The columns of its result. What it compares is added to `found`."""
        inner = dict(scope)
        for entry in map(as_node, listed(under(node, "cte_map"), "map")):
            value = under(entry, "value")
            made = self.query(under(value, "query_node"), inner, outer)
            inner[fold(str(entry.get("key")))] = _renamed(made, listed(value, "aliases"))
        match node.get("type"):
            case "SELECT_NODE":
                return self._select(node, inner, outer)
            case "SET_OPERATION_NODE":
                for part in (
                    under(node, "left"),
                    under(node, "right"),
                    *map(as_node, listed(node, "children")),
                ):
                    self.query(part, inner, outer)
            case "RECURSIVE_CTE_NODE":
                name = fold(str(node.get("cte_name")))
                self.query(under(node, "left"), inner, outer)
                again = {**inner, name: _UNKNOWN, f"recurring.{name}": _UNKNOWN}
                self.query(under(node, "right"), again, outer)
            case _:
                pass
        return _UNKNOWN

    def _select(self, node: Node, scope: _Scope, outer: list[_Level]) -> _Relation:
        joined: list[Node] = []
        level = self._sources(under(node, "from_table"), scope, outer, joined)
        levels = [level, *outer]
        for part in (*(node.get(key) for key in _PARTS), joined):
            self._conditions(part, scope, levels)
        columns: dict[str, _Column | None] = {}
        whole = True
        for item in map(as_node, listed(node, "select_list")):
            if item.get("class") != "STAR":
                path = _path(item)
                named = str(item.get("alias") or (path[-1] if path else ""))
                columns.setdefault(fold(named), _resolved(path, [level]) if path else None)
                continue
            if any(item.get(key) for key in _STAR_CHANGES):
                whole = False
                continue
            owner = fold(str(item.get("relation_name") or ""))
            for relation in (relation for alias, relation in level if not owner or fold(alias) == owner):
                whole = whole and relation.whole
                for name, column in relation.columns.items():
                    columns.setdefault(name, column)
        return _Relation(columns, whole)

    def _sources(self, ref: Node, scope: _Scope, outer: list[_Level], joined: list[Node]) -> _Level:
        """What a FROM reads, in order. The conditions of its joins are added to `joined`."""
        found: _Level = []
        stack = [ref]
        while stack:
            each = stack.pop()
            if each.get("type") == "JOIN":
                joined.append(under(each, "condition"))
                stack += [under(each, "right"), under(each, "left")]
            elif each.get("type") != "EMPTY":
                found.append(self._source(each, scope, outer))
        return found

    def _source(self, ref: Node, scope: _Scope, outer: list[_Level]) -> _Named:
        alias, renamed = str(ref.get("alias") or ""), listed(ref, "column_name_alias")
        match ref.get("type"):
            case "BASE_TABLE":
                name = str(ref.get("table_name"))
                schema = fold(str(ref.get("schema_name") or ""))
                made = None if schema == "main" else scope.get(f"{schema}.{fold(name)}".removeprefix("."))
                relation = made if made is not None else self._tables.get(fold(name), _UNKNOWN)
                return alias or name, _renamed(relation, renamed)
            case "SUBQUERY":
                relation = self.query(under(under(ref, "subquery"), "node"), scope, outer)
                return alias, _renamed(relation, renamed)
            case _:
                return alias, _UNKNOWN

    def _conditions(self, part: object, scope: _Scope, levels: list[_Level]) -> None:
        denied: set[int] = set()
        for record in records(part, into_subqueries=False):
            kind = str(record.get("type"))
            if record.get("class") == "SUBQUERY":
                self._conditions(record.get("child"), scope, levels)
                self.query(under(under(record, "subquery"), "node"), scope, levels)
            elif kind == "OPERATOR_NOT":
                denied |= {id(child) for child in listed(record, "children")}
            elif kind in _EQUAL:
                left, right = under(record, "left"), under(record, "right")
                name, value = (right, left) if _is_text(left) else (left, right)
                self._compared(name, [value], levels, (kind in _UNLIKE) != (id(record) in denied))
            elif kind in _LISTED:
                name, *values = map(as_node, listed(record, "children"))
                self._compared(name, values, levels, (kind in _UNLIKE) != (id(record) in denied))

    def _compared(self, name: Node, values: list[Node], levels: list[_Level], negated: bool) -> None:
        column = _resolved(_path(name), levels) if len(self.found) < MOST_COMPARISONS else None
        if column is None or column not in self._texts:
            return
        beside = tuple((alias, relation.table) for alias, relation in levels[0] if relation.table)
        place = self._span(name)
        for value in values:
            text = str(under(value, "literal").get("text") or "")
            if len(self.found) < MOST_COMPARISONS and _is_text(value) and text.strip():
                made = Comparison(
                    text, column.table, column.column, negated, len(values) == 1, self._span(value), place, beside
                )  # fmt: skip
                self.found.append(made)

    def _span(self, node: Node) -> Span | None:
        start, length = place_of(self._text, node)
        return Span(start, start + length) if start is not None and length else None


def _is_text(node: Node) -> bool:
    return node.get("class") == "CONSTANT" and under(node, "literal").get("kind") == "STRING"


def _path(node: Node) -> list[str]:
    """The names of a reference to a column; empty for any other expression."""
    return [str(name) for name in listed(node, "column_names")] if node.get("class") == "COLUMN_REF" else []


def _resolved(path: list[str], levels: list[_Level]) -> _Column | None:
    """The column of the dataset that a name stands for, where that is certain."""
    if not 1 <= len(path) <= 2:
        return None
    wanted = fold(path[-1])
    for level in levels:
        meant = list(_meant(path, level))
        if len(path) == 2 and not meant:
            continue
        known = [relation for relation in meant if wanted in relation.columns]
        if known:
            return known[0].columns[wanted]
        if len(path) == 2 or not all(relation.whole for relation in meant):
            return None
    return None


def _meant(path: list[str], level: _Level) -> Iterator[_Relation]:
    owner = fold(path[0]) if len(path) == 2 else None
    return (relation for alias, relation in level if owner is None or fold(alias) == owner)


def _renamed(relation: _Relation, names: list[object]) -> _Relation:
    if not names:
        return relation
    new = [fold(str(name)) for name in names]
    old = list(relation.columns)
    made = dict(zip([*new, *old[len(new) :]], relation.columns.values(), strict=False))
    return _Relation(made, relation.whole)
