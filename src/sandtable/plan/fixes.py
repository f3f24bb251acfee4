"""Correct a refused plan by the suggestions in its problems.

Only "did you mean" suggestions are applied, all at once: a plan that keeps another problem is no better.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Mapping
from typing import Any, cast

_MEANT = re.compile(r"`(?P<wrong>[^`]+)`[^`]*; did you mean `(?P<right>[^`]+)`\?")
_STEP = re.compile(r"\.?([^.\[\]]+)|\[(\d+)\]")


def mended(
    plan: Mapping[str, Any], problems: Iterable[Mapping[str, Any]]
) -> tuple[list[str], dict[str, Any]] | None:
    """The suggested names and the corrected plan, which may have other problems; None when a problem has no
    such suggestion."""
    new: dict[str, Any] = copy.deepcopy(dict(plan))
    used: list[str] = []
    for problem in problems:
        message = str(problem.get("message"))
        found = _MEANT.search(message)
        if found is None and message.endswith("is missing"):
            # A misspelt field is missing under its right name.
            continue
        if found is None or not _put(new, str(problem.get("field")), found["wrong"], found["right"]):
            return None
        if found["right"] not in used:
            used.append(found["right"])
    return (used, new) if used else None


def _put(plan: dict[str, Any], field: str, wrong: str, right: str) -> bool:
    """Replace the value at the field, or in the record there; or rename the field itself."""
    steps = [name or int(index) for name, index in _STEP.findall(field)]
    parent: Any = plan
    for step in steps[:-1]:
        parent = _under(parent, step)
    last = steps[-1] if steps else ""
    if isinstance(parent, dict) and last == wrong and wrong in parent:
        return _rename(cast("dict[str, Any]", parent), wrong, right)
    value = _under(parent, last) if steps else plan
    if isinstance(value, str):
        new = _corrected(value, wrong, right)
        if new is None:
            return False
        parent[last] = new
        return True
    if isinstance(value, dict):
        return _put_inside(cast("dict[str, Any]", value), wrong, right)
    return False


def _put_inside(record: dict[str, Any], wrong: str, right: str) -> bool:
    if wrong in record:
        return _rename(record, wrong, right)
    places = [
        (key, new) for key, v in record.items() if isinstance(v, str) and (new := _corrected(v, wrong, right))
    ]
    if len(places) != 1:
        return False
    record[places[0][0]] = places[0][1]
    return True


def _rename(record: dict[str, Any], wrong: str, right: str) -> bool:
    if right in record:
        return False
    renamed = {right if key == wrong else key: value for key, value in record.items()}
    record.clear()
    record.update(renamed)
    return True


def _corrected(value: str, wrong: str, right: str) -> str | None:
    """`orders.chanel` keeps its table when only the column is corrected."""
    if value.lower() == wrong.lower():
        return right
    table, dot, column = value.rpartition(".")
    if dot and column.lower() == wrong.lower():
        return right if "." in right else f"{table}.{right}"
    return None


def _under(value: Any, step: str | int) -> Any:
    if isinstance(step, int):
        listed = cast("list[Any]", value) if isinstance(value, list) else []
        return listed[step] if step < len(listed) else None
    return cast("dict[str, Any]", value).get(step) if isinstance(value, dict) else None
