"""The laws of the result digest. Examples are derandomized: a grid has edges, and luck proves nothing."""

from __future__ import annotations

import math
import random
from functools import reduce
from operator import add
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sandtable.capsule.canonical import canonical, loads
from sandtable.capsule.compare import agree
from sandtable.capsule.result_digest import result_digest, snap

NATURAL = (
    [float(n) for n in range(1, 3000)]
    + [n / 100 for n in range(1, 3000)]
    + [n / 2 for n in range(1, 500)]
    + [n / 3 for n in range(1, 500)]
    + [n / 7 for n in range(1, 500)]
    + [2.0**n for n in range(-60, 61)]
    + [10.0**n for n in range(-20, 21)]
    + [12345678.25, 0.1 + 0.2, 1e15 + 0.3, 99.995, 1e308, 5e-324]
)
FLOAT_COLUMN = [("x", "DOUBLE")]


def digest_floats(values: list[float]) -> str:
    return result_digest(FLOAT_COLUMN, [(value,) for value in values])


def shifted(value: float, ulps: int) -> float:
    for _ in range(abs(ulps)):
        value = math.nextafter(value, math.inf if ulps > 0 else -math.inf)
    return value


@pytest.mark.parametrize("ulps", [-4, -1, 1, 4])
def test_noise_in_the_last_bits_of_natural_numbers_does_not_show(ulps: int) -> None:
    normal = [value for value in NATURAL if value > 1e-300]
    changed = [value for value in normal if snap(shifted(value, ulps)) != snap(value)]
    assert changed == []


def test_noise_crosses_an_edge_of_the_grid_about_as_rarely_as_said() -> None:
    rng = random.Random(7)
    values = [rng.uniform(-1, 1) * 10 ** rng.randint(-9, 12) for _ in range(200_000)]
    crossed = sum(snap(shifted(value, 4)) != snap(value) for value in values)
    assert crossed == 0


@settings(derandomize=True)
@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(1.1e-6, 0.5), st.booleans())
def test_a_change_above_one_millionth_always_shows(value: float, by: float, up: bool) -> None:
    assume(abs(value) > 1e-290 and abs(value) < 1e300)
    changed = value * (1 + by) if up else value * (1 - by)
    assert snap(changed) != snap(value)


ROW = st.tuples(
    st.none() | st.floats(allow_nan=True),
    st.none() | st.integers(-(2**70), 2**70).map(lambda n: n if abs(n) < 2**53 else str(n)),
    st.none() | st.text(max_size=5),
    st.none() | st.lists(st.none() | st.floats(allow_nan=False, allow_infinity=False), max_size=3),
)
MIXED = [("f", "DOUBLE"), ("i", "HUGEINT"), ("s", "VARCHAR"), ("l", "DOUBLE[]")]


@settings(derandomize=True)
@given(st.lists(ROW, max_size=8), st.randoms(use_true_random=False))
def test_row_order_does_not_matter(rows: list[tuple[Any, ...]], rng: random.Random) -> None:
    mixed = rows[:]
    rng.shuffle(mixed)
    assert result_digest(MIXED, mixed) == result_digest(MIXED, rows)


@settings(derandomize=True)
@given(st.lists(ROW, max_size=5))
def test_a_trip_through_the_capsule_does_not_matter(rows: list[tuple[Any, ...]]) -> None:
    assert result_digest(MIXED, loads(canonical(rows))) == result_digest(MIXED, rows)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        pytest.param(("BIGINT", 1), ("BIGINT", 2), id="integers"),
        pytest.param(("BIGINT", 9007199254740993), ("BIGINT", 9007199254740992), id="large integers"),
        pytest.param(("HUGEINT", str(2**100)), ("HUGEINT", str(2**100 + 1)), id="huge integers"),
        pytest.param(("BIGINT", 1), ("VARCHAR", "1"), id="1 and '1'"),
        pytest.param(("BIGINT", 1), ("DOUBLE", 1.0), id="1 and 1.0"),
        pytest.param(("BIGINT", 1), ("BIGINT", None), id="1 and null"),
        pytest.param(("VARCHAR", ""), ("VARCHAR", None), id="empty and null"),
        pytest.param(("VARCHAR", "NaN"), ("DOUBLE", "NaN"), id="NaN the word and the number"),
        pytest.param(("DOUBLE", "Infinity"), ("DOUBLE", "-Infinity"), id="infinities"),
        pytest.param(("DECIMAL(38,2)", "1.01"), ("DECIMAL(38,2)", "1.02"), id="decimals"),
        pytest.param(("DATE", "2024-01-01"), ("DATE", "2024-01-02"), id="dates"),
        pytest.param(("DOUBLE", 100.0), ("DOUBLE", 100.001), id="floats"),
        pytest.param(("DOUBLE[]", [1.0, 2.0]), ("DOUBLE[]", [2.0, 1.0]), id="order in a list"),
        pytest.param(("DOUBLE[]", []), ("DOUBLE[]", None), id="empty list and null"),
        pytest.param(("STRUCT(a INTEGER)", {"a": 1}), ("STRUCT(a INTEGER)", {"a": 2}), id="structs"),
        pytest.param(("MAP(VARCHAR, INTEGER)", {"a": 1}), ("MAP(VARCHAR, INTEGER)", {"b": 1}), id="maps"),
    ],
)
def test_different_cells_differ(left: tuple[str, Any], right: tuple[str, Any]) -> None:
    digests = {result_digest([("c", kind)], [(cell,)]) for kind, cell in (left, right)}
    assert len(digests) == 2


