"""Retention of the versions of datasets that people added: by age, number and size.

Invariant: the current version of a dataset stays, and so does one that a run or an import uses.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Self

import structlog

from sandtable.catalog.own.datasets import OwnDatasets
from sandtable.catalog.own.records import OwnDataset, OwnVersion
from sandtable.catalog.stored.removals import RemovalRule
from sandtable.errors import NotFound, SandtableError
from sandtable.settings import Settings
from sandtable.stopping import stopped

EVERY_S = 600.0
FIRST_S = 30.0
"""Delay after the start, when there is more urgent work."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class PruneRules:
    """Each field is a limit; without any, everything stays."""

    keep_versions: int | None = None
    """Versions of each dataset, the current one among them."""
    older_than_days: float | None = None
    """Since they were replaced by a newer one."""
    max_bytes: int | None = None
    """Of all versions of all datasets together; the oldest go first."""

    @classmethod
    def of(cls, settings: Settings) -> Self:
        size = settings.keep_versions_mb
        return cls(settings.keep_versions, settings.keep_versions_days, None if size is None else size << 20)

    @property
    def any(self) -> bool:
        return (self.keep_versions, self.older_than_days, self.max_bytes) != (None, None, None)


@dataclass(frozen=True, slots=True)
class InUse:
    """Versions that no rule removes."""

    versions: frozenset[str] = frozenset()
    """Of runs that have not ended."""
    since: datetime | None = None
    """Versions that were current at this time or later: what began then may use them."""

    def has(self, version: OwnVersion, replaced_at: datetime) -> bool:
        # Versions have whole seconds.
        recent = self.since is not None and replaced_at >= self.since - timedelta(seconds=1)
        return recent or version.dataset.version in self.versions


@dataclass(frozen=True, slots=True)
class Going:
    dataset_id: str
    version: OwnVersion
    bytes: int
    rule: RemovalRule


def versions_to_go(
    records: Sequence[OwnDataset],
    rules: PruneRules,
    now: datetime,
    size_of: Callable[[OwnVersion], int],
    in_use: InUse | None = None,
) -> list[Going]:
    earlier = [
        (datetime.fromisoformat(newer.at), len(record.versions) - 1 - index, record.id, old, size_of(old))
        for record in records
        for index, (old, newer) in enumerate(zip(record.versions, record.versions[1:], strict=False))
    ]
    goes: list[Going] = []
    left = sum(size_of(record.current) for record in records) + sum(entry[-1] for entry in earlier)
    for replaced_at, newer, dataset_id, old, size in sorted(earlier, key=lambda entry: entry[0]):
        rule = _broken(rules, now - replaced_at, newer, left)
        if rule is not None and not (in_use or InUse()).has(old, replaced_at):
            goes.append(Going(dataset_id, old, size, rule))
            left -= size
    return goes


def _broken(rules: PruneRules, age: timedelta, newer: int, size: int) -> RemovalRule | None:
    """The first rule that a version exceeds."""
    if rules.older_than_days is not None and age > timedelta(days=rules.older_than_days):
        return "age"
    if rules.keep_versions is not None and newer >= rules.keep_versions:
        return "count"
    if rules.max_bytes is not None and size > rules.max_bytes:
        return "size"
    return None


class VersionRetention:
    def __init__(
        self, own: OwnDatasets, rules: PruneRules, look: Callable[[], Awaitable[InUse]] | None = None
    ) -> None:
        """`look`: which versions are in use now; without it, none is."""
        self._own = own
        self._rules = rules
        self._look = look

    @asynccontextmanager
    async def in_background(
        self, first_s: float = FIRST_S, every_s: float = EVERY_S
    ) -> AsyncGenerator[None, None]:
        """Applies the rules from time to time, and removes sources that no dataset has."""
        task = asyncio.create_task(self._keep(first_s, every_s), name="retention of versions")
        try:
            yield
        finally:
            await stopped(task)

    async def _keep(self, first_s: float, every_s: float) -> None:
        await asyncio.sleep(first_s)
        while True:
            try:
                await self.apply()
                await asyncio.to_thread(self._own.records.drop_sources)
            except (SandtableError, OSError) as error:
                log.error("version_retention_failed", reason=str(error))
            await asyncio.sleep(every_s)

    async def apply(self) -> list[Going]:
        """Removes what the rules select now."""
        return await self.remove(await self.chosen())

    async def chosen(self) -> list[Going]:
        if not self._rules.any:
            return []
        in_use = InUse() if self._look is None else await self._look()
        return await asyncio.to_thread(self._chosen, in_use)

    def _chosen(self, in_use: InUse) -> list[Going]:
        own = self._own
        return versions_to_go(own.list(), self._rules, datetime.now(UTC), own.size_of, in_use)

    async def remove(self, goes: Sequence[Going]) -> list[Going]:
        """Returns those that another process has not removed before."""
        removed: list[Going] = []
        ordered = sorted(goes, key=lambda each: (each.dataset_id, each.rule))
        for (dataset_id, rule), group in groupby(ordered, key=lambda each: (each.dataset_id, each.rule)):
            chosen = list(group)
            try:
                gone = await self._own.drop_versions(dataset_id, [each.version for each in chosen], rule)
            except NotFound:
                # The dataset was removed meanwhile.
                continue
            removed += [each for each in chosen if each.version in gone]
        for each in removed:
            version = each.version.dataset.version
            log.info(
                "version_removed",
                dataset_id=each.dataset_id,
                version=version,
                rule=each.rule,
                bytes=each.bytes,
            )
        return removed
