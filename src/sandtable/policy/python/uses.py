"""What approved code uses: the dataset's tables, and things whose value differs from run to run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sandtable.policy.python.bindings import bind_names
from sandtable.policy.python.code import Code
from sandtable.policy.python.names import CONNECTION, ONLY_TABLE, TABLES
from sandtable.policy.python.spots import Places, Spot, call_arguments, spots_of
from sandtable.policy.tree import Node, listed, under

_CLOCK = frozenset({"now", "today", "utcnow"})
_NOW = frozenset({"now", "today"})
_NOW_READERS = frozenset({"pandas.Timestamp", "pandas.to_datetime", "numpy.datetime64", "pandas.Period"})
_UNSEEDED = frozenset(
    """
    random.Random random.seed numpy.random.seed numpy.random.RandomState numpy.random.SeedSequence
    numpy.random.PCG64 numpy.random.PCG64DXSM numpy.random.MT19937 numpy.random.Philox numpy.random.SFC64
    """.split()
)
"""Without an argument they take their seed from the system."""

_CLOCK_IN_SQL = re.compile(
    r"\b(now|today|current_date|current_timestamp|current_time|localtime|localtimestamp|uuid|gen_random_uuid"
    r"|uuidv4|uuidv7|get_current_timestamp|get_current_time|transaction_timestamp)\b",
    re.IGNORECASE,
)


def bound_names(text: str, parsed: Mapping[str, Any]) -> frozenset[str]:
    """The names that a cell leaves behind for later cells of its session; not the modules it imports."""
    spots = spots_of(under(parsed, "tree"))
    bind_names(spots, Places(text))
    bound = spots[0].scope.bound if spots else {}
    return frozenset(
        name for name, bindings in bound.items() if any(binding.kind != "module" for binding in bindings)
    )


def tables_in(code: Code) -> tuple[str, ...]:
    """The dataset's tables that the code may read; all of them if that is unknown."""
    found: set[str] = set()
    for spot in code.spots:
        if spot.kind == "Name" and spot.node.get("ctx") == "Load":
            found |= _tables_of_name(spot, code)
    return tuple(sorted(found))


def _tables_of_name(spot: Spot, code: Code) -> set[str]:
    name = spot.text_of("id")
    if not code.meaning(spot).ambient:
        return set()
    if name in code.tables:
        return {name}
    if name == ONLY_TABLE and len(code.tables) == 1:
        return set(code.tables)
    if name == TABLES:
        return _looked_up(spot, code)
    if name in ("sql", CONNECTION):
        return _queried(spot, code)
    return set(code.tables) if name in code.names else set()


def _looked_up(spot: Spot, code: Code) -> set[str]:
    """`tables["orders"]` is one table, any other use may be all."""
    if spot.parent is None or spot.parent.kind != "Subscript":
        return set(code.tables)
    key = under(spot.parent.node, "slice")
    return {t for t in code.tables if t == key.get("value") or key.get("kind") != "str"}


def _queried(spot: Spot, code: Code) -> set[str]:
    call = next(
        (s for s in (spot.parent, spot.parent and spot.parent.parent) if s and s.kind == "Call"), None
    )
    text = _query_of(call.node) if call else None
    if text is None:
        return set(code.tables)
    return {t for t in code.tables if re.search(rf"(?<!\w){re.escape(t)}(?!\w)", text, re.IGNORECASE)}


def _query_of(call: Node) -> str | None:
    positional, named, _hidden = call_arguments(call)
    given = positional[0] if positional else named.get("query", {})
    if given.get("_") != "Constant" or given.get("kind") != "str" or given.get("cut"):
        return None
    return str(given.get("value"))


def volatile_in(code: Code) -> tuple[str, ...]:
    """Names such as `datetime.now`, in alphabetical order."""
    found: set[str] = set()
    for spot in code.spots:
        if (
            spot.kind == "Attribute"
            and spot.text_of("attr") in _CLOCK
            and spot.text_of("attr") not in code.columns
        ):
            found.add(_written(spot.node))
        elif spot.kind == "Name" and spot.text_of("id") == "id" and spot.is_called:
            found |= {"id"} if code.meaning(spot).ambient else set()
        elif spot.kind == "Call":
            found |= _volatile_call(spot, code)
        elif spot.kind == "Constant" and spot.node.get("kind") == "str" and _is_sql(spot):
            found |= {f"{word.lower()} in SQL" for word in _CLOCK_IN_SQL.findall(str(spot.node.get("value")))}
    return tuple(sorted(found))


def _volatile_call(spot: Spot, code: Code) -> set[str]:
    func = under(spot.node, "func")
    full = code.members(spot, func)
    positional, named, _hidden = call_arguments(spot.node)
    if full & _UNSEEDED and not positional and not named:
        return {_written(func)}
    is_now = any(a.get("kind") == "str" and str(a.get("value")).lower() in _NOW for a in positional)
    return {f"{_written(func)}('now')"} if full & _NOW_READERS and is_now else set()


def _is_sql(spot: Spot) -> bool:
    call = spot.parent
    if call is None or call.kind != "Call" or spot.field != "args" or not listed(call.node, "args"):
        return False
    func = under(call.node, "func")
    return func.get("id") == "sql" or under(func, "value").get("id") == CONNECTION


def _written(node: Node) -> str:
    path: list[str] = []
    while node.get("_") == "Attribute":
        path.append(str(node.get("attr")))
        node = under(node, "value")
    root = str(node.get("id")) if node.get("_") == "Name" else "…"
    return ".".join([root, *reversed(path)])
