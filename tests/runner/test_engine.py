"""The engine as every sandbox has it."""

from __future__ import annotations

import sys

import pytest

from sandtable_runner import engine


@pytest.mark.parametrize(
    "ratio", ["x / sum(x) OVER (PARTITION BY k)", "x / nullif(sum(x) OVER (PARTITION BY k), 0)"]
)
def test_a_ratio_to_a_partitions_sum_is_right(ratio: str) -> None:
    """DuckDB 2.0.0 answers 1e74, or breaks, unless one of its rewrites is switched off."""
    connection = engine.connect()
    connection.execute(
        "CREATE TABLE t AS SELECT * FROM (VALUES ('a', 5.00::DECIMAL(10,2)), ('b', 7.50)) AS t(k, x)"
    )
    connection.execute("CREATE VIEW v AS SELECT * FROM t")
    rows = connection.execute(
        f"SELECT * FROM (SELECT k, {ratio} AS s FROM v) WHERE s > 0 ORDER BY k"
    ).fetchall()
    assert rows == [("a", 1.0), ("b", 1.0)]


def test_moments_with_a_zone_come_back_in_utc() -> None:
    rows = engine.connect().execute("SELECT TIMESTAMPTZ '2025-01-02 03:04:05+02'").fetchall()
    assert [row[0].isoformat() for row in rows] == ["2025-01-02T01:04:05+00:00"]


def test_no_stand_in_is_left_for_what_is_imported_later() -> None:
    """pandas asks for the version of pytz, where there is one."""
    connection = engine.connect()
    assert "pytz" not in sys.modules
    assert (
        connection.execute("SELECT [TIMESTAMPTZ '2025-01-02 03:04:05+02']").fetchall()[0][0][0].tzname()
        == "UTC"
    )
