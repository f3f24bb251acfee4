"""What a caller submits: a plan, SQL or Python. One type for each, so that no run has none or two of them.

Outside (REST bodies, lines of JSON, rows of the run store) a query is a set of fields, of which exactly one of `plan`,
`sql` and `python` is given. `query_of` parses them once; `fields_of` writes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sandtable.errors import InvalidInput
from sandtable.quoting import quote

Mode = Literal["sql", "dry_run", "python"]


@dataclass(frozen=True, slots=True)
class PlanQuery:
    plan: dict[str, Any]
    dry_run: bool = False
    """Bind and explain only."""

    @property
    def mode(self) -> Mode:
        return "dry_run" if self.dry_run else "sql"


@dataclass(frozen=True, slots=True)
class SqlQuery:
    sql: str
    dry_run: bool = False
    """Bind and explain only."""

    @property
    def mode(self) -> Mode:
        return "dry_run" if self.dry_run else "sql"


@dataclass(frozen=True, slots=True)
class CodeQuery:
    code: str
    names: Mapping[str, str] = field(default_factory=dict)
    """Further names by which the code can use tables of the dataset."""
    check: bool = True
    """Whether the code is judged before it runs. Only a person on their own machine may skip that, never a request."""
    session: str | None = None
    """The live session whose next cell this code is. Only a conversation or the library sets it, never a request."""

    @property
    def mode(self) -> Mode:
        return "python"


Query = PlanQuery | SqlQuery | CodeQuery


def query_of(
    *,
    plan: dict[str, Any] | None = None,
    sql: str | None = None,
    python: str | None = None,
    names: Mapping[str, str] | None = None,
    mode: Mode = "sql",
    check: bool = True,
    session: str | None = None,
    what: str = "a run",
) -> Query:
    """Raises InvalidInput for fields that make no query; `what` is named in the error. Python needs no `mode`."""
    given = [name for name, value in (("plan", plan), ("sql", sql), ("python", python)) if value is not None]
    if len(given) != 1:
        several = f"{what} cannot have both {' and '.join(quote(name) for name in given)}"
        raise InvalidInput(
            several if given else f"{what} needs a plan, SQL or Python",
            suggestion="Give exactly one of `plan`, `sql` and `python`.",
        )
    if python is not None:
        if mode == "dry_run":
            raise wrong_mode(mode, "Python")
        return CodeQuery(python, dict(names or {}), check, session)
    if mode == "python":
        raise wrong_mode(mode, "SQL")
    if not check:
        raise InvalidInput("only Python can run unchecked", suggestion="Leave `check` as it is.")
    if names:
        raise InvalidInput("only Python has further names for tables", suggestion="Leave `names` out.")
    if session is not None:
        raise InvalidInput("only Python runs in a session", suggestion="Leave `session` out.")
    dry_run = mode == "dry_run"
    if plan is not None:
        return PlanQuery(plan, dry_run)
    assert sql is not None
    return SqlQuery(sql, dry_run)


def wrong_mode(mode: Mode, language: str) -> InvalidInput:
    return InvalidInput(
        f"the mode {quote(mode)} is not for {language}",
        suggestion="Leave `mode` out. A check says whether the gate approves code.",
        field="mode",
    )


def fields_of(query: Query) -> dict[str, Any]:
    """All the fields that `query_of` reads; those that do not apply have their defaults."""
    made: dict[str, Any] = {"plan": None, "sql": None, "python": None, "names": {}, "check": True}
    made |= {"mode": query.mode, "session": None}
    match query:
        case PlanQuery(plan):
            return made | {"plan": plan}
        case SqlQuery(sql):
            return made | {"sql": sql}
        case CodeQuery(code, names, check, session):
            return made | {"python": code, "names": dict(names), "check": check, "session": session}


def fitted_plan(plan: dict[str, Any], dataset_id: str) -> dict[str, Any]:
    """Adds the dataset, which a plan need not repeat when it is given beside it."""
    return plan if plan.get("dataset_id") is not None else {**plan, "dataset_id": dataset_id}


def plan_of(query: Query) -> dict[str, Any] | None:
    """The plan, if any: for a chart's title and marks of trust."""
    return query.plan if isinstance(query, PlanQuery) else None
