"""A capsule is no larger than what is read: the same bounds hold where it is sealed and where it is verified."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandtable.capsule import bounds
from sandtable.capsule.bounds import PAYLOAD_BYTES, TOKENS, too_large
from sandtable.capsule.canonical import canonical
from sandtable.capsule.result_digest import encode_rows
from sandtable.capsule.seal import Oversized, read_json, read_statement, seal, unpack
from sandtable.capsule.verify import verify
from sandtable.engines.duckdb.cell_types import Scalar, parse_type
from tests.capsule.samples import KEY, capsule, coded, shown, world

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


def tokens(value: Any) -> int:
    match value:
        case str():
            return 1
        case list():
            return 1 + max(0, len(value) - 1) + sum(map(tokens, value))
        case dict():
            return 1 + max(0, len(value) - 1) + sum(map(tokens, (*value, *value.values())))
        case _:
            return 0


@given(JSON, st.booleans(), st.sampled_from([None, 2]))
def test_tokens_are_counted_as_they_are(value: Any, ascii_only: bool, indent: int | None) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    assert bounds._tokens_in(text) == tokens(value)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        pytest.param(b'"' + b"x" * (PAYLOAD_BYTES - 2) + b'"', "", id="one long text"),
        pytest.param(b" " * (PAYLOAD_BYTES + 1), "bytes", id="a byte too many"),
        pytest.param(b"[" + b"0," * (TOKENS - 1) + b"0]", "", id="as many as may be"),
        pytest.param(b"[" + b"0," * TOKENS + b"0]", "holds more than", id="one more"),
        pytest.param(b'["' + b"[," * TOKENS + b'"]', "", id="in a text they do not count"),
        pytest.param(b'["\\"' + b"[," * TOKENS + b'"]', "", id="nor behind a quoted mark"),
        pytest.param(b'["' + b"[," * TOKENS, "", id="a text that does not end"),
    ],
)
def test_what_is_too_large(text: bytes, why: str) -> None:
    found = too_large(text, PAYLOAD_BYTES)
    assert why in found if why else not found


async def test_the_largest_capsule_verifies() -> None:
    room = PAYLOAD_BYTES - len(canonical({"a": read_statement(unpack(seal(capsule(), KEY))[0])}))
    made = capsule(question="x" * room)
    envelope = seal(made, KEY)
    assert (await verify(envelope, world())).ok
    assert (await verify(json.dumps(envelope), world())).ok
    with pytest.raises(Oversized, match=f"more than {PAYLOAD_BYTES:,}"):
        seal(capsule(question="x" * (room + 100)), KEY)


def test_with_an_indented_copy_beside_it_it_is_read_too() -> None:
    table = {
        "id": "table-1",
        "kind": "table",
        "title": "",
        "columns": [{"name": "n", "type": "BIGINT"}],
        "rows": [[n % 10] for n in range(20_000)],
        "row_count": 20_000,
        "truncated": False,
    }
    envelope = seal(coded(artifacts=shown(table)), KEY)
    copy = read_statement(unpack(envelope)[0])["predicate"]
    text = json.dumps({**envelope, "capsule": copy}, indent=2)
    assert read_json(text)["capsule"] == copy


@pytest.mark.parametrize("cell", ["1E+999999999", "1E-999999999", "-9E+20000"])
def test_a_decimal_that_no_engine_has_is_not_written_out(cell: str) -> None:
    assert encode_rows([("d", "DECIMAL(38,2)")], [[cell]]) == [f'["s:{cell}"]'.encode()]


@pytest.mark.parametrize("name", [" " * 200_000, '"' * 200_001, "STRUCT(a " * 50_000, "[" * 200_000])
def test_a_type_that_no_engine_has_is_read_at_once(name: str) -> None:
    """Quadratic work on these takes minutes."""
    assert parse_type(name) == Scalar("any")
