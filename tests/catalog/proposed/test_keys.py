"""Which columns are counted as a key of a table, and which counts make a proposal."""

from __future__ import annotations

import pytest

from sandtable.catalog.model import Column, ColumnType, Dataset, Table
from sandtable.catalog.profile import ColumnProfile, Profile, TableProfile
from sandtable.catalog.proposed.keys import IdentityCounts, KeyCandidate, key_candidates, proposed_keys

ROWS = 12
Given = tuple[ColumnType, int, int]
"""Type, how many values, how many nulls."""
INTEGER, TEXT, FLOAT, DATE = ColumnType.INTEGER, ColumnType.TEXT, ColumnType.FLOAT, ColumnType.DATE


def candidates(
    columns: dict[str, Given], key: tuple[str, ...] = (), rows: int = ROWS
) -> list[tuple[str, ...]]:
    version = "sha256:" + "0" * 64
    known = tuple(Column(name=name, type=given[0], sql_type="VARCHAR") for name, given in columns.items())
    table = Table(name="t", file="t.csv", sha256="a" * 64, rows=rows, columns=known, key=key)
    looked_at = tuple(
        ColumnProfile(name=name, nulls=nulls, distinct=distinct)
        for name, (_, distinct, nulls) in columns.items()
    )
    profile = Profile(version=version, tables=(TableProfile(name="t", rows=rows, columns=looked_at),))
    return [
        each.columns for each in key_candidates(Dataset(id="d", tables=(table,), version=version), profile)
    ]


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        pytest.param(
            {"order_id": (INTEGER, 12, 0), "amount": (FLOAT, 12, 0)}, [("order_id",)], id="identifier"
        ),
        pytest.param({"ticket": (TEXT, 12, 0), "note": (TEXT, 12, 0)}, [("ticket",)], id="the first column"),
        pytest.param({"order_id": (INTEGER, 12, 1), "city": (TEXT, 3, 0)}, [], id="nulls"),
        pytest.param(
            {"order_id": (INTEGER, 6, 0), "amount": (FLOAT, 12, 0)}, [], id="repeated, and a measure"
        ),
        pytest.param(
            {"order_id": (INTEGER, 6, 0), "line_no": (INTEGER, 2, 0), "qty": (INTEGER, 12, 0)},
            [("order_id", "line_no")],
            id="two identifiers together",
        ),
        pytest.param(
            {"day": (DATE, 6, 0), "shop": (TEXT, 2, 0), "sales": (FLOAT, 12, 0)},
            [("day", "shop")],
            id="a day and a place",
        ),
        pytest.param({"day": (DATE, 3, 0), "shop": (TEXT, 2, 0)}, [], id="too few combinations"),
    ],
)
def test_what_is_counted(columns: dict[str, Given], expected: list[tuple[str, ...]]) -> None:
    assert candidates(columns) == expected


def test_a_table_with_a_key_and_one_with_one_row_are_left_alone() -> None:
    assert candidates({"order_id": (INTEGER, 12, 0)}, key=("order_id",)) == []
    assert candidates({"order_id": (INTEGER, 1, 0)}, rows=1) == []


def test_an_estimate_is_worth_a_count() -> None:
    assert candidates({"order_id": (INTEGER, 1_960_000, 0)}, rows=2_000_000) == [("order_id",)]


def test_the_first_candidate_that_the_counts_prove_is_proposed() -> None:
    one, two, pair = KeyCandidate("t", ("a",)), KeyCandidate("t", ("b",)), KeyCandidate("u", ("c", "d"))
    whole = IdentityCounts(1200, 1200, 1200)
    found = proposed_keys((one, two, pair), (IdentityCounts(1200, 1200, 1199), whole, whole))
    assert [(each.table, each.columns) for each in found] == [("t", ("b",)), ("u", ("c", "d"))]
    assert found[0].reason == "b is different in each of the 1,200 rows, and never empty"
    assert found[1].reason.startswith("c and d together are different")
    assert proposed_keys((one,), (None,)) == proposed_keys((one,), (IdentityCounts(0, 0, 0),)) == ()
    assert proposed_keys((one,), (IdentityCounts(9, 8, 8),)) == ()
