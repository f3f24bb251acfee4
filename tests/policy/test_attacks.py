"""Every attack of the corpus is refused, by name, with advice."""

from __future__ import annotations

from typing import Any

import pytest

from sandtable.errors import ErrorCode
from sandtable.policy.verdict import Refused
from tests.policy.corpora import ATTACKS, cases
from tests.policy.shop import verdict

_BY_PLACE = {"functions-in-every-position", "scalar-functions", "table-functions", "files-in-every-position"}


@pytest.mark.parametrize("case", cases(ATTACKS))
def test_attack_is_refused(case: dict[str, Any]) -> None:
    text = case["sql"]
    found = verdict(text)
    assert isinstance(found, Refused), found
    assert found.construct and found.message and found.suggestion
    assert found.code in (ErrorCode.SQL_POLICY_VIOLATION, ErrorCode.VALIDATION_ERROR)
    if found.position is not None:
        assert 0 <= found.position <= len(text)
        assert found.position + found.length <= len(text)


@pytest.mark.parametrize("case", cases([c for c in ATTACKS if c["family"] in _BY_PLACE]))
def test_refusal_points_at_the_construct(case: dict[str, Any]) -> None:
    found = verdict(case["sql"])
    assert isinstance(found, Refused)
    if found.message.startswith("This is not valid SQL"):
        return
    assert found.position is not None
    marked = case["sql"][found.position : found.position + found.length].lower()
    assert found.construct.lower().split(".")[-1] in marked


def test_corpus_covers_the_families() -> None:
    assert len(ATTACKS) >= 300
    assert len({case["family"] for case in ATTACKS}) >= 15
    assert len({case["id"] for case in ATTACKS}) == len(ATTACKS)


def test_statements_that_change_things_are_policy_violations() -> None:
    families = ("statements", "changing-ctes", "files-as-tables", "system-tables")
    for case in ATTACKS:
        found = verdict(case["sql"])
        assert isinstance(found, Refused)
        # Where the parser itself gives up, nothing says what the text would have done.
        if case["family"] in families and not found.message.startswith("This is not valid SQL"):
            assert found.code is ErrorCode.SQL_POLICY_VIOLATION, case
