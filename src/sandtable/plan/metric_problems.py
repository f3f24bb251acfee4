"""What is wrong with the metrics of a dataset, each as a plan would use it."""

from __future__ import annotations

from sandtable.catalog.model import Dataset
from sandtable.errors import InvalidInput
from sandtable.plan.validate import check_plan, parse_plan
from sandtable.quoting import quote


def metric_problems(dataset: Dataset) -> tuple[str, ...]:
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
