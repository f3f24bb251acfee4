"""A Jupyter kernel on one dataset, for the user who started it: sealed like every sandbox, its code not checked."""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from sandtable.assemble import Parts
from sandtable.assemble.session_host import kernels_of
from sandtable.assemble.sizes import limits_of
from sandtable.catalog.model import Dataset
from sandtable.catalog.stored.store import DataStore
from sandtable.errors import InvalidInput
from sandtable.runs.code import switched_off, without_files
from sandtable.sandbox.job import Job, refs_of
from sandtable.sandbox.local.kernels import SandboxedKernel


@asynccontextmanager
async def open_kernel(parts: Parts, dataset: Dataset) -> AsyncGenerator[SandboxedKernel, None]:
    """Raises SandboxUnavailable where no kernel can run, InvalidInput where Python is switched off, DataDamaged."""
    if not parts.python:
        raise switched_off()
    if (refused := without_files(dataset)) is not None:
        raise InvalidInput(refused.message, suggestion=refused.suggestion)
    settings = parts.settings
    kernels = kernels_of(settings, DataStore(settings.home / "data"))
    data = await parts.datasets.open(dataset.id, dataset.version)
    job = Job(
        id=f"kernel-{secrets.token_hex(8)}",
        mode="session",
        dataset_id=dataset.id,
        dataset_version=dataset.version,
        data=refs_of(data),
        limits=limits_of(settings),
        options={"check": False},
    )
    try:
        yield await kernels.open(job)
    finally:
        await kernels.aclose()
