"""The connected databases of a home."""

from __future__ import annotations

from sandtable.assemble import Parts
from sandtable.catalog.registry import load_catalog, registry_folder
from sandtable.engines.duckdb.types import column_type
from sandtable.sources.records import SourceRecords
from sandtable.sources.sources import Sources


def sources_of(parts: Parts) -> Sources:
    settings = parts.settings
    return Sources(
        SourceRecords(settings.home),
        parts.datasets.own,
        load_catalog(registry_folder(settings), column_type),
        parts.uploads,
        settings.snapshot_timeout_s,
    )
