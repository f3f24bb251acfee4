"""Whether the columns of a result come from the dataset's tables, or are constants in the query.

Invariant: pure, and it only labels: nothing is approved or refused here. Unless the tree clearly shows a constant,
a column counts as data, so a label is never wrong; `42 + 0 * amount` is not detected.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from sandtable.catalog.model import Dataset
from sandtable.engines.rules import Functions
from sandtable.policy.names import fold
from sandtable.policy.tree import Node, as_node, listed, records, under
from sandtable.quoting import quote

NO_TABLE = "the query reads no table"
ALL_CONSTANT = "every column of the result comes from the query itself, not from a table"
CONSTANT_BRANCH = "a part of its UNION comes from the query itself, not from a table"

_MOST_NAMED = 5
_STAR_CHANGES = ("rename_list", "exclude_list", "qualified_exclude_list", "expr", "columns")


@dataclass(frozen=True, slots=True)
class Source:
    """Where the columns of a result come from."""

    whole: str = ""
    """Why the result as a whole is not from the data; empty when it is."""
    constants: tuple[str, ...] = ()
    """Columns that hold a constant, where others hold data."""

    @property
    def in_words(self) -> tuple[str, ...]:
        if self.whole:
            return (self.whole,)
        if not self.constants:
            return ()
        names = ", ".join(quote(name) for name in self.constants[:_MOST_NAMED])
        more = ", …" if len(self.constants) > _MOST_NAMED else ""
        one = len(self.constants) == 1
        return (f"{names}{more} {'comes' if one else 'come'} from the query itself, not from a table",)


@dataclass(frozen=True, slots=True)
class _Column:
    name: str
    data: bool


@dataclass(frozen=True, slots=True)
class _Relation:
    columns: tuple[_Column, ...]
    rows: bool
    """Whether there are as many rows as the data says."""
    others: bool | None = None
    """Whether columns beside the known ones hold data; None when there are no others."""
    mixed: bool = False
    """Some rows hold constants only, others data."""

    @property
    def data(self) -> bool:
        return bool(self.others) or any(column.data for column in self.columns)

    def column(self, name: str) -> bool | None:
        """Whether its column of that name holds data; None when it has no such column."""
        named = [column.data for column in self.columns if fold(column.name) == name]
        return any(named) if named else self.others


_ANYTHING = _Relation((), rows=True, others=True)
_Named = tuple[str, _Relation]
_Scope = Mapping[str, "_Cte | _Relation"]


@dataclass(frozen=True, slots=True, eq=False)
class _Cte:
    node: Node
    aliases: tuple[str, ...]
    scope: _Scope


def source_of(statement: Node, tables: frozenset[str], dataset: Dataset, functions: Functions) -> Source:
    """`tables`: those that the walk over the same tree met."""
    if not tables:
        return Source(NO_TABLE)
    result = _Reading(dataset, functions).query(under(statement, "node"), {})
    if not result.data:
        return Source(ALL_CONSTANT)
    if result.mixed:
        return Source(CONSTANT_BRANCH)
    return Source(constants=tuple(column.name for column in result.columns if not column.data))


class _Reading:
    def __init__(self, dataset: Dataset, functions: Functions) -> None:
        self._functions = functions
        self._tables = {
            fold(table.name): _Relation(
                tuple(_Column(column.name, data=True) for column in table.columns), rows=True
            )
            for table in dataset.tables
        }
        self._known: dict[_Cte, _Relation] = {}

    def query(self, node: Node, scope: _Scope) -> _Relation:
        entries = [as_node(entry) for entry in listed(under(node, "cte_map"), "map")]
        if entries:
            inner = dict(scope)
            for entry in entries:
                value = under(entry, "value")
                names = tuple(str(name) for name in listed(value, "aliases"))
                # A CTE sees those before it; a copy for each would make many of them slow.
                inner[fold(str(entry.get("key")))] = _Cte(under(value, "query_node"), names, inner)
            scope = inner
        match node.get("type"):
            case "SELECT_NODE":
                return self._select(node, scope)
            case "SET_OPERATION_NODE":
                return self._set_operation(node, scope)
            case "RECURSIVE_CTE_NODE":
                first = self.query(under(node, "left"), scope)
                name = fold(str(node.get("cte_name")))
                again = self.query(under(node, "right"), {**scope, name: first, f"recurring.{name}": first})
                return _united((first, again))
            case _:
                return _ANYTHING

    def _set_operation(self, node: Node, scope: _Scope) -> _Relation:
        parts = [under(node, side) for side in ("left", "right") if node.get(side)]
        branches = tuple(self.query(as_node(part), scope) for part in (*parts, *listed(node, "children")))
        made = _united(branches)
        some, others = any(b.data for b in branches), any(not b.data for b in branches)
        return replace(made, mixed=made.mixed or (node.get("setop_type") == "UNION" and some and others))

    def _select(self, node: Node, scope: _Scope) -> _Relation:
        sources = self._sources(under(node, "from_table"), scope)
        rows = any(relation.rows for _, relation in sources)
        columns: list[_Column] = []
        others: bool | None = None
        for item in map(as_node, listed(node, "select_list")):
            if item.get("class") != "STAR":
                data = self._holds_data(item, sources, scope, columns)
                columns.append(_Column(_name_of(item, len(columns)), data))
                continue
            starred = self._starred(item, sources, scope)
            columns += starred.columns
            others = starred.others if others is None else others or bool(starred.others)
        mixed = any(relation.mixed for _, relation in sources)
        return _Relation(tuple(columns), rows, others, mixed)

    def _starred(self, item: Node, sources: list[_Named], scope: _Scope) -> _Relation:
        """What `*` stands for; where it is changed in other ways than by REPLACE, only whether that holds data."""
        wanted = fold(str(item.get("relation_name") or ""))
        meant = [relation for name, relation in sources if not wanted or name == wanted]
        if any(item.get(key) for key in _STAR_CHANGES):
            return _Relation((), rows=True, others=any(relation.data for relation in meant))
        pairs = [as_node(pair) for pair in listed(item, "replace_list")]
        new = {
            fold(str(p.get("key"))): self._holds_data(under(p, "value"), sources, scope, []) for p in pairs
        }
        columns = tuple(
            _Column(column.name, new.get(fold(column.name), column.data))
            for relation in meant
            for column in relation.columns
        )
        known = [relation.others for relation in meant if relation.others is not None]
        return _Relation(columns, rows=True, others=any(known) if known else None)

    def _sources(self, table: Node, scope: _Scope) -> list[_Named]:
        alias = fold(str(table.get("alias") or ""))
        match table.get("type"):
            case "EMPTY":
                return []
            case "JOIN":
                both = (under(table, side) for side in ("left", "right"))
                return [source for side in both for source in self._sources(side, scope)]
            case "BASE_TABLE":
                name = fold(str(table.get("table_name")))
                schema = fold(str(table.get("schema_name") or ""))
                key = f"recurring.{name}" if schema == "recurring" else name
                found = None if schema == "main" else scope.get(key)
                relation = self._tables.get(name, _ANYTHING) if found is None else self._cte(found)
                return [(alias or name, _renamed(relation, listed(table, "column_name_alias")))]
            case "SUBQUERY":
                relation = self.query(under(under(table, "subquery"), "node"), scope)
                return [(alias, _renamed(relation, listed(table, "column_name_alias")))]
            case "EXPRESSION_LIST":
                return [(alias, self._values(table, scope))]
            case "TABLE_FUNCTION":
                # Its arguments may be columns of the tables beside it: those are not found here, and so are data.
                data = self._holds_data(under(table, "function"), [], scope, [])
                return [(alias, _Relation((), rows=data, others=data))]
            case _:
                return [(alias, _ANYTHING)]

    def _cte(self, found: _Cte | _Relation) -> _Relation:
        if isinstance(found, _Relation):
            return found
        if found not in self._known:
            # Placeholder while the CTE is being resolved, for its references to itself.
            self._known[found] = _ANYTHING
            self._known[found] = _renamed(self.query(found.node, found.scope), list(found.aliases))
        return self._known[found]

    def _values(self, table: Node, scope: _Scope) -> _Relation:
        rows = [cast("list[Any]", row) for row in listed(table, "values") if isinstance(row, list)]
        width = max((len(row) for row in rows), default=0)
        names = [str(name) for name in listed(table, "expected_names")]
        columns = tuple(
            _Column(
                names[place] if place < len(names) else f"col{place}",
                any(self._holds_data(as_node(row[place]), [], scope, []) for row in rows if place < len(row)),
            )
            for place in range(width)
        )
        return _Relation(columns, rows=False)

    def _holds_data(
        self, expression: Node, sources: list[_Named], scope: _Scope, before: list[_Column]
    ) -> bool:
        rows = any(relation.rows for _, relation in sources)
        for record in records(expression, into_subqueries=False):
            match record.get("class"):
                case "COLUMN_REF":
                    found = _refers_to_data([str(n) for n in listed(record, "column_names")], sources, before)
                case "STAR":
                    found = any(relation.data for _, relation in sources)
                case "POSITIONAL_REFERENCE" | "LAMBDA":
                    found = True
                case "SUBQUERY":
                    inner = self.query(under(under(record, "subquery"), "node"), scope)
                    counts = record.get("subquery_type") != "SCALAR" and inner.rows
                    child = under(record, "child")
                    found = inner.data or counts or self._holds_data(child, sources, scope, before)
                case "FUNCTION" | "WINDOW" as kind:
                    name = fold(str(record.get("function_name")))
                    counting = name in self._functions.aggregates or kind == "WINDOW"
                    # `region.upper()`: the engine reads the column as a schema.
                    column = [str(n) for n in listed(under(record, "qualified_name"), "path")][:-1]
                    found = (rows and counting and name not in self._functions.keep_argument) or (
                        bool(column) and _refers_to_data(column, sources, before)
                    )
                case _:
                    found = False
            if found:
                return True
        return False


def _refers_to_data(path: list[str], sources: list[_Named], before: list[_Column]) -> bool:
    """A name that is not found counts as data: it may be a column of an outer query, or a field of a value."""
    names = [fold(name) for name in path]
    meant = [relation for name, relation in sources if len(names) > 1 and name == names[0]]
    looked_in, name = (meant, names[1]) if meant else ([r for _, r in sources], "".join(names[:1]))
    known = [data for relation in looked_in if (data := relation.column(name)) is not None]
    if not known and not meant:
        known = [column.data for column in before if fold(column.name) == name][:1]
        known = known or [relation.data for alias, relation in sources if alias == name]
    return any(known) if known else True


def _renamed(relation: _Relation, names: list[object]) -> _Relation:
    if not names:
        return relation
    new = [
        replace(column, name=str(names[place])) if place < len(names) else column
        for place, column in enumerate(relation.columns)
    ]
    return replace(relation, columns=tuple(new))


def _united(branches: tuple[_Relation, ...]) -> _Relation:
    """Column by column. Where those of one are not all known, none is."""
    rows, mixed = any(b.rows for b in branches), any(b.mixed for b in branches)
    if not branches or any(b.others is not None for b in branches):
        return _Relation((), rows, any(b.data for b in branches), mixed)
    columns = tuple(
        _Column(column.name, any(place < len(b.columns) and b.columns[place].data for b in branches))
        for place, column in enumerate(branches[0].columns)
    )
    return _Relation(columns, rows, None, mixed)


def _name_of(item: Node, place: int) -> str:
    names = [str(name) for name in listed(item, "column_names")]
    return str(item.get("alias") or (names[-1] if names else f"column {place + 1}"))
