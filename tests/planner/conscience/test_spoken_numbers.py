"""Scores, open limits, parts of a year and negated times in words: with the plan that means them, and with another."""

from __future__ import annotations

from typing import Any

import pytest

from sandtable.plan.validate import check_plan, parse_plan
from sandtable.planner.conscience import account
from tests.planner.conscience.corpus import COUNT, DATASET, INDEX, ROWS, by, first, plan, where

_JUNE = {"from": "2025-06-01", "to": "2025-06-30"}
_BRAKES = where("kind_of_job", "=", "brakes")


_SINCE = {"of": {"elapsed": "day", "from": "opened_on"}, "op": ">", "value": 30}


def _listed(*conditions: dict[str, Any]) -> dict[str, Any]:
    return plan(select=[ROWS], filters=list(conditions))


def _in(start: str, end: str) -> dict[str, Any]:
    return plan(time={"from": start, "to": end})


def _with(op: str) -> dict[str, Any]:
    return by("mechanic", filters=[_BRAKES], having=[where("count", op, 10)])


def _quarters(*spans: tuple[str, str]) -> dict[str, Any]:
    counts = [
        {**COUNT, "where": [{"time": {"from": start, "to": end}}], "as": f"count_{at}"}
        for at, (start, end) in enumerate(spans)
    ]
    return plan(select=counts)


CASES: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("how many repairs were rated 5", plan(filters=[where("stars", "=", 5)]), plan(filters=[where("stars", "=", 4)])),
    ("repairs rated 1 or 2", _listed(where("stars", "<=", 2)), _listed(where("stars", "<=", 3))),
    ("repairs that got 1 or 2 stars", _listed(where("stars", "in", [1, 2])), _listed(where("stars", "in", [1, 3]))),
    ("repairs rated 2 or worse", _listed(where("stars", "<=", 2)), _listed(where("stars", ">=", 2))),
    ("repairs rated 4 or better", _listed(where("stars", ">=", 4)), _listed(where("stars", "<=", 4))),
    ("mechanics with 10 brakes repairs or more", _with(">="), _with("<=")),
    ("the number one mechanic by repairs", first(by("mechanic"), "count"), by("mechanic")),
    (
        "how many repairs in the first three months of 2025",
        _in("2025-01-01", "2025-03-31"),
        _in("2025-01-01", "2025-04-30"),
    ),
    (
        "how many repairs in the last two quarters of 2024",
        _in("2024-07-01", "2024-12-31"),
        _in("2024-10-01", "2024-12-31"),
    ),
    ("how many repairs from May 2025", _in("2025-05-01", "2025-05-31"), _in("2025-05-01", "2025-06-15")),
    (
        "did we have more repairs in the second quarter of 2025 than in the first",
        _quarters(("2025-01-01", "2025-03-31"), ("2025-04-01", "2025-06-30")),
        _quarters(("2024-10-01", "2024-12-31"), ("2025-04-01", "2025-06-30")),
    ),
    ("how many repairs were not in June 2025", plan(filters=[{"not": {"time": _JUNE}}]), plan(time=_JUNE)),
    ("how many repairs were in June 2025", plan(time=_JUNE), plan(filters=[{"not": {"time": _JUNE}}])),
    (
        "repairs with some other status than done",
        _listed(where("status", "!=", "done")),
        _listed(where("status", "=", "done")),
    ),
    (
        "repairs that were not opened for more than 30 days",
        _listed(_SINCE),
        _listed({**_SINCE, "op": "<"}),
    ),
    (
        "repairs not by Bo Lind, opened for more than 30 days",
        _listed(where("mechanic", "!=", "Bo Lind"), _SINCE),
        _listed(where("mechanic", "=", "Bo Lind"), _SINCE),
    ),
    (
        "repairs with no brakes, opened for more than 30 days",
        _listed(where("kind_of_job", "!=", "brakes"), _SINCE),
        _listed(_BRAKES, _SINCE),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("question", "meant", "other"), CASES, ids=[case[0] for case in CASES])
def test_the_words_are_bound_to_the_plan_that_means_them_alone(
    question: str, meant: dict[str, Any], other: dict[str, Any]
) -> None:
    for each in (meant, other):
        assert check_plan(parse_plan(each), DATASET) == []
    found = account(question, meant, INDEX)
    assert (found.unbound, found.unasked) == ((), ())
    assert not account(question, other, INDEX).clean
