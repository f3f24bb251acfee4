"""The kind of rule that refused a query is one of a few words, whatever the query holds."""

from __future__ import annotations

import pytest

from sandtable.capsule.model import VerdictRecord
from sandtable.engines.duckdb.rules import RULES
from sandtable.errors import ErrorCode
from sandtable.runs.refusals import rule_of

SQL, INVALID = ErrorCode.SQL_POLICY_VIOLATION, ErrorCode.VALIDATION_ERROR
PYTHON = ErrorCode.PYTHON_POLICY_VIOLATION


@pytest.mark.parametrize(
    ("construct", "code", "rule"),
    [
        ("read_csv", SQL, "function"),
        ("GETENV", SQL, "function"),
        ("INSERT", SQL, "statement"),
        ("CREATE FUNC", SQL, "statement"),
        (";", SQL, "statement"),
        ("U+200B", SQL, "character"),
        ("nesting", SQL, "nesting"),
        ("JOIN", SQL, "joins"),
        ("length", SQL, "length"),
        ("the query", SQL, "form"),
        ("plan", INVALID, "plan"),
        ("PIVOT", INVALID, "pivot"),
        ("syntax", INVALID, "syntax"),
        ("orders_backup", INVALID, "invalid"),
        ("my secret table", SQL, "construct"),
        ("os.system", PYTHON, "python"),
    ],
)
def test_the_rule_of_a_refusal(construct: str, code: ErrorCode, rule: str) -> None:
    assert rule_of(VerdictRecord(decision="refused", code=code, construct=construct), RULES) == rule


def test_without_rules_of_the_engine() -> None:
    assert rule_of(VerdictRecord(decision="refused", code=SQL, construct="read_csv"), None) == "construct"
