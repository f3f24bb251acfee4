"""A run that found nothing, explained: the first condition that leaves no rows, and corrected queries.

Invariant: every number of an explanation is a cell of the run that it names, which counted on the same data version.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import structlog

from sandtable.capsule.query import CodeQuery, PlanQuery, SqlQuery
from sandtable.catalog.model import Dataset
from sandtable.catalog.profile import Profile
from sandtable.errors import SandtableError
from sandtable.plan.emptying import emptied, funnel_of, is_empty
from sandtable.plan.lookup import corrections
from sandtable.policy.verdict import Approved, Fix
from sandtable.runs.empty_sql import ReadSql, corrections_of_sql, may_be_empty, why_sql_found_nothing
from sandtable.runs.explanation import MOST_FIXES, Explanation
from sandtable.runs.fixes import Check
from sandtable.runs.lookup import Execute, look_up
from sandtable.runs.model import Run
from sandtable.wording.emptiness import correction_title, not_in_the_data, why_empty

log = structlog.get_logger(__name__)


def found_nothing(run: Run, dataset: Dataset) -> bool:
    """Whether it is a plan that found no rows, or aggregated none. Of SQL: whether its rows look so."""
    query = run.request.query
    if run.status != "succeeded" or run.rows is None:
        return False
    match query:
        case CodeQuery() | PlanQuery(dry_run=True) | SqlQuery(dry_run=True):
            return False
        case PlanQuery(plan):
            return is_empty(plan, run.rows, dataset)
        case SqlQuery():
            return may_be_empty(run.rows)


async def explained(
    run: Run, dataset: Dataset, profile: Profile, execute: Execute, check: Check, read_sql: ReadSql
) -> Explanation:
    """Of a run that is not empty, nothing."""
    if not found_nothing(run, dataset):
        return Explanation()
    match run.request.query:
        case PlanQuery(plan):
            return await _explained_plan(plan, run, dataset, profile, execute, check)
        case SqlQuery(sql):
            read = await read_sql(dataset, sql)
            why = await why_sql_found_nothing(read, run, dataset, profile, execute)
            made = await corrections_of_sql(sql, read, why.missing, dataset, check, MOST_FIXES)
            fixes = tuple(Fix(correction_title(each.changes), each.sql) for each in made)
            return Explanation(why.text, why.run_ids, fixes)
        case CodeQuery():
            return Explanation()


async def _explained_plan(
    plan: dict[str, Any], run: Run, dataset: Dataset, profile: Profile, execute: Execute, check: Check
) -> Explanation:
    texts: list[str] = []
    run_ids: list[str] = []
    counted = None
    if dataset.version == run.dataset_version:
        counted = await first_emptying(plan, dataset, execute)
    if counted is not None:
        texts.append(counted.text)
        run_ids += counted.run_ids
    looked = await look_up(plan, dataset, profile, execute)
    if looked.missing:
        texts.append(not_in_the_data(looked.missing))
        run_ids += looked.run_ids
    fixes: list[Fix] = []
    for correction in corrections(plan, looked.missing, dataset)[:MOST_FIXES]:
        if isinstance(await check(dataset, PlanQuery(correction.plan)), Approved):
            fixes.append(Fix(correction_title(correction.changes), plan=correction.plan))
    return Explanation(" ".join(texts), tuple(run_ids), tuple(fixes))


async def first_emptying(plan: Mapping[str, Any], dataset: Dataset, execute: Execute) -> Explanation | None:
    """The first condition that leaves no rows, with the run that counted them."""
    funnel = funnel_of(plan, dataset)
    if funnel is None:
        return None
    try:
        run = await execute(PlanQuery(funnel.plan))
    except SandtableError as error:
        # The empty result stands without it.
        log.warning("empty_result_not_explained", reason=error.message)
        return None
    if run.status != "succeeded" or len(run.rows or ()) != 1 or run.dataset_version != dataset.version:
        return None
    assert run.rows is not None
    row = dict(zip((column.name for column in run.columns), run.rows[0], strict=True))
    text = why_empty(plan, funnel, emptied(funnel, row), dataset)
    return Explanation(text, (run.id,)) if text else None
