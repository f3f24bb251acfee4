"""Which versions of the datasets that people added go: by number, age and size. The current ones always stay."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sandtable.catalog.own_records import OwnDataset, OwnVersion


@dataclass(frozen=True, slots=True)
class PruneRules:
    """Each field is a limit; without any, everything stays."""

    keep_versions: int | None = None
    """Versions of each dataset, the current one among them."""
    older_than_days: float | None = None
    """Since they were replaced by a newer one."""
    max_bytes: int | None = None
    """Of all versions of all datasets together; the oldest go first."""

    @property
    def any(self) -> bool:
        return (self.keep_versions, self.older_than_days, self.max_bytes) != (None, None, None)


@dataclass(frozen=True, slots=True)
class Going:
    dataset_id: str
    version: OwnVersion
    bytes: int


def versions_to_go(
    records: Sequence[OwnDataset], rules: PruneRules, now: datetime, size_of: Callable[[OwnVersion], int]
) -> list[Going]:
    earlier = [
        (
            datetime.fromisoformat(newer.at),
            len(record.versions) - 1 - index,
            Going(record.id, old, size_of(old)),
        )
        for record in records
        for index, (old, newer) in enumerate(zip(record.versions, record.versions[1:], strict=False))
    ]
    goes: list[Going] = []
    left = sum(size_of(record.current) for record in records) + sum(each.bytes for _, _, each in earlier)
    for replaced_at, newer, each in sorted(earlier, key=lambda entry: entry[0]):
        beyond = rules.keep_versions is not None and newer >= rules.keep_versions
        old = rules.older_than_days is not None and now - replaced_at > timedelta(days=rules.older_than_days)
        if beyond or old or (rules.max_bytes is not None and left > rules.max_bytes):
            goes.append(each)
            left -= each.bytes
    return goes
