"""Ways in which a version's files come to be other than they were published, and ways that only look like it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from sandtable.catalog.model import Column, ColumnType, Dataset, Table
from sandtable.catalog.stored.store import DataStore
from sandtable.catalog.version import dataset_version

Act = Callable[[Path], object]
"""Done to the folder of a version."""
TABLE = "t.parquet"


def dataset(*names: str, sha256: str = "0" * 64) -> Dataset:
    columns = (Column(name="x", type=ColumnType.TEXT, sql_type="VARCHAR"),)
    tables = tuple(Table(name=n, file=f"{n}.csv", sha256=sha256, columns=columns) for n in names or ("t",))
    return Dataset(id="d", tables=tables, version=dataset_version(tables))


def publish(
    store: DataStore, made: Dataset, content: str = "the rows of {}", *, replace: bool = False
) -> Path:
    work = store.open_workspace()
    for table in made.tables:
        rows = content.format(table.name) + table.sha256
        (store.root / work.staging / table.name).write_text(rows, "utf-8")
    try:
        return store.publish(work, made, {table.name: table.name for table in made.tables}, replace=replace)
    finally:
        store.close_workspace(work)


def flip(path: Path, at: int = 3) -> None:
    """One byte, in place; the time of the change is set back."""
    before = path.stat()
    with path.open("r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ 0xFF]))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def fit_digests(folder: Path, *, keep_code: bool = True) -> None:
    """The recorded digests are made those of the files as they are now."""
    recorded = json.loads((folder / "digests.json").read_bytes())
    for name in [name for name in recorded if name != "mac"]:
        recorded[name] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    if not keep_code:
        recorded.pop("mac", None)
    (folder / "digests.json").write_text(json.dumps(recorded), "utf-8")


def _replaced(folder: Path) -> None:
    before = (folder / TABLE).stat()
    other = folder.parent / "other"
    other.write_bytes(b"x" * before.st_size)
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    other.rename(folder / TABLE)


def _link(folder: Path) -> None:
    """The bytes are the right ones, and can be exchanged by others at any time."""
    aside = folder.parent / "aside"
    (folder / TABLE).rename(aside)
    (folder / TABLE).symlink_to(aside)


def _folder_link(folder: Path) -> None:
    aside = folder.parent / "aside"
    folder.rename(aside)
    folder.symlink_to(aside)


def _pipe(folder: Path) -> None:
    (folder / TABLE).unlink()
    os.mkfifo(folder / TABLE)


def _all_pipes(folder: Path) -> None:
    """Reading one of them would wait for ever."""
    for path in list(folder.iterdir()):
        path.unlink()
        os.mkfifo(path)


def _described_otherwise(folder: Path) -> None:
    text = (folder / "dataset.json").read_text("utf-8")
    (folder / "dataset.json").write_text(text.replace('"rows": null', '"rows": 7'), "utf-8")


def _fitted(folder: Path) -> None:
    flip(folder / TABLE)
    fit_digests(folder)


def _fitted_without_code(folder: Path) -> None:
    flip(folder / TABLE)
    fit_digests(folder, keep_code=False)


def _without_digests(folder: Path) -> None:
    flip(folder / TABLE)
    (folder / "digests.json").unlink()


def _of_another_version(folder: Path) -> None:
    other = next(each for each in folder.parent.iterdir() if each != folder and each.is_dir())
    shutil.copy(other / TABLE, folder / TABLE)


DAMAGE: dict[str, Act] = {
    "a byte flipped in place, its time set back": lambda f: flip(f / TABLE),
    "the last byte flipped": lambda f: flip(f / TABLE, (f / TABLE).stat().st_size - 1),
    "cut short": lambda f: os.truncate(f / TABLE, 4),
    "emptied": lambda f: os.truncate(f / TABLE, 0),
    "a byte more": lambda f: os.truncate(f / TABLE, (f / TABLE).stat().st_size + 1),
    "deleted": lambda f: (f / TABLE).unlink(),
    "replaced by a file of its size and time": _replaced,
    "a link to its own bytes": _link,
    "a named pipe": _pipe,
    "every file a named pipe": _all_pipes,
    "a folder": lambda f: ((f / TABLE).unlink(), (f / TABLE).mkdir()),
    "the file of another version": _of_another_version,
    "its folder a link to itself": _folder_link,
    "another description": _described_otherwise,
    "no description": lambda f: (f / "dataset.json").unlink(),
    "digests made to fit": _fitted,
    "digests made to fit, their code removed": _fitted_without_code,
    "digests removed": _without_digests,
}


def _copied(folder: Path) -> None:
    shutil.copytree(folder, folder.parent / ".copy")
    shutil.rmtree(folder)
    (folder.parent / ".copy").rename(folder)


HARMLESS: dict[str, Act] = {
    "touched": lambda f: os.utime(f / TABLE),
    "other rights": lambda f: (f / TABLE).chmod(0o600),
    "a second name, as backups make": lambda f: os.link(f / TABLE, f.parent / "backup"),
    "restored from a copy": _copied,
    "a file more in its folder": lambda f: (f / "notes.txt").write_text("mine"),
    "digests lost": lambda f: (f / "digests.json").unlink(),
    "digests unreadable": lambda f: (f / "digests.json").write_bytes(b"\xff{"),
}
