"""Modules are imported by statements, which import-linter sees; a few files import by string, each for a reason."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
IMPORTING = {"import_module", "resolve_name", "__import__"}
IMPORTED_BY_NAME = {
    "sandtable/__init__.py": "`import sandtable` loads a name when it is first used",
    "sandtable/assemble/tiers.py": "a table of tiers, whose packages are optional",
    "sandtable/cli/group.py": "a table of commands, of which one is loaded",
    "sandtable/planner/candidates/network/loading.py": "optional packages, loaded under settings of their own",
    "sandtable_runner/jupyter/template.py": "a table of packages that are loaded before the fork",
    "sandtable_runner/live/worker.py": "a table of drivers, whose packages are optional",
    "sandtable_runner/python/namespace.py": "the import function that code in the sandbox gets",
    "sandtable_runner/template.py": "a table of interpreters, whose packages are optional",
    "sbirtools/__init__.py": "`import sbirtools` loads a name when it is first used",
}


def _imports_by_name(text: str) -> bool:
    names = {
        node.id if isinstance(node, ast.Name) else node.attr
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Name | ast.Attribute)
    }
    return bool(names & IMPORTING)


def test_only_these_files_import_by_name() -> None:
    sources = (ROOT / "src").rglob("*.py")
    found = {
        str(path.relative_to(ROOT / "src")) for path in sources if _imports_by_name(path.read_text("utf-8"))
    }
    assert found == set(IMPORTED_BY_NAME)


def test_an_import_by_name_is_found() -> None:
    assert _imports_by_name("import importlib\nimportlib.import_module('json')")
    assert _imports_by_name("from pkgutil import resolve_name\nload = resolve_name")
    assert not _imports_by_name("import json\njson.loads('1')")
