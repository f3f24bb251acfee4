"""Backup and restore as the settings name home and database."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from sandtable.backup.manifest import Manifest
from sandtable.backup.restoring import Opened, check, extract, publish, rows_in, staging
from sandtable.backup.taking import Rows, Taken, take, workspace
from sandtable.capsule.keys import open_signing_key
from sandtable.catalog.stored.source import Progress
from sandtable.errors import InvalidInput
from sandtable.settings import Settings

T = TypeVar("T")


class _Stopped(Exception):
    """The command was interrupted."""


async def back_up(settings: Settings, target: Path, *, with_keys: bool, progress: Progress) -> Taken:
    """Raises InvalidInput, NoSpaceLeft, StoreUnavailable, StoreCorrupt, RunnerBroken, and what `progress` raises."""
    home = settings.home
    target = _outside(home, target)
    with workspace(target, "a backup") as folder:
        rows = await _rows_of(settings, folder)
        key = open_signing_key(home, settings.signing_key)
        return await _stoppable(
            lambda tell: take(home, target, folder, key, with_keys=with_keys, rows=rows, progress=tell),
            progress,
        )


async def restore(settings: Settings, backup: Opened, home: Path, progress: Progress) -> None:
    """Raises InvalidInput, NoSpaceLeft, StoreUnavailable, and what `progress` raises."""
    _require_same_database(settings, backup.manifest)
    home = _absolute(home)
    with staging(home) as folder:
        await _stoppable(lambda tell: extract(backup, folder, tell), progress)
        if settings.database_url is None:
            publish(folder, home)
            return
        # The driver is an optional dependency.
        from sandtable.backup.postgres import loaded

        async with loaded(settings.database_url.get_secret_value(), backup.manifest, rows_in(folder)):
            # Before the rows are committed: a home without its rows can be removed, rows without a home cannot.
            publish(folder, home)


async def examine(backup: Opened, progress: Progress) -> None:
    """Checks every digest, and restores nothing. Raises InvalidInput."""
    await _stoppable(lambda tell: check(backup, tell), progress)


def _outside(home: Path, target: Path) -> Path:
    """The target as an absolute path. Raises InvalidInput."""
    if not home.is_dir():
        raise InvalidInput(f"there is no home {home}", suggestion="Set SANDTABLE_HOME to the server's home.")
    if target.resolve().is_relative_to(home.resolve()):
        raise InvalidInput(
            "the backup would lie in the home itself", suggestion="Choose a place outside of it."
        )
    return target.absolute()


def _absolute(path: Path) -> Path:
    return path.absolute()


async def _rows_of(settings: Settings, folder: Path) -> Rows | None:
    if settings.database_url is None:
        return None
    # The driver is an optional dependency.
    from sandtable.backup.postgres import dump

    return await dump(settings.database_url.get_secret_value(), folder)


def _require_same_database(settings: Settings, manifest: Manifest) -> None:
    if (settings.database_url is None) == (manifest.database == "sqlite"):
        return
    if manifest.database == "sqlite":
        raise InvalidInput(
            "the backup has its runs in SQLite files, and SANDTABLE_DATABASE_URL names a Postgres database",
            suggestion="Unset SANDTABLE_DATABASE_URL for this command.",
        )
    raise InvalidInput(
        "the backup has its runs as rows of a Postgres database",
        suggestion="Set SANDTABLE_DATABASE_URL to an empty database or schema.",
    )


async def _stoppable(work: Callable[[Progress], T], progress: Progress) -> T:
    """What `work` returns, on a thread. When the caller is cancelled, it ends with the next piece of its work."""
    stop = False

    def tell(done: int, total: int) -> None:
        if stop:
            raise _Stopped
        progress(done, total)

    working = asyncio.create_task(asyncio.to_thread(work, tell))
    try:
        return await asyncio.shield(working)
    except asyncio.CancelledError:
        stop = True
        await asyncio.wait({working})
        if not working.cancelled():
            working.exception()
        raise
