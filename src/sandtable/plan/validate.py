"""The entry point of the plan language: `parse_plan` reads a plan, `check_plan` checks it against a dataset."""

from __future__ import annotations

from sandtable.catalog.model import Dataset
from sandtable.plan.model import QueryPlan
from sandtable.plan.problems import PlanProblem, refuse
from sandtable.plan.reading import read_plan
from sandtable.plan.resolve import resolve_plan
from sandtable.plan.resolved import ResolvedPlan

__all__ = ["PlanProblem", "check_plan", "parse_plan", "require_plan"]


def parse_plan(obj: object) -> QueryPlan:
    """A JSON object as a plan; InvalidInput with every problem in `details["errors"]` otherwise."""
    plan = read_plan(obj)
    if isinstance(plan, QueryPlan):
        return plan
    raise refuse(plan)


def check_plan(plan: QueryPlan, dataset: Dataset) -> list[PlanProblem]:
    """Every reason why the plan does not fit the dataset; empty when it does."""
    resolved = resolve_plan(plan, dataset)
    return [] if isinstance(resolved, ResolvedPlan) else resolved


def require_plan(plan: QueryPlan, dataset: Dataset) -> ResolvedPlan:
    """The plan with all its names and types resolved; InvalidInput with every problem otherwise."""
    resolved = resolve_plan(plan, dataset)
    if isinstance(resolved, ResolvedPlan):
        return resolved
    raise refuse(resolved)
