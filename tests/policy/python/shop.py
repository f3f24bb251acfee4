"""The built-in datasets, and the gate with its parser as these tests call it."""

from __future__ import annotations

from sandtable.catalog.model import Dataset
from sandtable.catalog.registry import load_catalog, registry_folder
from sandtable.engines.duckdb.types import column_type
from sandtable.policy.python import judge_python
from sandtable.policy.verdict import Verdict
from sandtable_runner.parse_python import parse

_CATALOG = load_catalog(registry_folder(), column_type)
DATASETS: dict[str, Dataset] = {name: _CATALOG.get(name) for name in _CATALOG}


def verdict(text: str, dataset: str = "ecommerce", names: tuple[str, ...] = ()) -> Verdict:
    return judge_python(text, parse(text), DATASETS[dataset], names=names)
