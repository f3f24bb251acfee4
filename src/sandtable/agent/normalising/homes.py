"""Finds the table of a plan from the columns and metrics that it names, and their names relative to that table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from sandtable.agent.normalising.items import name_of
from sandtable.agent.normalising.known import Json, Known, column_in
from sandtable.catalog.model import Table
from sandtable.errors import ErrorCode, Problem
from sandtable.plan.problems import listed
from sandtable.quoting import quote

_COLUMN_FIELDS = ("column", "other_column", "with", "elements")
_PARTS = ("select", "filters", "group_by", "time", "order_by")
_ASK = "If the data has no such thing, reply with the intent `ask_back`."


def with_table(plan: Json, known: Known) -> Json:
    """The table by its own spelling; where none of that name exists, the one that all names lead to."""
    given = plan.get("table")
    if isinstance(given, list) and len(given) == 1:
        given = given[0]
    if isinstance(given, str) and given.lower() in known.defined:
        return plan
    table = known.table(given)
    if table is not None:
        better = _metrics_home(plan, table, known)
        return {**plan, "table": (better or table).name}
    found = _homes(plan, known)
    return {**plan, "table": found[0].name} if len(found) == 1 else plan


def _homes(plan: Json, known: Known) -> list[Table]:
    """The tables that the plan may be about."""
    tables = known.dataset.tables
    if len(tables) == 1:
        return list(tables)
    names = set(_names(plan, known))
    metrics = {m.table.lower() for m in _metrics(plan, known)}
    if metrics:
        return [t for t in tables if {t.name.lower()} == metrics and _holds(t, names, known)]
    if not names:
        return []
    holding = [t for t in tables if _holds(t, names, known)]
    own = [t for t in holding if all(_is_own(t, name, known) for name in names)]
    return own or holding


def _metrics_home(plan: Json, table: Table, known: Known) -> Table | None:
    """Where the metrics live, when the table given is one of those that its rows refer to and nothing counts rows."""
    homes = {m.table.lower() for m in _metrics(plan, known)}
    if len(homes) != 1 or homes == {table.name.lower()}:
        return None
    home = known.table(next(iter(homes)))
    if home is None or table not in known.reachable(home) or _aggregates_columns(plan):
        return None
    return home if _holds(home, set(_names(plan, known)), known) else None


def _aggregates_columns(plan: Json) -> bool:
    return any("agg" in node for node in _records(plan.get("select")))


def _metrics(plan: Json, known: Known) -> list[Any]:
    named = [known.metric(node.get("metric")) for part in _PARTS for node in _records(plan.get(part))]
    return [metric for metric in named if metric is not None]


def _names(plan: Json, known: Known) -> Iterator[str]:
    """Every column that the plan names, its own outputs apart."""
    select = plan.get("select")
    items = [item for item in select if isinstance(item, dict)] if isinstance(select, list) else []
    outputs = {name_of(item) for item in items if not set(item) <= {"column"}}
    for part in ("select", "filters", "time"):
        for node in _records(plan.get(part)):
            for field in _COLUMN_FIELDS:
                if isinstance(node.get(field), str) and node[field] != "*":
                    yield node[field]
    keys = plan.get("group_by")
    for key in keys if isinstance(keys, list) else []:
        name = key if isinstance(key, str) else key.get("column") if isinstance(key, dict) else None
        if isinstance(name, str) and name.lower() not in outputs:
            yield name


def _records(part: Any) -> Iterator[Json]:
    stack = [part]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            yield node
            stack += node.values()
        elif isinstance(node, list):
            stack += node


def _holds(table: Table, names: set[str], known: Known) -> bool:
    return all(_is_own(table, name, known) or _elsewhere(table, name, known) for name in names)


def _is_own(table: Table, name: str, known: Known) -> bool:
    return any(found is table for found, _ in known.columns(name))


def _elsewhere(table: Table, name: str, known: Known) -> str | None:
    """`other.column`, when exactly one of the tables that this one refers to has it."""
    near = known.reachable(table)[1:]
    found = [(t, c) for t, c in known.columns(name) if t in near]
    return f"{found[0][0].name}.{found[0][1].name}" if len(found) == 1 else None


def with_names(plan: Json, known: Known) -> Json:
    """Columns in the spelling of the schema; those of a related table with its name."""
    table = known.dataset.table(plan["table"]) if isinstance(plan.get("table"), str) else None
    if table is None:
        return plan

    def spelled(name: str) -> str:
        own = column_in(table, name)
        if own is not None:
            return own.name
        places = known.columns(name)
        if len(places) == 1 and places[0][0] is table:
            return places[0][1].name
        return _elsewhere(table, name, known) or name

    made = {
        **plan,
        **{part: _mapped(plan[part], spelled) for part in ("select", "filters", "time") if part in plan},
    }
    if isinstance(plan.get("group_by"), list):
        outputs = {name_of(item) for item in _listed(plan.get("select")) if not set(item) <= {"column"}}
        made["group_by"] = [
            spelled(key) if isinstance(key, str) and key.lower() not in outputs else _mapped(key, spelled)
            for key in plan["group_by"]
        ]
    return _each_condition_where_it_belongs(made, table, known)


def _mapped(node: Any, spelled: Callable[[str], str]) -> Any:
    if isinstance(node, list):
        return [_mapped(each, spelled) for each in node]
    if not isinstance(node, dict):
        return node
    return {
        field: spelled(value)
        if field in _COLUMN_FIELDS and isinstance(value, str) and value != "*"
        else _mapped(value, spelled)
        for field, value in node.items()
    }


def _listed(part: Any) -> list[Json]:
    return [each for each in part if isinstance(each, dict)] if isinstance(part, list) else []


def _each_condition_where_it_belongs(plan: Json, table: Table, known: Known) -> Json:
    """A condition on an aggregate goes to `having`; one on a column that is no output goes to `filters`."""
    computed = {name_of(item) for item in _listed(plan.get("select")) if {"agg", "metric"} & item.keys()}
    computed |= {str(each.get("as")).lower() for each in _listed(plan.get("derive")) if each.get("as")}
    outputs = computed | {name_of(item) for item in _listed(plan.get("select"))}

    def is_computed(leaf: Any) -> bool:
        name = leaf.get("column") if isinstance(leaf, dict) else None
        return isinstance(name, str) and name.lower() in computed and not known.names_column(name)

    def is_plain(leaf: Any) -> bool:
        name = leaf.get("column") if isinstance(leaf, dict) else None
        return isinstance(name, str) and name.lower() not in outputs and _holds(table, {name}, known)

    made = dict(plan)
    for source, target, moves in (("filters", "having", is_computed), ("having", "filters", is_plain)):
        given = made.get(source)
        if not isinstance(given, list):
            continue
        moving = [leaf for leaf in given if moves(leaf)]
        there = made.get(target, [])
        if moving and isinstance(there, list):
            made |= {source: [leaf for leaf in given if leaf not in moving], target: [*there, *moving]}
    return {field: value for field, value in made.items() if field not in {"filters", "having"} or value}


def table_problem(plan: Json, known: Known) -> Problem | None:
    """Why no table could be found for a plan without one, in the terms of what it names."""
    given = plan.get("table")
    if plan.get("why") or (isinstance(given, str) and (known.table(given) or given.lower() in known.defined)):
        return None
    unknown = sorted({name for name in _names(plan, known) if not known.names_column(name)})
    tables = listed(t.name for t in known.dataset.tables)
    if unknown:
        message = f"the dataset has no column or metric called {listed(unknown, 4)}"
        return _problem(message, f"Use names of the schema. {_ASK}")
    if isinstance(given, str) and given:
        return _problem(f"the dataset has no table called {quote(given)}", f"Tables: {tables}. {_ASK}")
    found = _homes(plan, known)
    choices = listed(t.name for t in found) if len(found) > 1 else tables
    return _problem(
        "`table` is missing, and the columns do not tell which one is meant", f"One of {choices}."
    )


def _problem(message: str, suggestion: str) -> Problem:
    return Problem(code=ErrorCode.VALIDATION_ERROR, message=message, suggestion=suggestion)
