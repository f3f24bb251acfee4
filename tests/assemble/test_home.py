"""The home and what is kept in it are for its owner alone, whatever the umask and whatever was there before."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandtable.assemble.checkpoints import sqlite_checkpoints
from sandtable.capsule.keys import open_signing_key
from sandtable.catalog.stored.store import DataStore
from sandtable.conversations.sqlite import SqliteDatabase
from sandtable.library.handover import Handover
from sandtable.private import create_once, private_file, private_folder
from sandtable.runs.instance import Instance
from sandtable.store.sqlite.run_store import SqliteStore

_SHARED = {"data", "keys/signing.pub.pem"}
"""Sandboxes run as another user and read `data`; public keys are there to be given away."""


@pytest.fixture(params=[0o000, 0o022, 0o077], ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def _open_to_others(home: Path) -> dict[str, str]:
    found = {path.relative_to(home).as_posix(): _mode(path) for path in (home, *home.rglob("*"))}
    return {
        name: oct(mode)
        for name, mode in found.items()
        if mode & 0o077 and name not in _SHARED and not name.startswith("data/")
    }


async def _use(home: Path) -> list[str]:
    """Everything that writes there; the names of the databases with their logs."""
    DataStore(home / "data")
    open_signing_key(home)
    runs, threads = SqliteStore(home / "sandtable.db"), SqliteDatabase(home)
    instance = Instance(home)
    instance.acquire()
    try:
        await runs.open()
        await threads.open()
        async with sqlite_checkpoints(home / "threads.db") as checkpoints:
            await checkpoints.adelete_thread("none")
            with Handover.open(home):
                assert _open_to_others(home) == {}
            return sorted(path.name for path in home.iterdir() if ".db" in path.name)
    finally:
        instance.release()
        await threads.aclose()
        await runs.aclose()


async def test_a_new_home_is_private(tmp_path: Path, umask: int) -> None:
    home = tmp_path / "home"
    names = await _use(home)
    assert {"sandtable.db", "sandtable.db-wal", "sandtable.db-shm", "threads.db", "threads.db-wal"} <= set(
        names
    )
    assert _mode(home) == 0o700
    assert _open_to_others(home) == {}


async def test_a_loose_home_is_tightened(tmp_path: Path) -> None:
    home = tmp_path / "home"
    names = await _use(home)
    databases = [home / name for name in {*names, "sandtable.db-journal"}]
    for path in (home, home / "keys", home / "instances", home / "handover", *databases):
        if not path.exists():
            # What a server that was killed leaves beside its database.
            path.touch()
        path.chmod(0o777 if path.is_dir() else 0o666)
    await _use(home)
    assert _open_to_others(home) == {}


@pytest.mark.skipif(os.geteuid() != 0, reason="gives files to another user")
def test_what_another_user_owns_is_left_alone(tmp_path: Path) -> None:
    folder, file = tmp_path / "volume", tmp_path / "file"
    folder.mkdir()
    file.touch()
    for path in (folder, file):
        path.chmod(0o775)
        os.chown(path, 65532, 65532)
    private_folder(folder)
    private_file(file)
    assert (_mode(folder), _mode(file)) == (0o775, 0o775)


def test_a_folder_of_everyone_is_left_alone(tmp_path: Path) -> None:
    shared = tmp_path / "tmp"
    shared.mkdir()
    shared.chmod(0o1777)
    private_folder(shared)
    assert _mode(shared) == 0o1777


def test_the_first_of_several_wins(tmp_path: Path) -> None:
    for content in (b"first", b"second"):
        create_once(tmp_path / "file", content, 0o600)
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"first"]
