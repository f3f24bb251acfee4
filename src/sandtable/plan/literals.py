"""The texts that a plan compares columns with, and their places: what can be looked up before the plan runs.

Equality only (`=`, `!=`, `in`, `not_in`), wherever a plan has conditions: a misspelt text there silently gives no
rows, or excludes none. Texts that are searched for (`contains`, …) may match anything and are not among them.
Invariant: pure. A plan that does not fit the dataset has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, cast

from sandtable.catalog.model import ColumnType, Dataset
from sandtable.plan.definitions import with_defined
from sandtable.plan.model import QueryPlan
from sandtable.plan.reading import read_plan
from sandtable.plan.resolve import resolve_plan
from sandtable.plan.resolved import ColumnRef, ResolvedPlan
from sandtable.plan.scope import Scope

Plan = dict[str, Any]
Place = tuple[str | int, ...]

_COMPARED = frozenset({"=", "!=", "in", "not_in"})
_NEGATED = frozenset({"!=", "not_in"})
_OVER_OUTPUTS = frozenset({"having", "derive", "top_per_group"})
"""Fields whose conditions name output columns."""


@dataclass(frozen=True, slots=True)
class TextLiteral:
    value: str
    column: ColumnRef
    """The column of the data that it is compared with."""
    place: Place
    """Of the condition in the plan."""
    within: str
    """The table from which the condition names its columns; empty where it names output columns."""
    negated: bool = False


def text_literals(plan: Mapping[str, Any], dataset: Dataset) -> tuple[TextLiteral, ...]:
    """In the order of the plan."""
    if next(_leaves(plan, (), ""), None) is None:
        return ()
    parsed = read_plan(dict(plan))
    resolved = resolve_plan(parsed, dataset) if isinstance(parsed, QueryPlan) else None
    if not isinstance(parsed, QueryPlan) or not isinstance(resolved, ResolvedPlan):
        return ()
    names = _Names(dataset, resolved)
    found: list[TextLiteral] = []
    for leaf in _leaves(plan, (), parsed.table):
        column = names.column(leaf.name, leaf.table, leaf.body if leaf.over_outputs else None)
        if column is None or column.type is not ColumnType.TEXT:
            continue
        within = "" if leaf.over_outputs else leaf.table
        found += [TextLiteral(v, column, leaf.place, within, leaf.negated) for v in leaf.values if v.strip()]
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A condition that compares a name with texts."""

    name: str
    values: tuple[str, ...]
    negated: bool
    place: Place
    table: str
    body: str
    """The definition it is in; empty for the plan itself."""
    over_outputs: bool


def _leaves(
    node: object, place: Place, table: str, body: str = "", over_outputs: bool = False
) -> Iterator[_Leaf]:
    if isinstance(node, list | tuple):
        for index, part in enumerate(cast("list[object]", node)):
            yield from _leaves(part, (*place, index), table, body, over_outputs)
        return
    if not isinstance(node, Mapping):
        return
    fields = cast("Mapping[str, Any]", node)
    name, op, given = fields.get("column"), fields.get("op"), fields.get("value")
    if isinstance(name, str) and op in _COMPARED and given is not None:
        texts = tuple(value for value in _listed(given) if isinstance(value, str))
        if texts:
            yield _Leaf(name, texts, op in _NEGATED, place, table, body, over_outputs)
        return
    for field, part in cast("Mapping[str, object]", node).items():
        there, home, outputs = body, table, over_outputs or field in _OVER_OUTPUTS
        if field == "plan" and "define" in place:
            there, home = str(fields.get("name", "")), _table_of(part)
        elif field == "exists":
            home, outputs = _table_of(part), False
        yield from _leaves(part, (*place, field), home, there, outputs)


def _table_of(part: object) -> str:
    return str(cast("Mapping[str, object]", part).get("table", "")) if isinstance(part, Mapping) else ""


def _listed(given: object) -> list[object]:
    return list(cast("list[object]", given)) if isinstance(given, list | tuple) else [given]


@dataclass(frozen=True, slots=True)
class _Names:
    dataset: Dataset
    resolved: ResolvedPlan

    def column(self, name: str, table: str, body: str | None) -> ColumnRef | None:
        """The column of the data that a name stands for; `body` is the plan whose output columns it names."""
        if body is not None:
            plan = self._plan(body) if body else self.resolved
            return self._output(plan, name) if plan is not None else None
        known = with_defined(self.resolved, self.dataset)
        home = known.table(table)
        if home is None:
            return None
        defined = frozenset(item.table.name for item in self.resolved.defined)
        found = Scope(known, home, aggregating=False, defined=defined).column(name)
        return self._source(found) if isinstance(found, ColumnRef) else None

    def _source(self, ref: ColumnRef) -> ColumnRef | None:
        """Through the tables that the plan defines."""
        made = self._plan(ref.table)
        return ref if made is None else self._output(made, ref.column)

    def _output(self, plan: ResolvedPlan, name: str) -> ColumnRef | None:
        bare = name.rpartition(".")[2].lower()
        expr = next((o.expr for o in plan.outputs if o.name.lower() in (name.lower(), bare)), None)
        return self._source(expr) if isinstance(expr, ColumnRef) else None

    def _plan(self, name: str) -> ResolvedPlan | None:
        made = (item.plan for item in self.resolved.defined if item.table.name.lower() == name.lower())
        return next(made, None)


def with_text(plan: Mapping[str, Any], literal: TextLiteral, text: str, column: str | None = None) -> Plan:
    """The plan with another text for the literal; with `column`, as a condition on that column."""
    made: Plan = deepcopy(dict(plan))
    leaf: Any = made
    for step in literal.place:
        leaf = leaf[step]
    if column is not None:
        return _moved(made, literal, text, column)
    replaced = [text if value == literal.value else value for value in _listed(leaf["value"])]
    leaf["value"] = list(dict.fromkeys(replaced)) if leaf["op"] in ("in", "not_in") else text
    return made


def _moved(made: Plan, literal: TextLiteral, text: str, column: str) -> Plan:
    """Of several texts only this one changes its column: the others keep theirs."""
    home: Any = made
    for step in literal.place[:-1]:
        home = home[step]
    last: Any = literal.place[-1]
    leaf = home[last]
    rest = (
        [value for value in leaf["value"] if value != literal.value] if leaf["op"] in ("in", "not_in") else []
    )
    moved = {**leaf, "column": column, "op": "!=" if literal.negated else "=", "value": text}
    if rest:
        both = [{**leaf, "value": rest}, moved]
        home[last] = {"all": both} if literal.negated else {"any": both}
    else:
        home[last] = moved
    return made
