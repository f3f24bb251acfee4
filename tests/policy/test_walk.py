"""Laws of the walk: whatever is planted anywhere in an approved tree is found."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandtable.engines.duckdb.rules import RULES
from sandtable.policy.names import fold
from sandtable.policy.verdict import Refused
from sandtable.policy.walk import Walk
from tests.policy.corpora import LEGIT
from tests.policy.shop import SHOP, parsed

_TREES = [parsed(case["sql"])["tree"] for case in LEGIT]
_FORBIDDEN = [
    "getenv",
    "read_text",
    "query",
    "json_serialize_plan",
    "nextval",
    "pg_sleep",
    "no_such_thing",
    "__x",
]


def _walk(tree: dict[str, Any]) -> Refused | None:
    return Walk("", SHOP, RULES).walk(tree)


def _records(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for child in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _records(child)


def _call(name: str) -> dict[str, Any]:
    return {
        "class": "FUNCTION",
        "type": "FUNCTION",
        "function_name": name,
        "order_bys": {"type": "ORDER_MODIFIER"},
        "qualified_name": {"path": [name]},
    }


def _pick(data: st.DataObject, keep: Any) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """A copy of an approved tree and one record in it that `keep` accepts."""
    tree = copy.deepcopy(data.draw(st.sampled_from(_TREES)))
    places = [r for r in _records(tree) if keep(r)]
    return tree, data.draw(st.sampled_from(places)) if places else None


@given(st.data(), st.sampled_from(_FORBIDDEN))
def test_forbidden_function_is_found_at_any_expression(data: st.DataObject, name: str) -> None:
    tree, place = _pick(data, lambda r: "class" in r)
    if place is None:
        return
    place.clear()
    place.update(_call(name))
    refused = _walk(tree)
    assert refused is not None
    assert refused.construct == name


@given(st.data(), st.sampled_from(["f.csv", "s3://b/x", "secrets", "pg_class"]))
def test_other_table_is_found_at_any_reference(data: st.DataObject, name: str) -> None:
    tree, place = _pick(data, lambda r: str(r.get("type")) in RULES.grammar.table_refs and "class" not in r)
    if place is None:
        return
    place.clear()
    place.update({"type": "BASE_TABLE", "table_name": name, "qualified_name": {"path": [name]}})
    assert _walk(tree) is not None


@given(st.data(), st.sampled_from(["INSERT_QUERY_NODE", "DELETE_QUERY_NODE", "COPY_QUERY_NODE", "NEW_NODE"]))
def test_changing_node_is_found_at_any_query(data: st.DataObject, kind: str) -> None:
    tree, place = _pick(data, lambda r: str(r.get("type")) in RULES.grammar.query_nodes)
    assert place is not None
    place["type"] = kind
    refused = _walk(tree)
    assert refused is not None
    assert refused.construct == RULES.grammar.spelling.get(kind, kind)


@given(st.data())
def test_unknown_key_is_refused_in_any_record(data: st.DataObject) -> None:
    inert = {"id", "is_null", "catalog", "column"}
    tree, place = _pick(data, lambda r: not inert & set(r))
    assert place is not None
    place["field_of_a_later_engine"] = {"class": "FUNCTION"}
    assert _walk(tree) is not None


@given(st.data())
def test_unknown_class_or_type_is_refused(data: st.DataObject) -> None:
    tree, place = _pick(data, lambda r: isinstance(r.get("type"), str) and r.get("null_order") is None)
    assert place is not None
    place["class" if "class" in place else "type"] = "SOMETHING_NEW"
    assert _walk(tree) is not None


@given(st.data(), st.sampled_from(["getenv", "read_text"]))
def test_the_two_spellings_of_a_name_must_agree(data: st.DataObject, name: str) -> None:
    """The engine believes the path; a tree whose other field says something else is refused."""
    tree, place = _pick(data, lambda r: r.get("class") in ("FUNCTION", "WINDOW"))
    if place is None:
        return
    place["qualified_name"] = {"path": [name]}
    assert _walk(tree) is not None


def test_node_hidden_in_a_plain_field_is_refused() -> None:
    tree = copy.deepcopy(parsed("SELECT region FROM orders LIMIT 1")["tree"])
    tree["node"]["select_list"][0]["column_names"] = [_call("getenv")]
    assert _walk(tree) is not None


@pytest.mark.parametrize("tree", [{}, {"node": None}, {"node": []}, {"node": {"type": 5}}, {"node": {}}])
def test_malformed_tree_is_refused(tree: dict[str, Any]) -> None:
    assert _walk(tree) is not None


def test_names_fold_as_the_engine_folds_them() -> None:
    assert fold("OrDers") == "orders"
    assert fold("\u212a") != "k"
    assert fold("İ") == "İ"


def test_deep_tree_does_not_exhaust_the_stack() -> None:
    expression: dict[str, Any] = {"class": "COLUMN_REF", "type": "COLUMN_REF", "column_names": ["a"]}
    for _ in range(20_000):
        expression = {"class": "OPERATOR", "type": "OPERATOR_NOT", "children": [expression]}
    node = {"type": "SELECT_NODE", "select_list": [expression], "from_table": {"type": "EMPTY"}}
    assert _walk({"node": node}) is None
