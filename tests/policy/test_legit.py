"""Real analytics pass, and the canonical text answers what the original would have answered."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from sandtable.policy.verdict import Approved
from tests.policy.corpora import LEGIT, cases
from tests.policy.shop import ENGINE, verdict


def _approved(sql: str) -> Approved:
    found = verdict(sql)
    assert isinstance(found, Approved), found
    return found


def _comparable(value: Any) -> Any:
    """Values up to the last digits of floating point, which compensated sums may change."""
    if isinstance(value, (float, int, Decimal)) and not isinstance(value, bool):
        return f"{float(value):.9g}"
    if isinstance(value, (list, tuple)):
        return tuple(_comparable(v) for v in value)
    if isinstance(value, dict):
        return tuple((str(k), _comparable(v)) for k, v in value.items())
    return value


def _answer(sql: str) -> tuple[list[str], list[str]]:
    cursor = ENGINE.execute(sql)
    names = [column[0] for column in cursor.description]
    return names, sorted(repr(_comparable(row)) for row in cursor.fetchall())


@pytest.mark.parametrize("case", cases(LEGIT))
def test_legitimate_query_is_approved_and_means_the_same(case: dict[str, Any]) -> None:
    approved = _approved(case["sql"])
    # The one that is labelled makes its only column itself.
    labelled = bool(approved.tables and approved.not_from_data)
    assert labelled == (case["id"] == "sums-of-times-05")
    assert _answer(approved.sql) == _answer(case.get("same_as", case["sql"]))


@pytest.mark.parametrize("case", cases(LEGIT))
def test_canonical_text_is_its_own_canonical_text(case: dict[str, Any]) -> None:
    once = _approved(case["sql"])
    again = _approved(once.sql)
    assert again.sql == once.sql
    assert (again.serial, again.volatile) == (once.serial, once.volatile)
    assert (again.tables, again.functions) == (once.tables, once.functions)


@pytest.mark.parametrize("case", cases(LEGIT))
def test_canonical_text_can_be_cut_to_a_number_of_rows(case: dict[str, Any]) -> None:
    rows = ENGINE.execute(f"SELECT * FROM ({_approved(case['sql']).sql}\n) LIMIT 3").fetchall()
    assert len(rows) <= 3


def test_corpus_is_large_enough() -> None:
    assert len(LEGIT) >= 200
    assert len({case["id"] for case in LEGIT}) == len(LEGIT)
