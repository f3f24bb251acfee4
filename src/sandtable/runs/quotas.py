"""How much disk space and how many conversations one user may have.

Invariant: a refusal is decided on what is stored at that moment. A user within the quota is measured only every few
seconds, so a burst may exceed it by what is stored meanwhile.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from sandtable.errors import ErrorCode, SandtableError
from sandtable.recent import Recent

Meter = Callable[[str], Awaitable[int]]
"""Bytes that one component stores for a user."""

_MEASURED_S = 5.0
_USERS = 1000
_MB = 1 << 20


class QuotaFull(SandtableError):
    """A user has reached a storage quota."""

    code = ErrorCode.RUNNER_RESOURCE_EXCEEDED


class Quotas:
    def __init__(self, disk_mb: int | None = None, threads: int | None = None) -> None:
        """None and 0 mean no limit."""
        self._disk_mb = disk_mb or None
        self._threads = threads or None
        self.meters: list[Meter] = []
        self._measured: Recent[str, float] = Recent(_USERS)
        """When each user was last found to be within the quota."""

    @contextmanager
    def counting(self, meter: Meter) -> Iterator[None]:
        self.meters.append(meter)
        try:
            yield
        finally:
            self.meters.remove(meter)

    async def require_disk(self, user: str) -> None:
        """Raises QuotaFull."""
        if (
            self._disk_mb is None
            or time.monotonic() - (self._measured.get(user) or -_MEASURED_S) < _MEASURED_S
        ):
            return
        taken = sum([await meter(user) for meter in self.meters])
        if taken >= self._disk_mb * _MB:
            raise QuotaFull(
                f"your runs and conversations take {taken / _MB:,.1f} MiB, and one user may have {self._disk_mb:,} MiB",
                suggestion="Delete conversations that are no longer needed. The operator can remove old runs with"
                " `sandtable prune`, or raise SANDTABLE_USER_DISK_MB.",
                taken=taken,
                quota=self._disk_mb * _MB,
            )
        self._measured.put(user, time.monotonic())

    async def require_thread(self, user: str, count: Callable[[str], Awaitable[int]]) -> None:
        """Raises QuotaFull when one more would be too many."""
        if self._threads is None or await count(user) < self._threads:
            return
        raise QuotaFull(
            f"you have {self._threads:,} conversations, which is the limit for one user",
            suggestion="Delete some of them, or go on in one. The operator can remove old ones with"
            " `sandtable prune`, or raise SANDTABLE_USER_THREADS.",
            quota=self._threads,
        )
