"""JSON merge patches: the examples of RFC 7396, and what cannot be kept."""

from __future__ import annotations

from typing import Any

import pytest

from sandtable.errors import InvalidInput
from sandtable.server.catalogs.merging import merged, require_storable


@pytest.mark.parametrize(
    ("document", "patch", "made"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        ({"a": "foo"}, "bar", "bar"),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_the_examples_of_the_standard(document: Any, patch: Any, made: Any) -> None:
    assert merged(document, patch) == made


def test_the_document_stays_as_it_was() -> None:
    document = {"a": {"b": "c"}}
    merged(document, {"a": {"b": None}})
    assert document == {"a": {"b": "c"}}


def _nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(_nested(200), id="too-deep"),
        pytest.param({"a": float("nan")}, id="no-number"),
        pytest.param({"a": ["\ud800"]}, id="half-a-character"),
        pytest.param({"\ud800": 1}, id="half-a-character-as-name"),
    ],
)
def test_what_cannot_be_read_again_is_refused(value: Any) -> None:
    with pytest.raises(InvalidInput):
        require_storable(value)


def test_the_rest_is_taken() -> None:
    require_storable({"a": [1, 2.5, None, True, "ü 🙂"], "b": _nested(20)})
