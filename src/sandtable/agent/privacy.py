"""What of the data a chat model may see.

Invariant: with `schema`, no cell value passes: not in the description of a dataset, not in what was said
before, not in an error that is sent back. Names, types, descriptions and counts pass, and so does whatever
the person typed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sandtable.agent.endpoint import Privacy
from sandtable.catalog.model import Column, ColumnType
from sandtable.catalog.profile import Cell, ColumnProfile
from sandtable.errors import ErrorCode, Problem

WITHHELD = "(withheld)"
_FEW = 12
_SAMPLES = 3
_FOUND = 5
_LONGEST_SAMPLE = 40
_SHORTEST_FOUND = 3
_RANGED = {
    ColumnType.INTEGER,
    ColumnType.DECIMAL,
    ColumnType.FLOAT,
    ColumnType.DATE,
    ColumnType.TIMESTAMP,
    ColumnType.TIME,
}
_ISO = re.compile(r"\d{4}(-\d\d){1,2}([T ][\d:.+Z-]*)?")
_SQL_TEXT = re.compile(r"'(?:[^']|'')*'")
# These come from reading the query, before a row is read: they can quote the query and the schema only.
_BEFORE_DATA = {"BinderException", "CatalogException", "ParserException"}
_OF_THE_PROPOSAL = {ErrorCode.VALIDATION_ERROR, ErrorCode.SQL_POLICY_VIOLATION}


def column_statistics(profile: ColumnProfile | None) -> dict[str, Any]:
    """Counts, which are nobody's cell."""
    if profile is None:
        return {}
    return {"distinct": profile.distinct} | ({"empty": profile.nulls} if profile.nulls else {})


def column_samples(column: Column, profile: ColumnProfile | None, question: str) -> dict[str, Any]:
    """Cell values that help to write a plan; for `off` only."""
    if profile is None:
        return {}
    if column.type in _RANGED:
        return {"min": profile.minimum, "max": profile.maximum} if profile.minimum is not None else {}
    if column.type is not ColumnType.TEXT:
        return {}
    values = [counted.value for counted in profile.values if counted.value is not None]
    if profile.complete and len(values) <= _FEW:
        return {"values": [_short(value) for value in values]} if values else {}
    samples = [_short(value) for value in values[:_SAMPLES]]
    found = [_short(value) for value in _named_in(question, values)]
    return ({"examples": samples} if samples else {}) | ({"in_question": found} if found else {})


def _named_in(question: str, values: Iterable[Cell]) -> list[Cell]:
    words = f" {_spoken(question)} "
    named: list[Cell] = []
    for value in values:
        spoken = _spoken(str(value))
        if len(spoken) >= _SHORTEST_FOUND and f" {spoken} " in words:
            named.append(value)
            if len(named) == _FOUND:
                break
    return named


def _spoken(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def _short(value: Cell) -> Cell:
    return value[:_LONGEST_SAMPLE] + "…" if isinstance(value, str) and len(value) > _LONGEST_SAMPLE else value


def shown_as_of(as_of: str | None, privacy: Privacy) -> str | None:
    """The anchor of relative time; only its month with `schema`, for it may be the latest cell of a column."""
    return as_of[:7] if as_of and privacy == "schema" else as_of


def shown_problem(problem: Problem, privacy: Privacy) -> dict[str, Any]:
    """A problem for the model to repair by, in the validator's own words."""
    engine = problem.details.get("type")
    safe = engine in _BEFORE_DATA if engine else problem.code in _OF_THE_PROPOSAL
    if privacy == "schema" and not safe:
        what = (
            f"the run failed ({engine or problem.code}); the message is withheld, for it may quote the data"
        )
        return {"code": problem.code, "message": what}
    shown: dict[str, Any] = {"code": problem.code, "message": problem.message}
    if problem.suggestion:
        shown["suggestion"] = problem.suggestion
    if problem.details.get("errors"):
        shown["errors"] = problem.details["errors"]
    return shown


def shown_plan(plan: Mapping[str, Any], typed: str, privacy: Privacy) -> dict[str, Any]:
    """A plan of before. With `schema`, texts that nobody typed go: another proposer took them from cells."""
    if privacy == "off":
        return dict(plan)
    gone: set[str] = set()
    shown = _withholding(plan, typed.casefold(), gone)
    slugs = {_slug(value) for value in gone} - {""}
    telling = [name for name in _names(plan) if any(slug in _slug(name) for slug in slugs)]
    # Names made from a value, such as `revenue_germany`, go with it.
    return _renamed(shown, {name: f"column_{place}" for place, name in enumerate(telling, 1)})


def shown_sql(sql: str, typed: str, privacy: Privacy) -> str:
    if privacy == "off":
        return sql
    heard = typed.casefold()
    return _SQL_TEXT.sub(lambda text: text[0] if _may_pass(text[0][1:-1], heard) else f"'{WITHHELD}'", sql)


def _may_pass(value: Any, heard: str) -> bool:
    return not isinstance(value, str) or value.casefold() in heard or _ISO.fullmatch(value) is not None


def _withholding(node: Any, heard: str, gone: set[str]) -> Any:
    if isinstance(node, Mapping):
        made: dict[str, Any] = {}
        for key, inner in node.items():
            if key == "value":
                made[key] = _withheld_value(inner, heard, gone)
            elif key != "notes":
                made[key] = _withholding(inner, heard, gone)
        return made
    if isinstance(node, list | tuple):
        return [_withholding(inner, heard, gone) for inner in node]
    return node


def _withheld_value(value: Any, heard: str, gone: set[str]) -> Any:
    if isinstance(value, list | tuple):
        return [_withheld_value(inner, heard, gone) for inner in value]
    if _may_pass(value, heard):
        return value
    gone.add(value)
    return WITHHELD


def _names(node: Any) -> Iterator[str]:
    """What the plan calls its own columns."""
    if isinstance(node, Mapping):
        if isinstance(node.get("as"), str):
            yield node["as"]
        node = tuple(node.values())
    if isinstance(node, list | tuple):
        for inner in node:
            yield from _names(inner)


def _renamed(node: Any, names: Mapping[str, str]) -> Any:
    if isinstance(node, dict):
        return {key: _renamed(inner, names) for key, inner in node.items()}
    if isinstance(node, list):
        return [_renamed(inner, names) for inner in node]
    return names.get(node, node) if isinstance(node, str) else node


def _slug(text: str) -> str:
    return _spoken(text.replace("_", " ")).replace(" ", "_")
