"""Advice for SQL that failed because of a column that no table of the query has.

The engine knows the tables of the query only. The dataset says which other table has the column, and its profile
which column holds the name as a value: `city = "Berlin"`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import structlog

from sandtable.catalog.model import ColumnType, Dataset
from sandtable.catalog.near_values import texts_of
from sandtable.catalog.profile import Profile
from sandtable.errors import Problem, SandtableError
from sandtable.policy.unknown_columns import as_a_value, in_another_table, unknown_column
from sandtable.runs.watch import HUNG, bounded

log = structlog.get_logger(__name__)

HELD_IN = "held_in"
"""In the details of an error: the columns that hold what was taken for a name. That is known from the data."""
_PATIENCE_S = 5.0

ReadProfile = Callable[[Dataset], Awaitable[Profile]]


async def advised(
    error: Problem, sql: str, read: Sequence[str], dataset: Dataset, profile: ReadProfile | None
) -> Problem:
    """The same error with better advice, where there is any. `read` are the tables that the query reads."""
    found = unknown_column(sql, error.message) if error.details.get("type") == "BinderException" else None
    if found is None:
        return error
    elsewhere = in_another_table(found.name, read, dataset)
    if elsewhere:
        return error.model_copy(update={"suggestion": f"{elsewhere} {_sentence(error.suggestion)}".strip()})
    held = await _held_in(found.name, dataset, profile) if found.compared else ()
    if not held and not (found.compared and found.quoted):
        return error
    details = {**error.details, HELD_IN: list(held)} if held else error.details
    return error.model_copy(update={"suggestion": as_a_value(found.name, held), "details": details})


async def _held_in(name: str, dataset: Dataset, profile: ReadProfile | None) -> tuple[str, ...]:
    """Columns that hold the text, as far as the profile lists their values."""
    if profile is None:
        return ()
    try:
        made = await bounded(profile(dataset), _PATIENCE_S)
    except SandtableError as error:
        # The error stands without it.
        log.warning("unknown_name_not_looked_up", reason=error.message)
        return ()
    if made is HUNG:
        return ()
    return tuple(
        f"{table.name}.{column.name}"
        for table in dataset.tables
        for column in table.columns
        if column.type is ColumnType.TEXT and _holds(made, table.name, column.name, name)
    )


def _holds(profile: Profile, table: str, column: str, text: str) -> bool:
    profiled = profile.table(table)
    seen = profiled.column(column) if profiled else None
    return seen is not None and text in texts_of(seen)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"
