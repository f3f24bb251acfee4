"""Which versions of added datasets are in use, for the rules that remove the others."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from datetime import UTC, datetime

from sandtable.catalog.own.datasets import OwnDatasets
from sandtable.catalog.own.pruning import InUse, PruneRules, VersionRetention
from sandtable.imports.records import ImportRecords
from sandtable.runs.model import run_of
from sandtable.settings import Settings
from sandtable.store.run_store import RunFilter, RunStore

_JUST_REPLACED_S = 60.0
"""A server keeps versions for so long after they were replaced: a request may be about to become a run on one."""


def version_retention_of(
    settings: Settings,
    own: OwnDatasets,
    runs: RunStore,
    *,
    rules: PruneRules | None = None,
    serving: bool = False,
) -> VersionRetention:
    """By the settings' rules unless `rules` are given. `runs` must be open."""
    reading_since = ImportRecords(settings.home / "data").reading_since

    async def in_use() -> InUse:
        moments = [
            await asyncio.to_thread(reading_since),
            time.time() - _JUST_REPLACED_S if serving else None,
        ]
        since = min((moment for moment in moments if moment is not None), default=None)
        return InUse(
            await _versions_of_runs(runs), None if since is None else datetime.fromtimestamp(since, UTC)
        )

    return VersionRetention(own, rules or PruneRules.of(settings), in_use)


async def _versions_of_runs(runs: RunStore) -> frozenset[str]:
    """Of all runs that have not ended."""
    found: set[str] = set()
    for status in ("pending", "running"):
        wanted = RunFilter(status, limit=500)
        while page := await runs.list(wanted):
            found.update(run_of(record).dataset_version for record in page)
            wanted = replace(wanted, before=page[-1].id)
    return frozenset(found)