@pytest.mark.parametrize(
    ("kind", "left", "right"),
    [
        pytest.param("DOUBLE", 1, 1.0, id="a float without a point"),
        pytest.param("DOUBLE", 0.0, -0.0, id="zeros"),
        pytest.param("DOUBLE[]", [1, 2], [1.0, math.nextafter(2.0, 3)], id="floats in a list"),
        pytest.param("STRUCT(a DOUBLE)", {"a": 0.1 + 0.2}, {"a": 0.3}, id="floats in a struct"),
        pytest.param("MAP(VARCHAR, DOUBLE)", {"a": 1, "b": 2}, {"b": 2.0, "a": 1.0}, id="order in a map"),
        pytest.param("MAP(INTEGER, INTEGER)", [[1, 2], [3, 4]], [[3, 4], [1, 2]], id="pairs of a map"),
        pytest.param("DECIMAL(10,2)", 12.5, "12.50", id="short and long decimals"),
        pytest.param("DECIMAL(10,2)", 12, "12.00", id="whole decimals"),
        pytest.param("BIGINT", "12", 12, id="integers as text"),
        pytest.param("VARIANT", [{"a": 0.1 + 0.2}], [{"a": 0.3}], id="floats in what has no type"),
    ],
)
def test_equal_cells_agree(kind: str, left: Any, right: Any) -> None:
    assert result_digest([("c", kind)], [(left,)]) == result_digest([("c", kind)], [(right,)])


def test_names_types_and_repeated_rows_count() -> None:
    one = result_digest([("a", "BIGINT")], [(1,)])
    assert one != result_digest([("b", "BIGINT")], [(1,)])
    assert one != result_digest([("a", "INTEGER")], [(1,)])
    assert one != result_digest([("a", "BIGINT")], [(1,), (1,)])


def test_what_cancellation_left_of_a_zero_is_zero() -> None:
    assert digest_floats([1e6, 0.0]) == digest_floats([1e6, 3e-11])
    assert digest_floats([1.0, 0.0]) != digest_floats([1.0, 1e-9])
    assert digest_floats([math.inf, 1e-30]) != digest_floats([math.inf, 0.0])


def test_sums_in_any_order_agree() -> None:
    rng = random.Random(3)
    values = [rng.lognormvariate(3, 2) for _ in range(20_000)]
    sums = set()
    for _ in range(20):
        rng.shuffle(values)
        # One after the other, as an engine adds: `sum` makes up for what is lost, since Python 3.12.
        sums.add(reduce(add, values))
    assert len(sums) > 1, "the sums were meant to differ in their last bits"
    assert len({digest_floats([value]) for value in sums}) == 1


def test_a_row_of_another_width_is_refused() -> None:
    with pytest.raises(ValueError, match="more or fewer cells"):
        result_digest(FLOAT_COLUMN, [(1.0, 2.0)])


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        pytest.param([("a", 1.0), ("b", 2.0)], [("b", 2.0), ("a", 1.0 + 1e-12)], True, id="order and noise"),
        pytest.param([("a", 1.0)], [("a", 1.0 + 1e-8)], False, id="more than noise"),
        pytest.param([("a", 1.0)], [("b", 1.0)], False, id="other text"),
        pytest.param([("a", 1.0)], [("a", None)], False, id="null"),
        pytest.param([("a", 1.0)], [("a", 1.0), ("a", 1.0)], False, id="more rows"),
        pytest.param([("a", "NaN")], [("a", "NaN")], True, id="not a number"),
        pytest.param([("a", "Infinity")], [("a", 1.0)], False, id="infinity"),
        pytest.param([("a", 1e9), ("b", 0.0)], [("a", 1e9), ("b", 1e-6)], True, id="left of a zero"),
    ],
)
def test_agree(left: list[tuple[Any, ...]], right: list[tuple[Any, ...]], same: bool) -> None:
    assert agree([("s", "VARCHAR"), ("x", "DOUBLE")], left, right) is same
