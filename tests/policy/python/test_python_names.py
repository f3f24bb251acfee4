"""The lists of the gate against the libraries and the namespace that code finds in the sandbox."""

from __future__ import annotations

import _ast
import ast
import builtins
import importlib
from types import ModuleType

import pytest

from sandtable.policy.python import names
from sandtable.policy.python.attributes import INNER_MODULES, PATH_OPTIONAL, READERS, WRITERS
from sandtable.policy.python.grammar import ALLOWED, METHODS, REFUSED
from sandtable.policy.python.members import ADVICE, MEMBERS, advice

_OBJECTS = {names.CONNECTION, "altair.data_transformers"}
"""Keys of the list that are used like modules."""

_OPERATORS = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)
_OF_OTHER_TEXTS = {"Interactive", "Expression", "FunctionType", "TypeIgnore"}
"""Kinds of syntax that no text parsed as a whole has in it."""


def module(name: str) -> ModuleType:
    pytest.importorskip(name.partition(".")[0], reason="the libraries of Python mode are an extra")
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        parent, _, last = name.rpartition(".")
        return getattr(importlib.import_module(parent), last)


@pytest.mark.parametrize("name", sorted(set(MEMBERS) - _OBJECTS))
def test_members_exist_and_are_no_modules(name: str) -> None:
    found = module(name)
    for member in MEMBERS[name]:
        assert not isinstance(getattr(found, member), ModuleType), member
        assert not member.startswith("_")
        assert not member.startswith(("read_", "scan_", "sink_", "write_", "save"))


def test_modules_are_on_the_list() -> None:
    assert set(names.MODULES.values()) <= set(MEMBERS)
    assert set(names.IMPORTABLE) <= set(MEMBERS)
    assert set(names.MODULES.values()) <= set(names.IMPORTABLE)


def test_every_builtin_is_decided_about() -> None:
    known = names.BUILTINS | names.FORBIDDEN_BUILTINS.keys()
    for name, value in vars(builtins).items():
        is_exception = isinstance(value, type) and issubclass(value, BaseException)
        if not is_exception and not name.startswith("_") and name not in ("True", "False", "None"):
            assert name in known, name
    assert not names.BUILTINS & names.FORBIDDEN_BUILTINS.keys()
    assert all(hasattr(object, m) or m not in dir(type) for m in METHODS)


def test_every_kind_of_syntax_is_decided_about() -> None:
    for name, kind in vars(_ast).items():
        is_kind = isinstance(kind, type) and issubclass(kind, ast.AST) and not issubclass(kind, _OPERATORS)
        is_abstract = name.islower() and not getattr(kind, "_fields", ())
        if is_kind and not is_abstract and name not in {"AST", *_OF_OTHER_TEXTS}:
            assert name in ALLOWED or name in REFUSED, name
    assert not ALLOWED & REFUSED.keys()


def test_what_writes_or_reads_files_is_known_by_name() -> None:
    pandas, polars = module("pandas"), module("polars")
    known = WRITERS | READERS | PATH_OPTIONAL
    for kind in (pandas.DataFrame, pandas.Series, polars.DataFrame, polars.LazyFrame, polars.Series):
        found = {n for n in dir(kind) if n.startswith(("write_", "sink_", "read_", "scan_"))}
        assert found <= known, kind
    assert {n for n in dir(pandas) if n.startswith("read_")} <= known
    assert {n for n in dir(polars) if n.startswith(("read_", "scan_"))} <= known


def test_advice_is_given_for_every_module() -> None:
    assert all(advice(name, "nothing_of_the_kind") for name in MEMBERS)
    assert not set(ADVICE) & set(MEMBERS)
    assert "DataFrame" in advice("pandas", "DataFrme")
    assert "file" in advice("numpy", "savetxt")
    assert not INNER_MODULES & set(MEMBERS)


def test_names_are_those_of_the_namespace() -> None:
    module("pandas")
    namespace = importlib.import_module("sandtable_runner.python.namespace")
    libraries = importlib.import_module("sandtable_runner.python.libraries")
    assert {name: m.__name__ for name, m in libraries.MODULES.items()} == names.MODULES
    assert libraries.IMPORTABLE == names.IMPORTABLE
    assert set(namespace.FUNCTIONS) == names.FUNCTIONS
    assert set(namespace.DATA) == {names.ONLY_TABLE, names.TABLES, names.CONNECTION}
    assert namespace.builtin_names() >= names.BUILTINS
