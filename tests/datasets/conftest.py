"""The generator as a module, and its files made once for all tests."""

from __future__ import annotations

import csv
import importlib.util
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

DATASETS = Path(__file__).resolve().parents[2] / "datasets"


@pytest.fixture(scope="session")
def generator() -> Iterator[ModuleType]:
    package = DATASETS / "generate"
    spec = importlib.util.spec_from_file_location(
        "generate", package / "__init__.py", submodule_search_locations=[str(package)]
    )
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["generate"] = module
    spec.loader.exec_module(module)
    yield module
    for name in [n for n in sys.modules if n.partition(".")[0] == "generate"]:
        del sys.modules[name]


@pytest.fixture(scope="session")
def made(generator: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("made")
    generator.generate(out)
    return out


@pytest.fixture(scope="session")
def registry() -> dict[str, Any]:
    return json.loads((DATASETS / "registry.json").read_text("utf-8"))


Rows = list[dict[str, str]]


@pytest.fixture(scope="session")
def rows(made: Path) -> Callable[[str], Rows]:
    """The rows of `dataset/table` as text."""
    seen: dict[str, Rows] = {}

    def read(name: str) -> Rows:
        if name not in seen:
            with (made / f"{name}.csv").open(encoding="utf-8", newline="") as file:
                seen[name] = list(csv.DictReader(file))
        return seen[name]

    return read
