"""Which data a chat model may see.

Invariant: with `schema`, no cell value passes: not in the description of a dataset, not in what was said
before, not in an error that is sent back. Names, types, descriptions and counts pass, and so does whatever
the person typed. With `off`, no value of a masked column passes either: where one could be in something, that is
treated as with `schema`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

from sandtable.agent.endpoint import Privacy
from sandtable.capsule.query import PlanQuery, Query
from sandtable.catalog.model import Column, ColumnType, Dataset
from sandtable.catalog.profile import Cell, ColumnProfile
from sandtable.errors import ErrorCode, Problem
from sandtable.plan.moments import read_moment
from sandtable.runs.unknown_names import HELD_IN

WITHHELD = "(withheld)"
_FEW = 12
_SAMPLES = 3
_LONGEST_SAMPLE = 40
_MOST_FAULTS = 5
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
_QUOTES = "Write a text in single quotes."
_OF_THE_PROPOSAL = {ErrorCode.VALIDATION_ERROR, ErrorCode.SQL_POLICY_VIOLATION}


def privacy_about(dataset: Dataset, privacy: Privacy) -> Privacy:
    """What holds for things that may have any value of the dataset in them, such as the output of code."""
    return "schema" if any(column.masked for table in dataset.tables for column in table.columns) else privacy


def privacy_of(query: Query | None, dataset: Dataset, privacy: Privacy) -> Privacy:
    """What holds for the result of a query. A plan names every column that it reads; SQL and code need not."""
    plan = query.plan if isinstance(query, PlanQuery) else None
    return (
        privacy if plan is not None and not _reads_masked(plan, dataset) else privacy_about(dataset, privacy)
    )


def _reads_masked(plan: Mapping[str, Any], dataset: Dataset) -> bool:
    """Also true for plans that choose columns themselves: every column of a table, and what explains a change."""
    names = {column.name.lower() for table in dataset.tables for column in table.columns if column.masked}
    return bool(names) and any(text == "*" or text in names for text in _last_parts(plan))


def _last_parts(node: Any) -> Iterator[str]:
    """Of all texts and field names in a plan: `email` for `customers.email`, and `*` for a `why`."""
    if isinstance(node, str):
        yield node.lower()
        # A column's name may hold dots.
        yield from (node[at + 1 :].lower() for at, letter in enumerate(node) if letter == ".")
    elif isinstance(node, Mapping):
        for name, inner in node.items():
            yield "*" if name == "why" and inner else str(name).lower()
            yield from _last_parts(inner)
    elif isinstance(node, list | tuple):
        for inner in node:
            yield from _last_parts(inner)


def column_statistics(column: Column, profile: ColumnProfile | None) -> dict[str, Any]:
    """Counts, which are no cells. How many values there are says something of texts only."""
    if profile is None:
        return {}
    distinct = (
        {} if column.type in _RANGED or column.type is ColumnType.BOOLEAN else {"distinct": profile.distinct}
    )
    return distinct | ({"empty": profile.nulls} if profile.nulls else {})


def column_samples(column: Column, profile: ColumnProfile | None) -> dict[str, Any]:
    """Cell values that help to write a plan; for `off` only. None of a masked column."""
    if profile is None or column.masked:
        return {}
    if column.type in _RANGED:
        return _range(profile.minimum, profile.maximum)
    if column.type is not ColumnType.TEXT:
        return {}
    values = [_short(counted.value) for counted in profile.values if counted.value is not None]
    if profile.complete and len(values) <= _FEW:
        return {"values": values} if values else {}
    return {"examples": values[:_SAMPLES]} if values else {}


def _range(least: Cell, greatest: Cell) -> dict[str, Any]:
    if least is None:
        return {}
    return {"values": [least]} if least == greatest else {"min": least, "max": greatest}


def _short(value: Cell) -> Cell:
    return value[:_LONGEST_SAMPLE] + "…" if isinstance(value, str) and len(value) > _LONGEST_SAMPLE else value


def shown_as_of(as_of: str | None, privacy: Privacy) -> str | None:
    """The anchor of relative time; only its month with `schema`, for it may be the latest cell of a column."""
    return as_of[:7] if as_of and privacy == "schema" else as_of


def shown_problem(problem: Problem, privacy: Privacy) -> list[str]:
    """What is wrong with a proposal, for the model to repair by: each fault once, with where it is and what to do."""
    engine = problem.details.get("type")
    safe = engine in _BEFORE_DATA if engine else problem.code in _OF_THE_PROPOSAL
    if privacy == "schema" and not safe:
        return [f"the run failed ({engine or problem.code}); its message may quote the data and is not shown"]
    withheld = privacy == "schema" and HELD_IN in problem.details
    suggestion = _QUOTES if withheld else problem.suggestion
    faults: list[dict[str, Any]] = problem.details.get("errors") or [
        {"message": problem.message, "suggestion": suggestion}
    ]
    shown: list[str] = []
    advised: set[str] = set()
    for fault in faults[:_MOST_FAULTS]:
        shown.append(_fault(fault, advised))
        advised.add(str(fault.get("suggestion") or ""))
    more = len(faults) - _MOST_FAULTS
    return [*shown, f"and {more} more faults"] if more > 0 else shown


def _fault(fault: Mapping[str, Any], advised: set[str]) -> str:
    """One line: where, what is wrong, what to do. Names are in the prompt, so none are listed beside the one that was
    probably meant, and the same advice is given once."""
    where = f"{fault['field']}: " if fault.get("field") else ""
    said = f"{where}{fault['message']}".rstrip(".")
    suggestion = str(fault.get("suggestion") or "")
    if not suggestion or suggestion in advised or "did you mean" in said:
        return said
    return f"{said}. {suggestion}"


def shown_plan(plan: Mapping[str, Any], typed: str, privacy: Privacy) -> dict[str, Any]:
    """An earlier plan. With `schema`, texts that the person did not type are removed: they may come from cells."""
    if privacy == "off":
        return dict(plan)
    gone: set[str] = set()
    shown = _withholding(plan, typed.casefold(), gone)
    slugs = {_slug(value) for value in gone} - {""}
    telling = [name for name in _names(plan) if any(slug in _slug(name) for slug in slugs)]
    # Names made from a value, such as `revenue_germany`, go with it.
    return _renamed(shown, {name: f"column_{place}" for place, name in enumerate(telling, 1)})


def shown_reading(plan: Mapping[str, Any] | None, typed: str, privacy: Privacy) -> dict[str, Any] | None:
    """A plan that the built-in planner reads; with `schema` only one whose every value the person typed.

    A value that is withheld would be copied into the proposal, and one in the spelling of a cell is a cell.
    """
    if plan is None:
        return None
    shown = {field: value for field, value in plan.items() if field not in ("dataset_id", "notes")}
    return shown if privacy == "off" or all(_is_typed(text, typed) for text in literals(shown)) else None


def literals(node: Any, key: str = "") -> Iterator[str]:
    """Texts of a plan that stand for cells, and its moments: `from` may also name a column."""
    if isinstance(node, str):
        if key == "value" or (key in ("from", "to", "as_of") and read_moment(node) is not None):
            yield node
    elif isinstance(node, Mapping):
        for name, inner in node.items():
            yield from literals(inner, name)
    elif isinstance(node, list | tuple):
        for inner in node:
            yield from literals(inner, key)


def _is_typed(text: str, typed: str) -> bool:
    """As it was typed, letter by letter; or an end of a month, which comes from words such as `in March`."""
    if text in typed:
        return True
    day = read_moment(text)
    if day is None:
        return False
    return day.day == 1 or (day + timedelta(days=1)).day == 1


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
    return "_".join(re.findall(r"[^\W_]+", text.casefold()))
