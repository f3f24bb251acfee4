"""Modules that are loaded from memory when there is no file any more."""

from __future__ import annotations

import importlib
import py_compile
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandtable_runner.python.shelf import stock


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """One with a module that Python has compiled already, and one that it has not."""
    folder = tmp_path / "laid_down"
    (folder / "deep").mkdir(parents=True)
    for name, text in (
        ("__init__", ""),
        ("deep/__init__", "DEPTH = 2"),
        ("compiled", "A = 'a'"),
        ("plain", "B = 'b'"),
    ):
        (folder / f"{name}.py").write_text(text)
    py_compile.compile(str(folder / "compiled.py"))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    importlib.import_module("laid_down")
    yield folder
    for name in [name for name in sys.modules if name.partition(".")[0] == "laid_down"]:
        del sys.modules[name]


def test_modules_outlive_their_files(package: Path) -> None:
    assert len(stock(["laid_down"])) == 3
    for file in package.rglob("*.py*"):
        file.unlink()
    assert importlib.import_module("laid_down.compiled").A == "a"
    assert importlib.import_module("laid_down.plain").B == "b"
    assert importlib.import_module("laid_down.deep").DEPTH == 2


def test_no_sandbox_writes_to_what_the_others_see(package: Path) -> None:
    shelf = stock(["laid_down"])
    content = shelf._loaders["laid_down.plain"].content
    assert isinstance(content, memoryview)
    assert content.readonly
    lines = Path("/proc/self/maps").read_text().splitlines()
    # Not writable; and one that is made so would be a private copy.
    assert {line.split()[1] for line in lines if "memfd:modules" in line} == {"r--p"}
