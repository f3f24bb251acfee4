"""The built-in datasets and a shelf of small tables, loaded once for all tests of the planner."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from sandtable.catalog.registry import load_catalog
from sandtable.engines.duckdb.types import column_type
from tests.planner.ground import World, csv_world, load_world

_DATASETS = Path(__file__).resolve().parents[2] / "datasets"
_TABLES = Path(__file__).parent / "corpus" / "tables"


@pytest.fixture(scope="session")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, World]:
    """The datasets of the registry, by id, over freshly made files."""
    package = _DATASETS / "generate"
    spec = importlib.util.spec_from_file_location(
        "planner_generate", package / "__init__.py", submodule_search_locations=[str(package)]
    )
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["planner_generate"] = module
    spec.loader.exec_module(module)
    folder = tmp_path_factory.mktemp("planner")
    module.generate(folder)
    for name in [n for n in sys.modules if n.partition(".")[0] == "planner_generate"]:
        del sys.modules[name]
    catalog = load_catalog(_DATASETS, column_type)
    return {dataset_id: load_world(catalog.get(dataset_id), folder / dataset_id) for dataset_id in catalog}


@pytest.fixture(scope="session")
def shelf() -> dict[str, World]:
    """Single CSV files of other domains, by name."""
    return {path.stem: csv_world(path.stem, path) for path in sorted(_TABLES.glob("*.csv"))}
