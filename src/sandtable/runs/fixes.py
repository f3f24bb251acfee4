"""Verified fixes: candidates for a refused or failed query, filtered by the gate's approval.

Invariant: an offered fix passes the gate unchanged. Nothing here is recorded: a fix is advice about the dataset as it
is now.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import structlog

from sandtable.capsule.query import CodeQuery, PlanQuery, Query, SqlQuery
from sandtable.catalog.model import Dataset
from sandtable.engines.rules import Rules
from sandtable.errors import SandtableError
from sandtable.plan.fixes import mended
from sandtable.policy.binder_fixes import binder_candidates
from sandtable.policy.fix_case import MOST_FIXES
from sandtable.policy.fixes import candidates
from sandtable.policy.verdict import Approved, Fix, Refused, Verdict
from sandtable.quoting import quote
from sandtable.runs.model import Run
from sandtable.runs.unknown_names import HELD_IN

log = structlog.get_logger(__name__)

_ROUNDS = 3


Check = Callable[[Dataset, Query], Awaitable[Verdict]]
"""The gate's verdict, without running anything."""


async def with_fixes(
    check: Check, dataset: Dataset, verdict: Verdict, query: Query, rules: Rules | None
) -> Verdict:
    """The same verdict; a refusal includes the fixes that the gate approves.

    `rules` are those of the dataset's engine; without them, no fix of an SQL text is found.
    """
    if isinstance(verdict, Approved):
        return verdict
    return replace(verdict, fixes=await _for_refusal(check, dataset, verdict, query, rules))


async def fixes_for(check: Check, dataset: Dataset, run: Run, rules: Rules | None) -> tuple[Fix, ...]:
    """For a run that was rejected, or that failed because the engine could not bind its names. `rules` as above."""
    error, query = run.error, run.request.query
    if error is None or run.status not in ("rejected", "failed"):
        return ()
    if run.status == "failed":
        if not isinstance(query, SqlQuery) or rules is None or error.details.get("type") != "BinderException":
            return ()
        is_value = HELD_IN in error.details
        made = binder_candidates(query.sql, error.message, error.suggestion, dataset, is_value=is_value)
        return await _approved(check, dataset, made, rules)
    place = error.details.get("position")
    refused = Refused(
        code=error.code,
        construct=str(error.details.get("construct", "")),
        message=error.message,
        suggestion=error.suggestion,
        position=place if isinstance(place, int) else None,
        details=error.details,
    )
    return await _for_refusal(check, dataset, refused, query, rules)


async def _for_refusal(
    check: Check, dataset: Dataset, refused: Refused, query: Query, rules: Rules | None
) -> tuple[Fix, ...]:
    match query:
        case SqlQuery(sql):
            if rules is None:
                return ()
            made = candidates(sql, refused, dataset, rules.functions)
            return await _approved(check, dataset, made, rules)
        case PlanQuery(plan):
            return await _mended_plan(check, dataset, refused, plan)
        case CodeQuery():
            return ()


async def _mended_plan(
    check: Check, dataset: Dataset, refused: Refused, plan: Mapping[str, Any]
) -> tuple[Fix, ...]:
    """Some problems of a plan are only found after others are fixed."""
    verdict: Verdict = refused
    used: list[str] = []
    try:
        for _ in range(_ROUNDS):
            problems = verdict.details.get("errors") if isinstance(verdict, Refused) else None
            made = mended(plan, problems) if isinstance(problems, list) else None
            if made is None:
                return ()
            names, plan = made
            used += [name for name in names if name not in used]
            verdict = await check(dataset, PlanQuery(dict(plan)))
            if isinstance(verdict, Approved):
                return (Fix(_title(used), plan=dict(plan)),)
    except SandtableError as error:
        log.warning("fixes_not_checked", reason=error.message)
    return ()


def _title(names: list[str]) -> str:
    *first, last = [quote(name) for name in names]
    return f"Use {', '.join(first)} and {last}" if first else f"Use {last}"


async def _approved(check: Check, dataset: Dataset, made: Iterable[Fix], rules: Rules) -> tuple[Fix, ...]:
    kept: list[Fix] = []
    try:
        for fix in made:
            held = await _held(check, dataset, fix, rules)
            if held is not None and held not in kept:
                kept.append(held)
            if len(kept) == MOST_FIXES:
                break
    except SandtableError as error:
        # The refusal is returned without them.
        log.warning("fixes_not_checked", reason=error.message)
    return tuple(kept)


async def _held(check: Check, dataset: Dataset, fix: Fix, rules: Rules) -> Fix | None:
    """The fix, if the gate approves it; else, once, with the likeliest fix for its own refusal."""
    assert fix.text is not None
    verdict = await check(dataset, SqlQuery(fix.text))
    if isinstance(verdict, Approved):
        return fix
    for second in candidates(fix.text, verdict, dataset, rules.functions)[:1]:
        assert second.text is not None
        if isinstance(await check(dataset, SqlQuery(second.text)), Approved):
            also = f"{fix.title}, {second.title[0].lower()}{second.title[1:]}"
            return replace(second, title=fix.title if second.title == fix.title else also)
    return None
