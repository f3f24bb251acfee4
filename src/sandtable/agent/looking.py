"""Tool calls of a chat model before it proposes: the tools offered, the parsed calls, and the results it may see.

Invariant: a model sees of a run what `privacy` lets its prompts hold, and no more. With `schema` that is whether the
run succeeded and which known columns it has: neither a row nor the number of rows. Calls, their arguments and what
they give are bounded, and nothing that a model writes as a call raises.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from sandtable.agent.analysis.observing import seen_of
from sandtable.agent.analysis.secrecy import is_known, known_words, shown_error
from sandtable.agent.endpoint import Privacy
from sandtable.agent.model_reply import BadJson, parsed
from sandtable.agent.privacy import privacy_of, shown_problem
from sandtable.agent.prompt_files import as_data
from sandtable.agent.proposer import Asked, Proposer
from sandtable.agent.tools import (
    ARGUMENTS,
    EXECUTE_PLAN,
    EXECUTE_PYTHON,
    EXECUTE_SQL,
    GET_RUN,
    GET_SCHEMA,
    LIST_DATASETS,
    report_of,
)
from sandtable.capsule.query import CodeQuery, PlanQuery, Query, SqlQuery
from sandtable.catalog.model import Dataset
from sandtable.quoting import quote
from sandtable.runs.model import Run

LONGEST_ARGUMENTS = 16_000
"""Characters of one call's arguments."""
LONGEST_GAVE = 6_000
"""Characters of what one call gives."""
MOST_GAVE = 12_000
"""After so many characters for one question no further call is offered."""
MOST_DATASETS = 50
_LONGEST_DESCRIPTION = 200
_EXECUTING = (EXECUTE_PLAN, EXECUTE_SQL, EXECUTE_PYTHON)
_KINDS: dict[str, type] = {"string": str, "object": dict}


@dataclass(frozen=True, slots=True)
class Looking:
    """What the settings allow."""

    calls: int
    """For one question."""
    privacy: Privacy


@runtime_checkable
class CallsTools(Protocol):
    """A proposer that can call tools."""

    @property
    def privacy(self) -> Privacy: ...


def looking_of(proposer: Proposer, calls: int) -> Looking | None:
    return Looking(calls, proposer.privacy) if calls and isinstance(proposer, CallsTools) else None


def offered(looking: Looking, gave: list[dict[str, Any]], *, approval: bool, python: bool) -> tuple[str, ...]:
    """The tools for the next call, after these results; none that execute if a person approves what runs."""
    if len(gave) >= looking.calls or sum(len(as_data(each)) for each in gave) >= MOST_GAVE:
        return ()
    executing = () if approval else _EXECUTING if python else (EXECUTE_PLAN, EXECUTE_SQL)
    return (LIST_DATASETS, GET_SCHEMA, *executing, GET_RUN)


@dataclass(frozen=True, slots=True)
class Unusable:
    """Why a call was not made, as a message for the model."""

    message: str

    @property
    def gave(self) -> dict[str, Any]:
        return {"error": self.message}


def read_call(tool: str, arguments: str, tools: tuple[str, ...]) -> dict[str, Any] | Unusable:
    """The arguments of a call, checked: exactly those of the tool, each of its type."""
    if tool not in tools:
        return Unusable(
            f"{quote(tool)} was not called: {_why_not(tool, tools)}. Call one of {', '.join(tools)}, or reply."
        )
    if len(arguments) > LONGEST_ARGUMENTS:
        return Unusable(f"the arguments have {len(arguments):,} characters, more than {LONGEST_ARGUMENTS:,}")
    try:
        found = parsed(arguments)
    except json.JSONDecodeError as error:
        return Unusable(
            f"the arguments are not JSON: {error.msg} (line {error.lineno}, column {error.colno})"
        )
    except BadJson as error:
        return Unusable(f"the JSON of the arguments {error}")
    if not isinstance(found, dict):
        return Unusable("the arguments are JSON, but no object")
    for name, kind in ARGUMENTS[tool].items():
        if not isinstance(found.get(name), _KINDS[kind]) or not found[name]:
            return Unusable(f"the argument `{name}` must be a {kind} that is not empty")
    return {name: found[name] for name in ARGUMENTS[tool]}


def _why_not(tool: str, tools: tuple[str, ...]) -> str:
    if tool not in _EXECUTING:
        return "there is no such tool"
    if tool == EXECUTE_PYTHON and EXECUTE_SQL in tools:
        return "Python is switched off here"
    return "a person approves here what runs, and is asked about your proposal only"


def shown_datasets(datasets: tuple[Dataset, ...]) -> dict[str, Any]:
    listed = [
        {"id": each.id, "title": each.title, "description": each.description[:_LONGEST_DESCRIPTION]}
        for each in datasets[:MOST_DATASETS]
    ]
    more = len(datasets) - len(listed)
    return {"datasets": listed} | ({"not_shown": more} if more else {})


def shown_run(run: Run, asked: Asked, privacy: Privacy) -> dict[str, Any]:
    """A run as the model sees it."""
    # What is masked in another dataset is not known here.
    ours = run.request.dataset_id == asked.dataset.id
    privacy = privacy_of(run.request.query, asked.dataset, privacy) if ours else "schema"
    shown: dict[str, Any] = {"run_id": run.id, "status": run.status}
    if run.error is not None:
        return shown | {"error": _shown_error(run, asked, privacy)}
    if privacy == "off":
        return _fitting(report_of(run))
    known = known_words(asked, _written(run.request.query))
    # The column names of a pivoted table are cell values.
    columns = {each.name: each.type for each in run.columns if is_known(each.name, known)}
    return shown | ({"columns": columns} if columns else {})


def _written(query: Query) -> str:
    match query:
        case PlanQuery(plan):
            return json.dumps(plan, ensure_ascii=False)
        case SqlQuery(text) | CodeQuery(text):
            return text


def _shown_error(run: Run, asked: Asked, privacy: Privacy) -> Any:
    if isinstance(run.request.query, CodeQuery):
        return shown_error(seen_of(run, 1, ""), asked, privacy)
    assert run.error is not None
    return shown_problem(run.error, privacy)


def _fitting(report: dict[str, Any]) -> dict[str, Any]:
    """As many of the rows as fit."""
    while report.get("rows") and len(as_data(report)) > LONGEST_GAVE:
        report = {**report, "rows": report["rows"][: len(report["rows"]) // 2]}
    return report


def bounded(gave: dict[str, Any]) -> dict[str, Any]:
    length = len(as_data(gave))
    if length <= LONGEST_GAVE:
        return gave
    kept = {name: gave[name] for name in ("run_id", "status", "row_count") if name in gave}
    return kept | {"error": f"the result has {length:,} characters, more than {LONGEST_GAVE:,}: ask for less"}
