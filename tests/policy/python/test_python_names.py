"""The lists of the gate against the libraries and the namespace that code finds in the sandbox."""

from __future__ import annotations

import _ast
import ast
import builtins
import contextlib
import importlib
import inspect
import re
from collections.abc import Callable
from types import ModuleType
from typing import cast

import pytest

from sandtable.policy.python import names
from sandtable.policy.python.by_name import MEMBERS_BY_NAME
from sandtable.policy.python.grammar import ALLOWED, REFUSED
from sandtable.policy.python.members import ADVICE, CHECKED, MEMBERS, advice
from sandtable.policy.python.words import (
    BY_NAME,
    INNER_MODULES,
    METHODS,
    ONLY_ON_OWN,
    PATH_OPTIONAL,
    READERS,
    TEMPLATES,
    WRITERS,
)

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


_PATH = re.compile(r"(\w+_)?(path|paths|file|files|buf|buffer|fname|filename|file_name|fp|fid|excel_writer)")


def _objects() -> dict[str, object]:
    """One of each kind that code commonly holds."""
    pandas, polars, numpy = module("pandas"), module("polars"), module("numpy")
    frame = pandas.DataFrame(
        {"a": [1, 2], "b": ["x", "y"]}, index=pandas.to_datetime(["2024-01-01", "2024-01-02"])
    )
    return {
        "frame": frame,
        "series": frame["b"],
        "index": frame.index,
        "groups": frame.groupby("b"),
        "window": frame["a"].rolling(2),
        "resampler": frame.resample("D"),
        "styler": frame.style,
        "array": numpy.arange(3),
        "polars frame": polars.DataFrame({"a": [1]}),
        "polars series": polars.Series([1]),
        "polars query": polars.LazyFrame({"a": [1]}),
        "polars expression": polars.col("a"),
        "figure": module("plotly.graph_objects").Figure(),
        "chart": module("altair").Chart(frame).mark_bar(),
        "distribution": module("scipy.stats").norm(),
    }


def _attributes(value: object) -> dict[str, object]:
    found: dict[str, object] = {}
    for name in dir(value):
        if not name.startswith("_"):
            with contextlib.suppress(Exception):
                found[name] = getattr(value, name)
    return found


@pytest.mark.filterwarnings("ignore")
def test_methods_that_take_a_path_are_known_by_name() -> None:
    known = WRITERS | READERS | PATH_OPTIONAL | ONLY_ON_OWN.keys() | TEMPLATES
    for kind, value in _objects().items():
        for name, attribute in _attributes(value).items():
            with contextlib.suppress(TypeError, ValueError):
                parameters = inspect.signature(cast("Callable[..., object]", attribute)).parameters
                if any(map(_PATH.fullmatch, parameters)):
                    assert name in known | _NO_FILES, (kind, name)


_NO_FILES = frozenset({"info", "add_selection", "add_shape"})
"""A buffer that is no path, and paths that are lines to be drawn."""


@pytest.mark.filterwarnings("ignore")
def test_modules_that_objects_hold_are_known_by_name() -> None:
    for kind, value in _objects().items():
        held = {name for name, attribute in _attributes(value).items() if isinstance(attribute, ModuleType)}
        assert held <= INNER_MODULES, kind


def test_templates_are_those_of_the_styler() -> None:
    styler = _objects()["styler"]
    assert {name for name in dir(styler) if name.startswith("template_")} <= TEMPLATES
    assert {"env", "loader", "from_custom_template"} <= TEMPLATES & set(dir(styler))


@pytest.mark.parametrize("name", sorted({**BY_NAME, **MEMBERS_BY_NAME}))
def test_the_place_of_a_method_name_is_that_of_the_library(name: str) -> None:
    pandas = module("pandas")
    owner, _, last = name.rpartition(".")
    holders = [pandas] if owner else [pandas.DataFrame, pandas.core.groupby.DataFrameGroupBy]
    place, keyword = {**BY_NAME, **MEMBERS_BY_NAME}[name]
    known = [hasattr(holder, last) for holder in holders]
    assert any(known)
    for holder in holders:
        parameters = list(inspect.signature(getattr(holder, last, len)).parameters)
        if keyword in parameters:
            assert parameters.index(keyword) - (not owner) == place


def test_what_is_looked_at_when_called_is_on_the_list() -> None:
    assert MEMBERS_BY_NAME.keys() <= CHECKED
    assert all(full.rpartition(".")[2] in MEMBERS[full.rpartition(".")[0]] for full in CHECKED)


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
