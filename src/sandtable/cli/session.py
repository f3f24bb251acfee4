"""Opens the parts for a command, and a dataset with its data converted."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import TypeVar

from rich.console import Console
from rich.status import Status

from sandtable.assemble import Parts, assemble
from sandtable.catalog.model import Dataset
from sandtable.catalog.reading.file_tables import Decided
from sandtable.catalog.stored.source import Progress
from sandtable.cli.file_questions import with_answers
from sandtable.cli.inputs import About
from sandtable.cli.running import run_to_end
from sandtable.errors import DataDamaged
from sandtable.process import load_settings, quiet_logs
from sandtable.settings import Settings

T = TypeVar("T")

_PATIENCE_S = 0.4


def with_parts(act: Callable[[Parts], Awaitable[T]], settings: Settings | None = None) -> T:
    quiet_logs()
    chosen = settings or load_settings()
    return run_to_end(lambda: on_parts(act, chosen))


async def on_parts(act: Callable[[Parts], Awaitable[T]], settings: Settings) -> T:
    async with assemble(settings) as parts:
        return await act(parts)


async def open_dataset(parts: Parts, about: About) -> Dataset:
    """The dataset that `--dataset` names or that consists of the files of `--data`, with its data converted."""
    datasets = parts.datasets

    async def add(decided: Decided) -> Dataset:
        async with patience(parts):
            return await datasets.add_files(about.data, decided=decided)

    dataset = await with_answers(about.decided, add) if about.data else None
    async with patience(parts):
        if dataset is None:
            assert about.dataset_id is not None
            dataset = await datasets.ready(about.dataset_id)
        # Hashing a large file is shown here; a damaged one is reported by the run, which leaves a capsule.
        with suppress(DataDamaged):
            await datasets.open(dataset.id, dataset.version)
        return dataset


@asynccontextmanager
async def patience(parts: Parts) -> AsyncGenerator[None, None]:
    """Prints that data is being prepared, if that takes a moment and stderr is a terminal."""
    async with showing("Preparing data") as progress:
        parts.datasets.progress = progress
        try:
            yield
        finally:
            parts.datasets.progress = None


@asynccontextmanager
async def showing(doing: str) -> AsyncGenerator[Progress, None]:
    """Prints what is being done and how far it is, if that takes a moment and stderr is a terminal."""
    status = Status(f"{doing}…", console=Console(file=sys.stderr))
    begin = asyncio.get_running_loop().call_later(_PATIENCE_S, status.start) if sys.stderr.isatty() else None
    try:
        yield lambda done, total: status.update(f"{doing}… {_amount(done, total)}")
    finally:
        if begin is not None:
            begin.cancel()
            status.stop()


def _amount(done: int, total: int) -> str:
    return f"{100 * done // total} %" if total else f"{done / 1e6:,.1f} MB"
