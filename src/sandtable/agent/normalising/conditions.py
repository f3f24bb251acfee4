"""Conditions under other names and in other forms: `operator`, `==`, `{"region": "Europe"}`, `region = 'Europe'`."""

from __future__ import annotations

import re
from typing import Any, get_args

from sandtable.agent.normalising.known import Json, Known, key_of, renamed
from sandtable.agent.normalising.windows import window_in, window_of
from sandtable.catalog.model import Column, ColumnType, Table
from sandtable.plan.filters import NULL_OPS, FilterOp
from sandtable.plan.reading import SYNONYMS

_OPS: tuple[str, ...] = get_args(FilterOp)
_MORE_OPS = {
    "equal": "=", "equal_to": "=", "is_equal_to": "=", "not_equal": "!=", "not_equals": "!=", "is_not": "!=",
    "greater": ">", "greater_than": ">", "more_than": ">", "less": "<", "less_than": "<", "at_least": ">=",
    "greater_or_equal": ">=", "greater_than_or_equal": ">=", "at_most": "<=", "less_or_equal": "<=",
    "less_than_or_equal": "<=", "exists": "not_null", "ge": ">=", "le": "<=", "notin": "not_in",
    "is_empty": "is_null", "null": "is_null", "includes": "contains",
}  # fmt: skip
_FIELDS = {
    "field": "column", "col": "column", "column_name": "column", "attribute": "column", "dimension": "column",
    "operator": "op", "operation": "op", "comparison": "op", "comparator": "op", "cmp": "op", "condition": "op",
    "val": "value", "values": "value", "and": "all", "or": "any", "conditions": "all",
}  # fmt: skip
_COPIED = frozenset({"type", "description", "format"})
_WRITTEN = re.compile(
    r"\s*([\w.]+)\s*(==|=|!=|<>|>=|<=|>|<|\bis not null\b|\bis null\b|\blike\b|\bilike\b)\s*(.*)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,15})?")
_NUMERIC = frozenset({ColumnType.INTEGER, ColumnType.DECIMAL, ColumnType.FLOAT})
_TRUTHS = {"true": True, "yes": True, "false": False, "no": False, "1": True, "0": False}
_WITHIN_WINDOW = frozenset({"=", "in", ">=", "between"})


def conditions_of(given: Any, known: Known) -> Any:
    """A list of conditions; one alone, and a record of them, become a list."""
    if isinstance(given, dict):
        return _flat([_condition(given, known)])
    if isinstance(given, str):
        return [_condition(given, known)]
    if isinstance(given, list):
        return _flat([_condition(each, known) for each in given if each not in ({}, "", [])])
    return given


def _flat(made: list[Any]) -> list[Any]:
    """All conditions of a list hold anyway, so `all` alone in it is the list itself."""
    only = made[0] if len(made) == 1 and isinstance(made[0], dict) else {}
    return only["all"] if set(only) == {"all"} and isinstance(only["all"], list) else made


def _condition(given: Any, known: Known) -> Any:
    if isinstance(given, str):
        return _written(given, known)
    if not isinstance(given, dict):
        return given
    made = renamed(given, _FIELDS)
    for field in ("any", "all"):
        if isinstance(made.get(field), list):
            return {**made, field: [_condition(each, known) for each in made[field]]}
    if "not" in made and set(made) == {"not"}:
        return {"not": _condition(made["not"], known)}
    if "time" in made and set(made) == {"time"}:
        return {"time": window_of(made["time"], known)}
    if "of" in made or "than" in made:
        return made
    made = {field: value for field, value in made.items() if field not in _COPIED}
    return _leaf(_spread(made, known), known)


def _written(text: str, known: Known) -> Any:
    found = _WRITTEN.fullmatch(text)
    if found is None or not known.names_column(found[1]):
        return text
    op, value = operator_of(found[2]), found[3].strip()
    if op in NULL_OPS:
        return text if value else {"column": found[1], "op": op}
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        return _leaf({"column": found[1], "op": op, "value": value[1:-1]}, known)
    if _NUMBER.fullmatch(value) or value.lower() in {"true", "false"}:
        return _leaf({"column": found[1], "op": op, "value": _number(value)}, known)
    return text


def operator_of(given: Any) -> Any:
    if not isinstance(given, str):
        return given
    bare = given.strip().lower().lstrip("$")
    name = " ".join(bare.split())
    meant = SYNONYMS.get(name) or SYNONYMS.get(key_of(name)) or _MORE_OPS.get(key_of(name), name)
    return meant if meant in _OPS else given


