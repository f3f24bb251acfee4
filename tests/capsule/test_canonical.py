from __future__ import annotations

import math
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from sandtable.capsule.canonical import canonical, digest, loads, plain

ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(codec=None, exclude_categories=())),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param({"b": 1, "a": [1.0, True, None]}, '{"a":[1,true,null],"b":1}', id="sorted keys"),
        pytest.param(2**53 - 1, "9007199254740991", id="largest safe integer"),
        pytest.param(2**53, '"9007199254740992"', id="beyond it"),
        pytest.param(-(2**53), '"-9007199254740992"', id="beyond it below"),
        pytest.param(1e20, "100000000000000000000", id="a double without a point"),
        pytest.param(-0.0, "0", id="negative zero"),
        pytest.param(math.nan, '"NaN"', id="nan"),
        pytest.param(-math.inf, '"-Infinity"', id="infinity"),
        pytest.param("a\ud800b", '"a\ufffdb"', id="lone surrogate"),
        pytest.param("\ud83d\ude00", '"😀"', id="split surrogate pair"),
        pytest.param((1, (2,)), "[1,[2]]", id="tuples"),
    ],
)
def test_canonical_form(value: Any, text: str) -> None:
    assert canonical(value) == text.encode()


@given(ANYTHING)
def test_reading_back_and_writing_again_gives_the_same_bytes(value: Any) -> None:
    written = canonical(value)
    assert canonical(loads(written)) == written
    assert digest(loads(written)) == digest(value)


@given(ANYTHING)
def test_it_is_the_form_of_rfc_8785(value: Any) -> None:
    assert canonical(value) == rfc8785.dumps(plain(value))


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_doubles_have_the_form_of_rfc_8785(value: float) -> None:
    assert canonical([value, {"a": value}]) == rfc8785.dumps([value, {"a": value}])


@given(ANYTHING)
def test_plain_is_idempotent(value: Any) -> None:
    assert plain(plain(value)) == plain(value)


@pytest.mark.parametrize(
    "text", ['{"a":1,"a":2}', "NaN", "[Infinity]", "", "{", "1" * 5000], ids=lambda text: text[:12]
)
def test_loads_refuses(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        loads(text)


def test_digest_names_its_algorithm() -> None:
    assert digest({}) == "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
