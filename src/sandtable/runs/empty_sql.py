"""SQL that found nothing: its values looked up in the data, and the first condition that leaves no rows, counted.

Invariant: every number is a cell of a run that is named, which counted on the same data version. SQL is read in a
sandbox only: `ReadSql` gives what the gate's own tree says.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

import structlog

from sandtable.capsule.query import SqlQuery
from sandtable.catalog.model import Dataset
from sandtable.catalog.profile import Profile
from sandtable.errors import SandtableError
from sandtable.plan.emptying import Emptied, first_empty
from sandtable.plan.literals import TextLiteral
from sandtable.plan.lookup import Change, MissingValue, ways_of
from sandtable.plan.resolved import ColumnRef
from sandtable.policy.comparisons import Comparison
from sandtable.policy.conditions import SqlConditions
from sandtable.policy.value_fixes import Way, with_values
from sandtable.policy.verdict import Approved
from sandtable.runs.fixes import Check
from sandtable.runs.lookup import Execute, LookedUp, look_up_texts
from sandtable.runs.model import Run
from sandtable.wording.emptiness import near_in_the_data, not_in_the_data, why_sql_is_empty

log = structlog.get_logger(__name__)

ReadSql = Callable[[Dataset, str], Awaitable[SqlConditions]]
"""What a text restricts its rows by; nothing for one that the gate does not approve."""


@dataclass(frozen=True, slots=True)
class SqlCorrection:
    sql: str
    changes: tuple[Change, ...]


def may_be_empty(rows: Sequence[Sequence[Any]]) -> bool:
    """Whether rows look like nothing: there are none, or one of NULL and 0. Whether the latter sums up no rows, only
    its text says."""
    return not rows or (len(rows) == 1 and all(cell is None or cell == 0 for cell in rows[0]))


@dataclass(frozen=True, slots=True)
class WhyNothing:
    text: str = ""
    run_ids: tuple[str, ...] = ()
    missing: tuple[MissingValue, ...] = ()


async def why_sql_found_nothing(
    read: SqlConditions, run: Run, dataset: Dataset, profile: Profile | None, execute: Execute
) -> WhyNothing:
    """For a run whose rows may be nothing. Without a profile, its values are not looked up."""
    if run.rows and not read.sums_up:
        return WhyNothing()
    texts: list[str] = []
    run_ids: list[str] = []
    if dataset.version == run.dataset_version:
        said, run_ids = await _first_emptying(read, dataset, execute)
        texts.append(said)
    looked = LookedUp() if profile is None else await look_up_sql(read, dataset, profile, execute)
    if looked.missing:
        texts += [not_in_the_data(looked.missing), near_in_the_data(looked.missing)]
    return WhyNothing(" ".join(filter(None, texts)), (*run_ids, *looked.run_ids), looked.missing)


async def _first_emptying(read: SqlConditions, dataset: Dataset, execute: Execute) -> tuple[str, list[str]]:
    """The first condition that leaves no rows. A SELECT that reads no rows is explained by the one that it reads."""
    ran: list[str] = []
    said = ""
    for select in read.selects:
        counted = await _counted(select.sql, dataset, execute)
        if counted is None:
            break
        run_id, found = counted
        ran.append(run_id)
        said = why_sql_is_empty(select.conditions, found, select.table, select.passed)
        if found.rows:
            break
    return said, ran if said else []


async def _counted(sql: str, dataset: Dataset, execute: Execute) -> tuple[str, Emptied] | None:
    try:
        run = await execute(SqlQuery(sql))
    except SandtableError as error:
        # The empty result stands without it.
        log.warning("empty_result_not_explained", reason=error.message)
        return None
    if run.status != "succeeded" or len(run.rows or ()) != 1 or run.dataset_version != dataset.version:
        return None
    assert run.rows is not None
    rows, *left = (int(cell or 0) for cell in run.rows[0])
    return run.id, first_empty(rows, left)


async def look_up_sql(
    read: SqlConditions, dataset: Dataset, profile: Profile, execute: Execute | None
) -> LookedUp:
    literals = [
        literal
        for place, comparison in enumerate(read.comparisons)
        if (literal := _literal(comparison, place, dataset)) is not None
    ]
    return await look_up_texts(literals, dataset, profile, execute)


def _literal(comparison: Comparison, place: int, dataset: Dataset) -> TextLiteral | None:
    """Its place is that of the comparison in `SqlConditions`."""
    table = dataset.table(comparison.table)
    column = table.column(comparison.column) if table else None
    if column is None:
        return None
    ref = ColumnRef(comparison.table, column.name, column.type, column.sql_type)
    return TextLiteral(comparison.value, ref, (place,), comparison.table, comparison.negated)


async def corrections_of_sql(
    sql: str, read: SqlConditions, missing: Sequence[MissingValue], dataset: Dataset, check: Check, most: int
) -> tuple[SqlCorrection, ...]:
    """Texts that the gate approves, with one of the missing values put right in each of the ways there are, and each
    other by its nearest."""
    made: dict[str, SqlCorrection] = {}
    for one in missing:
        others = [Change(each, each.nearest[0]) for each in missing if each is not one and each.nearest]
        for value, column in ways_of(one):
            changes = (*others, Change(one, value, column))
            text = with_values(sql, [_way(change, read) for change in changes])
            if text is None or text in made or len(made) == most:
                continue
            if isinstance(await check(dataset, SqlQuery(text)), Approved):
                made[text] = SqlCorrection(text, changes)
    return tuple(made.values())


def _way(change: Change, read: SqlConditions) -> Way:
    place = change.missing.literal.place[0]
    assert isinstance(place, int)
    moved = (change.column.table, change.column.column) if change.column else None
    return read.comparisons[place], change.value, moved
