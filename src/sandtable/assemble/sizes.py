"""Settings → how much a run and a user may take."""

from __future__ import annotations

import os

from sandtable.runs.quotas import Quotas
from sandtable.sandbox.job import Limits
from sandtable.settings import Settings

SERVED_DISK_MB = 10 << 10
SERVED_THREADS = 10_000
"""Quotas for one user of a server (disk space, threads) where the settings set none."""


def limits_of(settings: Settings, *, serving: bool = False) -> Limits:
    wall_ms = int(settings.timeout_s * 1000)
    return Limits(
        wall_ms=wall_ms,
        cpu_s=max(1, int(settings.timeout_s * threads_of(settings)) + 1),
        memory_mb=settings.memory_mb,
        tmp_mb=settings.tmp_mb,
        rows=settings.max_rows,
        result_bytes=settings.max_result_bytes,
        log_bytes=settings.max_output_bytes or (64 << 10 if serving else 1 << 20),
    )


def python_is_on(settings: Settings, *, serving: bool) -> bool:
    """On by default where a person runs their own code; a server runs untrusted code, so there it must be enabled."""
    return settings.python == "on" if serving else settings.python != "off"


def threads_of(settings: Settings) -> int:
    return settings.threads or len(os.sched_getaffinity(0))


def quotas_of(settings: Settings, *, serving: bool) -> Quotas:
    disk, threads = settings.user_disk_mb, settings.user_threads
    return Quotas(
        disk_mb=SERVED_DISK_MB if disk is None and serving else disk,
        threads=SERVED_THREADS if threads is None and serving else threads,
    )
