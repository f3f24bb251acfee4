"""Answers that earlier versions kept in threads and journals, in the present form.

Invariant: an answer in the present form is returned as the same object.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sandtable.runs.described import described
from sandtable.sandbox.job import ResultColumn


def present_values(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The values of a thread's state. Other entries of `ui` than UI components, such as the places in a journal's short
    form of a list, stay as they are."""
    ui = values.get("ui")
    if not isinstance(ui, list):
        return values
    present = [present_ui(one) for one in ui]
    changed = any(one is not other for one, other in zip(present, ui, strict=True))
    return {**values, "ui": present} if changed else values


def present_ui(component: Any) -> Any:
    """A UI component whose tables have the kind and the unit of each column."""
    props = component.get("props") if isinstance(component, Mapping) else None
    if not props or component.get("name") != "answer":
        return component
    present = _present_table(props, props.get("plan"))
    shown = [_present_table(artifact, None) for artifact in props.get("artifacts") or ()]
    if any(one is not other for one, other in zip(shown, props.get("artifacts") or (), strict=True)):
        present = {**present, "artifacts": shown}
    return component if present is props else {**component, "props": present}


def _present_table(table: Mapping[str, Any], plan: dict[str, Any] | None) -> Mapping[str, Any]:
    columns = table.get("columns") or ()
    if all("unit" in column for column in columns):
        return table
    given = [ResultColumn(name=column["name"], type=column["type"]) for column in columns]
    return {**table, "columns": [column.model_dump(mode="json") for column in described(given, plan)]}
