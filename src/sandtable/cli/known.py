"""The datasets that can be named here, without a sandbox: those that were added, then those of the registry.

Each is described by its current catalog.
"""

from __future__ import annotations

from sandtable.catalog.own.records import OwnRecords
from sandtable.catalog.registry import Catalog, load_catalog, registry_folder
from sandtable.catalog.semantics.editions import CatalogEditions
from sandtable.engines.duckdb.types import column_type
from sandtable.process import load_settings


def known_datasets() -> Catalog:
    settings = load_settings()
    own = [record.dataset for record in OwnRecords(settings.home / "data").values()]
    names = {dataset.id for dataset in own}
    declared = load_catalog(registry_folder(settings), column_type).values()
    editions = CatalogEditions(settings.home / "data")
    found = [*own, *(dataset for dataset in declared if dataset.id not in names)]
    return Catalog(editions.listed(dataset) for dataset in found)
