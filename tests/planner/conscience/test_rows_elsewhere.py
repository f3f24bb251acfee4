"""Words about rows of another table: "without repairs", "at least 3 repairs", and plans that do not mean them."""

from __future__ import annotations

from typing import Any

import pytest

from sandtable.plan.validate import check_plan, parse_plan
from sandtable.planner.conscience import Account, account
from tests.planner.conscience.corpus import DATASET, INDEX, having, plan, where, without

_JUNE = {"from": "2025-06-01", "to": "2025-06-30"}
_BO, _ADA = where("mechanic", "=", "Bo Lind"), where("mechanic", "=", "Ada Horn")


def _clients(*filters: dict[str, Any]) -> dict[str, Any]:
    return plan("clients", select=[{"column": "client_name"}], filters=list(filters))


BOUND: list[tuple[str, dict[str, Any]]] = [
    ("clients without repairs", _clients(without())),
    ("clients who never had a repair", _clients(without())),
    ("who never had a repair", _clients(without())),
    ("which clients have no repairs in June 2025", _clients(without({"time": _JUNE}))),
    ("clients with repairs", _clients(having())),
    ("clients with no brakes", _clients(without(where("kind_of_job", "=", "brakes")))),
    ("clients who had repairs by Bo Lind but not by Ada Horn", _clients(having(_BO), without(_ADA))),
    ("clients with repairs by both Bo Lind and Ada Horn", _clients(having(_BO), having(_ADA))),
    ("clients with at least 3 repairs", _clients(having(at_least=3))),
    ("clients with more than 2 repairs", _clients(having(at_least=3))),
    ("clients with fewer than 3 repairs", _clients(without(at_least=3))),
    (
        "clients without repairs of more than 2 hours of labour",
        _clients(without(where("labour_min", ">", 120))),
    ),
]
UNBOUND: list[tuple[str, dict[str, Any], str, str]] = [
    ("clients without repairs", _clients(having()), "negation", "without"),
    ("clients without repairs", _clients(), "negation", "without"),
    ("clients with repairs", _clients(), "content", "repairs"),
    ("clients without repairs in June 2025", _clients(without()), "time", "in June 2025"),
    ("clients with at least 3 repairs", _clients(having(at_least=2)), "comparison", "at least 3"),
    ("clients with more than 3 repairs", _clients(having(at_least=3)), "comparison", "more than 3"),
    ("clients with fewer than 3 repairs", _clients(having(at_least=3)), "comparison", "fewer than 3"),
    (
        "clients without repairs of more than 2 hours of labour",
        _clients(without(where("labour_min", "<", 120))),
        "comparison",
        "more than 2 hours",
    ),
]
UNASKED: list[tuple[str, dict[str, Any], tuple[str | int, ...]]] = [
    ("how many clients are there", plan("clients", filters=[having()]), ("filters", 0, "exists")),
    ("how many clients are there", plan("clients", filters=[without()]), ("filters", 0, "not", "exists")),
    ("clients with repairs", _clients(without()), ("filters", 0, "not", "exists")),
    ("how many repairs are there", plan("clients", filters=[having()]), ("table",)),
]


def _of(question: str, plan_: dict[str, Any]) -> Account:
    assert check_plan(parse_plan(plan_), DATASET) == []
    return account(question, plan_, INDEX)


@pytest.mark.parametrize(("question", "plan_"), BOUND, ids=[q for q, _ in BOUND])
def test_a_plan_that_means_every_word_has_a_clean_account(question: str, plan_: dict[str, Any]) -> None:
    found = _of(question, plan_)
    assert found.unbound == () and found.unasked == ()


@pytest.mark.parametrize(("question", "plan_", "kind", "text"), UNBOUND)
def test_a_word_that_no_part_means_is_named(
    question: str, plan_: dict[str, Any], kind: str, text: str
) -> None:
    assert (kind, text) in [(u.kind, u.text) for u in _of(question, plan_).unbound]


@pytest.mark.parametrize(("question", "plan_", "path"), UNASKED)
def test_a_part_that_no_word_asks_for_is_named(
    question: str, plan_: dict[str, Any], path: tuple[str | int, ...]
) -> None:
    assert path in [part.path for part in _of(question, plan_).unasked]
