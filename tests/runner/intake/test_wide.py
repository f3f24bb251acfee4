"""A wide table is written by short expressions, but only where its cells were checked before."""

from __future__ import annotations

from sandtable_runner.intake import typing, wide
from tests.runner.intake.cells import Bench

_FILL = {f"n{number}": ["1", "2"] for number in range(wide.MOST_AT_ONCE)}
_COLUMNS = {
    "plain": ["1", ""],
    "signs": ["(5)", "3"],
    "day": ["2024-01-02", "2024-01-03"],
    "text": ["a", ""],
    "words": ["a", "N/A"],
    "money": ["$5", "$6"],
    "flag": ["yes", "no"],
    "half": ["1.5", "2.25"],
}


def test_columns_in_their_common_form_are_written_without_a_check() -> None:
    bench = Bench()
    table = bench.table(_COLUMNS | _FILL)
    columns = typing.decide(bench.connection, table, None, {}, (), "orders").columns
    found = wide.common_only(bench.connection, table, columns)
    assert [name for number, name in enumerate(_COLUMNS, 1) if number in found] == [
        "plain", "day", "text", "flag", "half"
    ]  # fmt: skip
    short = typing.select(table, columns, prove=True, common_only=found)
    full = typing.select(table, columns)
    assert bench.connection.execute(short).fetchall() == bench.connection.execute(full).fetchall()


def test_a_number_that_is_empty_by_a_recipe_is_checked() -> None:
    bench = Bench()
    table = bench.table({"x": ["9999", "1"]} | _FILL)
    columns = typing.decide(bench.connection, table, None, {}, (), "orders").columns
    columns[0]["empty"] = ["", "9999"]
    found = wide.common_only(bench.connection, table, columns)
    assert 1 not in found and 2 in found


def test_other_tables_are_always_checked() -> None:
    bench = Bench()
    table = bench.table({"x": ["1"]})
    columns = typing.decide(bench.connection, table, None, {}, (), "orders").columns
    assert not wide.common_only(bench.connection, table, columns)


def test_a_group_of_rows_has_no_more_cells_than_one_of_a_narrow_table() -> None:
    assert wide.rows_in_group(3) == wide.rows_in_group(200) == 122_880
    assert wide.rows_in_group(400) == 61_440
    assert wide.rows_in_group(10_000) == 2_457
    assert wide.rows_in_group(1_000_000) == 2_048


def test_a_wide_table_is_written_on_one_thread() -> None:
    bench = Bench()
    bench.connection.execute("SET threads = 2")

    def threads() -> tuple[int, ...] | None:
        return bench.connection.execute("SELECT current_setting('threads')").fetchone()

    with wide.planned_for(bench.connection, 201):
        assert threads() == (1,)
    assert threads() == (2,)
    with wide.planned_for(bench.connection, 200):
        assert threads() == (2,)
