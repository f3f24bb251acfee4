"""The parser of the runner: bounded, never raising, with places in characters. The gate takes all it says."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandtable.errors import ErrorCode
from sandtable.policy.python import judge_python
from sandtable.policy.tree import records
from sandtable.policy.verdict import Approved, Refused
from sandtable_runner.parse_python import MAX_DEPTH, MAX_NODES, MAX_TEXT, parse
from tests.policy.python.corpora import ATTACKS, ORDINARY
from tests.policy.python.shop import DATASETS, verdict


def node(text: str, kind: str) -> dict[str, Any]:
    answer = parse(text)
    assert answer["ok"], answer
    return next(dict(r) for r in records(answer["tree"]) if r.get("_") == kind)


def test_a_node_has_its_type_its_place_and_its_fields() -> None:
    assert node("é = äö.b", "Attribute") == {
        "_": "Attribute",
        "at": [1, 4, 1, 8],
        "value": {"_": "Name", "at": [1, 4, 1, 6], "id": "äö", "ctx": "Load"},
        "attr": "b",
        "ctx": "Load",
    }


@pytest.mark.parametrize(
    ("text", "constant"),
    [
        ("'a'", {"kind": "str", "value": "a"}),
        ("b'\\xff'", {"kind": "bytes", "value": "ÿ"}),
        ("1", {"kind": "int", "value": 1}),
        ("True", {"kind": "bool", "value": True}),
        ("None", {"kind": "none"}),
        ("...", {"kind": "ellipsis"}),
        ("1.5", {"kind": "float", "value": 1.5}),
        ("1e999", {"kind": "float", "value": "inf"}),
        ("2j", {"kind": "complex", "value": "2j"}),
        ("1" + "0" * 20, {"kind": "int", "value": "1" + "0" * 20}),
        ("0x" + "f" * 9000, {"kind": "int", "value": "an integer of 36000 bits"}),
        ("'\\ud800'", {"kind": "str", "value": "?"}),
        (repr("x" * (MAX_TEXT + 1)), {"kind": "str", "value": "x" * MAX_TEXT, "cut": True}),
    ],
    ids=lambda value: str(value)[:20],
)
def test_constants(text: str, constant: dict[str, Any]) -> None:
    found = node(text, "Constant")
    found.pop("at")
    assert found == {"_": "Constant", **constant}


def test_identifiers_are_in_the_form_that_python_uses() -> None:
    assert node("ｅval", "Name")["id"] == "eval"


@pytest.mark.parametrize(
    ("text", "error_type"),
    [
        ("x = \0", "syntax"),
        ("x = '\ud800'", "syntax"),
        ("(" * 5000, "syntax"),
        ("1" * 5000, "syntax"),
        ("-" * 50_000 + "1", "too_deep"),
        ("[" * 150 + "a." * 200 + "b" + "]" * 150, "too_deep"),
        ("a+" * MAX_DEPTH + "a", "too_deep"),
        ("a." * 5000 + "a", "too_deep"),
        ("(" + "1," * (MAX_NODES + 1) + ")", "too_large"),
        ("\ufeffx = 1", "syntax"),
        ("if x:\n" * 150 + "pass", "syntax"),
    ],
    ids=lambda value: str(value.encode(errors="replace"))[:14],
)
def test_trouble_is_a_refusal(text: str, error_type: str) -> None:
    answer = parse(text)
    assert not answer["ok"]
    assert answer["error_type"] == error_type
    assert answer["message"]
    assert answer["line"] >= 1
    assert answer["column"] >= 0
    found = verdict(text)
    assert isinstance(found, Refused)
    expected = ErrorCode.VALIDATION_ERROR if error_type == "syntax" else ErrorCode.PYTHON_POLICY_VIOLATION
    assert found.code is expected
    assert found.suggestion


def test_depth_within_the_bound_passes_the_gate() -> None:
    assert isinstance(verdict("a+" * (MAX_DEPTH - 5) + "a"), Approved)
    assert isinstance(verdict("a" + ".b()" * (MAX_DEPTH // 2 - 5)), Approved)


@pytest.mark.parametrize(
    "parsed",
    [
        {},
        {"ok": False, "line": "x"},
        {"ok": True},
        {"ok": True, "tree": {"_": "Module", "body": 5}},
        {"ok": True, "tree": {"_": "Module", "at": "x", "body": [{"_": "Call", "args": [5], "at": [1]}]}},
        {"ok": True, "tree": {"_": "Import", "names": [5, {"_": "alias"}]}},
    ],
)
def test_an_odd_answer_of_the_parser_does_not_raise(parsed: dict[str, Any]) -> None:
    assert isinstance(judge_python("x", parsed, DATASETS["support"]), Approved | Refused)


@pytest.mark.parametrize("code", [case.code for case in ORDINARY], ids=[case.title for case in ORDINARY])
def test_names_stand_where_the_tree_says(code: str) -> None:
    lines = code.split("\n")
    for record in records(parse(code)["tree"]):
        if record.get("_") == "Name":
            line, start, end_line, end = record["at"]
            assert line == end_line
            assert lines[line - 1][start:end] == record["id"]


_TEXTS = [case.code for case in (*ORDINARY, *ATTACKS)]
_PIECES = st.sampled_from(
    ["(", ")", "\n", "    ", ".", "__class__", "open", "é", "\U0001f600", '"', "'", "{", "}", "f'", ":", "=", ",", "*",
     "pd", "lambda x: ", "import os\n", "\r\n", "\r", "\t", "\x0c", "@", "async ", "match x:\n case ", "\ud800", "\0"]
)  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(
    text=st.sampled_from(_TEXTS),
    cuts=st.lists(st.tuples(st.floats(0, 1), st.integers(0, 12), _PIECES), min_size=1, max_size=4),
)
def test_no_mutation_raises(text: str, cuts: list[tuple[float, int, str]]) -> None:
    for where, length, piece in cuts:
        at = int(where * len(text))
        text = text[:at] + piece + text[at + length :]
    answer = parse(text)
    assert json.loads(json.dumps(answer, ensure_ascii=False, allow_nan=False).encode()) == answer
    found = verdict(text)
    if isinstance(found, Refused):
        assert found.message and found.suggestion and found.construct
        assert found.position is not None
        assert 0 <= found.position <= found.position + found.length <= len(text)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=60))
def test_no_text_raises(text: str) -> None:
    assert isinstance(verdict(text), Approved | Refused)