def _spread(made: Json, known: Known) -> Json:
    """`{"region": "Europe"}` and `{"column": "amount", "gt": 5}` with `op` and `value` of their own."""
    if "column" not in made and len(made) == 1:
        [(name, value)] = made.items()
        if known.names_column(name):
            inner = value if isinstance(value, dict) and len(value) == 1 else {"=": value}
            [(op, operand)] = inner.items()
            if operator_of(op) in _OPS:
                return {"column": name, "op": op, "value": operand}
    named = [field for field in made if field not in {"column", "op", "value", "other_column"}]
    if "column" in made and "op" not in made and "value" not in made and len(named) == 1:
        [field] = named
        if operator_of(field) in _OPS:
            return {"column": made["column"], "op": field, "value": made[field]}
    return made


def _leaf(made: Json, known: Known) -> Json:
    inner = made.get("column")
    if isinstance(inner, dict) and set(inner) == {"column"}:
        made = {**made, "column": inner["column"]}
    if "op" not in made and "value" in made and "column" in made:
        made = {**made, "op": "in" if isinstance(made["value"], list) else "="}
    if not isinstance(made.get("op"), str):
        return made
    if not _is_bare_like(made):
        made = _fitting({**made, "op": operator_of(made["op"])})
    if not isinstance(made.get("column"), str):
        return made
    places = known.columns(made["column"])
    return _typed(made, places, known) if places else made


def _is_bare_like(made: Json) -> bool:
    """LIKE without a percent sign may mean "is" or "contains"."""
    op, value = made.get("op"), made.get("value")
    return isinstance(op, str) and op.strip().lower() in {"like", "ilike"} and "%" not in str(value)


def _fitting(made: Json) -> Json:
    """The operator that the value asks for, where another one cannot be meant."""
    op, value = made.get("op"), made.get("value")
    if op in NULL_OPS and "value" in made:
        rest = {field: v for field, v in made.items() if field != "value"}
        if value is False:
            return {**rest, "op": "is_null" if op == "not_null" else "not_null"}
        return rest if value is True or value in ("", "null", [], "true") else made
    if isinstance(value, list) and op in {"=", "!="}:
        return {**made, "op": "in" if op == "=" else "not_in"}
    if op in {"in", "not_in"} and "value" in made and isinstance(value, str | int | float):
        return {**made, "value": [value]}
    if op == "between" and "value" not in made and {"low", "high"} <= made.keys():
        rest = {field: v for field, v in made.items() if field not in {"low", "high"}}
        return {**rest, "value": [made["low"], made["high"]]}
    if op == "contains" and isinstance(value, str) and "%" in value:
        return _like(made, value)
    return made


def _like(made: Json, value: str) -> Json:
    inner = value.strip("%")
    if "%" in inner or "_" in inner or not inner:
        return made
    op = "contains" if value[0] == value[-1] == "%" else "startswith" if value[-1] == "%" else "endswith"
    return {**made, "op": op, "value": inner}


def _typed(made: Json, places: list[tuple[Table, Column]], known: Known) -> Json:
    types = {column.type for _, column in places}
    value = made.get("value")
    if types <= {ColumnType.DATE, ColumnType.TIMESTAMP} and made.get("op") in _WITHIN_WINDOW:
        window = window_in(value)
        if window is not None and (made["op"] != ">=" or "from" not in window):
            return {"time": {"column": made["column"], **window}}
    if types == {ColumnType.BOOLEAN} and isinstance(value, str | int) and not isinstance(value, bool):
        return {**made, "value": _TRUTHS.get(str(value).strip().lower(), value)}
    if types <= _NUMERIC:
        listed = [_number(v) for v in value] if isinstance(value, list) else _number(value)
        return {**made, "value": listed} if "value" in made else made
    if types == {ColumnType.TEXT} and made.get("op") in {"=", "!=", "in", "not_in"} and len(places) == 1:
        every = known.values(*places[0])
        listed = [_spelled(v, every) for v in value] if isinstance(value, list) else _spelled(value, every)
        return {**made, "value": listed} if "value" in made else made
    return made


def _number(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    bare = value.strip().replace(",", "")
    if bare.lower() in {"true", "false"}:
        return bare.lower() == "true"
    if not _NUMBER.fullmatch(bare):
        return value
    return float(bare) if "." in bare else int(bare)


def _spelled(value: Any, every: list[Any]) -> Any:
    """A value that no cell has, in the spelling of the one cell that differs in case and signs only."""
    if not isinstance(value, str) or value in every:
        return value
    same = [cell for cell in every if isinstance(cell, str) and key_of(cell) == key_of(value) != ""]
    return same[0] if len(same) == 1 else value
