"""Every function of the engine is allowed or refused, and the documentation lists the allowed ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandtable.engines.duckdb.functions import FUNCTIONS, THEMES
from sandtable.engines.duckdb.reference import function_table
from tests.policy.shop import PARSER

_KNOWN = FUNCTIONS.allowed | FUNCTIONS.window_only | FUNCTIONS.table_functions
# The parser's own: they are no functions of the catalog, or reach it under another name.
_SPELLED_BY_THE_PARSER = {
    "->",
    "coalesce",
    "current_time",
    "current_timestamp",
    "grouping",
    "grouping_id",
    "ifnull",
}


def _engine(kind: str = "%") -> set[str]:
    sql = "SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type LIKE ?"
    return {row[0].lower() for row in PARSER.execute(sql, [kind]).fetchall()}


def test_every_function_of_the_engine_is_allowed_or_refused_on_purpose() -> None:
    assert sorted(n for n in _engine() if n not in _KNOWN and FUNCTIONS.refusal_of(n) is None) == []


def test_allow_list_names_only_functions_that_exist() -> None:
    assert _KNOWN - _engine() == _SPELLED_BY_THE_PARSER


def test_no_function_is_allowed_and_refused() -> None:
    assert _KNOWN & set(FUNCTIONS.refused) == set()
    assert not FUNCTIONS.aggregates & FUNCTIONS.scalars


def test_kinds_agree_with_the_engine() -> None:
    assert _engine("window") == FUNCTIONS.window_only
    scalar_only = _engine("scalar") - _engine("aggregate") - _engine("macro")
    assert FUNCTIONS.aggregates & scalar_only == set()
    assert not FUNCTIONS.table_functions - _engine("table")


def test_no_allowed_table_function_takes_a_table_or_a_file() -> None:
    assert {"range", "generate_series", "unnest", "json_each", "json_tree"} == FUNCTIONS.table_functions


@pytest.mark.parametrize(
    "name", ["read_csv", "sqlite_scan", "load_aws_credentials", "getenv", "duckdb_x", "__a"]
)
def test_refusals_have_a_reason(name: str) -> None:
    refusal = FUNCTIONS.refusal_of(name)
    assert refusal is not None
    assert refusal.reason and refusal.suggestion


def test_documentation_lists_the_allowed_functions() -> None:
    text = (Path(__file__).parents[3] / "docs" / "policy.md").read_text(encoding="utf-8")
    assert function_table() in text
    assert sum(len(names) for names in THEMES.values()) >= len(_KNOWN)
