"""The index of a dataset: names, values, and its bounds."""

from __future__ import annotations

import pytest

from sandtable.catalog.model import Column, ColumnType, Dataset, Table
from sandtable.catalog.profile import ColumnProfile, Profile, TableProfile, ValueCount
from sandtable.planner.schema.index import MOST_KEYS, SchemaIndex
from tests.planner.ground import World


@pytest.mark.parametrize(
    ("text", "column", "value"),
    [
        ("germany", "country", "Germany"),
        ("mobile-app", "channel", "mobile app"),
        ("NORTH AMERICA", "region", "North America"),
        ("alba trading", "supplier", "Alba Trading"),
    ],
)
def test_values_are_found_however_they_are_spelled(
    worlds: dict[str, World], text: str, column: str, value: str
) -> None:
    hits = worlds["ecommerce"].index.find_value(text)
    assert {(h.column, h.value) for h in hits} == {(column, value)}


def test_slips_and_parts_are_found(worlds: dict[str, World]) -> None:
    index = worlds["ecommerce"].index
    assert {h.value for h in index.near_values("Germny")} == {"Germany"}
    assert index.near_values("xqzzzz") == ()
    assert {h.value for h in index.values_with_word("alba")} == {"Alba Trading"}


def test_a_number_is_found_as_a_number(shelf: dict[str, World]) -> None:
    hits = shelf["movies"].index.find_value("250,000")
    assert [(h.column, h.value) for h in hits] == [("Votes", 250000)]


def test_without_a_profile_there_are_names_and_no_values(worlds: dict[str, World]) -> None:
    index = SchemaIndex.build(worlds["ecommerce"].dataset, None)
    assert index.values == {} and index.find_value("germany") == ()
    assert index.column("orders", "ORDER_TOTAL") is not None


def test_a_very_wide_table_stays_within_bounds() -> None:
    names = [f"column_{i}" for i in range(60)]
    columns = tuple(Column(name=n, type=ColumnType.TEXT, sql_type="VARCHAR") for n in names)
    table = Table(name="wide", file="wide.csv", sha256="0" * 64, rows=2000, columns=columns)
    dataset = Dataset(id="wide", tables=(table,), version="sha256:" + "0" * 64)
    profiles = tuple(
        ColumnProfile(
            name=n,
            nulls=0,
            distinct=1500,
            values=tuple(ValueCount(value=f"{n} value {j}" + "x" * (j % 300), count=1) for j in range(1500)),
        )
        for n in names
    )
    profile = Profile(
        version=dataset.version, tables=(TableProfile(name="wide", rows=2000, columns=profiles),)
    )
    index = SchemaIndex.build(dataset, profile)
    assert 0 < len(index.values) <= MOST_KEYS
    assert max(len(key) for key in index.values) <= 120
