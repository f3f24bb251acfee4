"""A run that found nothing, explained: the first condition that leaves no rows, and corrected plans.

Invariant: every number of an explanation is a cell of the run that it names, which counted on the same data version.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import structlog

from sandtable.capsule.query import PlanQuery
from sandtable.catalog.model import Dataset
from sandtable.catalog.profile import Profile
from sandtable.errors import SandtableError
from sandtable.plan.emptying import emptied, funnel_of, is_empty
from sandtable.plan.lookup import corrections
from sandtable.policy.verdict import Approved, Fix
from sandtable.runs.fixes import Check
from sandtable.runs.lookup import Execute, look_up
from sandtable.runs.model import Run
from sandtable.wording.emptiness import correction_title, not_in_the_data, why_empty

log = structlog.get_logger(__name__)

MOST_FIXES = 5


@dataclass(frozen=True, slots=True)
class Explanation:
    text: str = ""
    """Why there is nothing, in sentences of plain text; empty where that cannot be said."""
    run_ids: tuple[str, ...] = ()
    """The runs whose cells the text is made of."""
    fixes: tuple[Fix, ...] = ()
    """Plans with other values that the gate approves, the likeliest first."""


def found_nothing(run: Run, dataset: Dataset) -> bool:
    """Whether it is a plan that ran and found no rows, or aggregated none."""
    query = run.request.query
    if run.status != "succeeded" or not isinstance(query, PlanQuery) or query.dry_run or run.rows is None:
        return False
    return is_empty(query.plan, run.rows, dataset)


async def explained(
    run: Run, dataset: Dataset, profile: Profile, execute: Execute, check: Check
) -> Explanation:
    """Of a run that is not empty, nothing."""
    query = run.request.query
    if not isinstance(query, PlanQuery) or not found_nothing(run, dataset):
        return Explanation()
    texts: list[str] = []
    run_ids: list[str] = []
    counted = None
    if dataset.version == run.dataset_version:
        counted = await first_emptying(query.plan, dataset, execute)
    if counted is not None:
        texts.append(counted.text)
        run_ids += counted.run_ids
    looked = await look_up(query.plan, dataset, profile, execute)
    if looked.missing:
        texts.append(not_in_the_data(looked.missing))
        run_ids += looked.run_ids
    fixes: list[Fix] = []
    for correction in corrections(query.plan, looked.missing, dataset)[:MOST_FIXES]:
        if isinstance(await check(dataset, PlanQuery(correction.plan)), Approved):
            fixes.append(Fix(correction_title(correction), plan=correction.plan))
    return Explanation(" ".join(texts), tuple(run_ids), tuple(fixes))


async def first_emptying(plan: Mapping[str, Any], dataset: Dataset, execute: Execute) -> Explanation | None:
    """The first condition that leaves no rows, with the run that counted them."""
    funnel = funnel_of(plan, dataset)
    if funnel is None:
        return None
    try:
        run = await execute(funnel.plan)
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
