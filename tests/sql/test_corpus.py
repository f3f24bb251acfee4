"""Every plan of the corpus compiles to the SQL written beside it, and that SQL returns those rows."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest

from tests.plan.shop import connect
from tests.sql.corpus import Case, cases, observe

CASES = cases()


@pytest.fixture(scope="module")
def shop() -> Iterator[duckdb.DuckDBPyConnection]:
    with connect() as connection:
        yield connection


@pytest.mark.parametrize("case", [case for _, case in CASES], ids=[name for name, _ in CASES])
def test_corpus(case: Case, shop: duckdb.DuckDBPyConnection) -> None:
    observed = observe(case["plan"], shop)
    for part in ("sql", "warnings", "columns", "rows"):
        assert observed[part] == case[part], part


def test_the_corpus_is_whole() -> None:
    titles = [name for name, _ in CASES]
    assert len(titles) == len(set(titles)) >= 60
