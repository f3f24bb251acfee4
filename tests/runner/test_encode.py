"""Engine values as JSON: sizes are never told too small, and whatever comes out can be written as JSON."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandtable_runner.encode import CellTooLarge, encode, encode_row

_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.decimals(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8"))
    | st.binary()
    | st.dates()
    | st.datetimes()
    | st.times()
    | st.timedeltas()
    | st.uuids()
)
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=4)
    ),
    max_leaves=12,
)


def _as_json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


@given(st.lists(_VALUES, max_size=5))
def test_the_size_is_never_told_too_small(row: list[Any]) -> None:
    cells, size = encode_row(tuple(row), 1 << 30)
    assert len(_as_json(cells)) <= size


@given(_VALUES)
def test_what_comes_out_is_json(value: Any) -> None:
    encoded = encode(value)
    assert json.loads(_as_json(encoded)) == encoded


@given(st.integers())
def test_integers_keep_every_digit(value: int) -> None:
    assert int(encode(value)) == value


@given(st.decimals(allow_nan=False, allow_infinity=False, places=4))
def test_decimals_keep_their_value(value: Decimal) -> None:
    assert Decimal(str(encode(value))) == value


@given(st.timedeltas())
def test_different_spans_differ(value: dt.timedelta) -> None:
    assert encode(value) != encode(value + dt.timedelta(microseconds=1)) if value < dt.timedelta.max else True


def test_the_first_large_cell_is_named() -> None:
    with pytest.raises(CellTooLarge) as caught:
        encode_row(("a", "x" * 100, "y" * 200), 50)
    assert caught.value.args == (1, 102)
