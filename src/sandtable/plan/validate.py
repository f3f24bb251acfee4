"""The entry point of the plan language: `parse_plan` reads a plan, `check_plan` checks it against a dataset."""

from __future__ import annotations

from sandtable.catalog.model import Dataset
from sandtable.errors import InvalidInput
from sandtable.plan.model import QueryPlan
from sandtable.plan.problems import PlanProblem, refuse
from sandtable.plan.reading import read_plan
from sandtable.plan.resolve import resolve_plan
from sandtable.plan.resolved import ResolvedPlan
from sandtable.quoting import quote

__all__ = ["PlanProblem", "check_plan", "metric_problems", "parse_plan", "require_plan"]


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


def metric_problems(dataset: Dataset) -> tuple[str, ...]:
    """What is wrong with the metrics of a dataset, each as a plan would use it, in words."""
    found: list[str] = []
    for metric in dataset.metrics:
        try:
            plan = parse_plan(
                {"dataset_id": dataset.id, "table": metric.table, "select": [{"metric": metric.name}]}
            )
            problems = [problem.message for problem in check_plan(plan, dataset)]
        except InvalidInput as error:
            problems = [error.message]
        found.extend(f"metric {quote(metric.name)}: {problem}" for problem in problems)
    return tuple(found)
