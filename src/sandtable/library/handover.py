"""What a caller gives as `data` becomes a dataset.

Invariant: temporary files are in `<home>/handover/<instance>` only while the data is ingested, and are always
deleted; the next process deletes those of a process that died.
"""

from __future__ import annotations

import asyncio
import keyword
import os
import shutil
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandtable.catalog.model import Dataset
from sandtable.catalog.reading.file_tables import NOTHING_DECIDED, Decided
from sandtable.catalog.reading.filenames import ending_of, source_format, table_name
from sandtable.catalog.ready_datasets import ReadyDatasets
from sandtable.catalog.registry import Catalog
from sandtable.catalog.stored.source import FileStamp
from sandtable.errors import DataDamaged, InvalidInput, NotFound
from sandtable.library.frames import is_frame, write_frame
from sandtable.private import private_folder
from sandtable.quoting import quote
from sandtable.recent import Recent
from sandtable.runs.instance import Instance

FRAME = "df"
NOTHING = "no_data"
_NO_DATA = b"no_data\n0\n"
_REMEMBERED = 64


class Handover:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._taken: Recent[tuple[object, ...], Dataset] = Recent(_REMEMBERED)
        """Files that were ingested before: reading a large one again only to find it unchanged takes long."""

    @classmethod
    @contextmanager
    def open(cls, home: Path) -> Generator[Handover, None, None]:
        root = home / "handover"
        private_folder(root)
        instance = Instance(root)
        instance.acquire()
        try:
            _sweep(root, instance)
            folder = root / instance.id
            folder.mkdir(mode=0o700)
            try:
                yield cls(folder)
            finally:
                shutil.rmtree(folder, ignore_errors=True)
        finally:
            instance.release()

    async def dataset(
        self, data: Any, datasets: ReadyDatasets, decided: Decided = NOTHING_DECIDED
    ) -> Dataset:
        """Raises InvalidInput and NotFound."""
        lasting = _lasting(datasets)
        if isinstance(data, str) and data in lasting:
            if decided:
                raise InvalidInput(
                    f"{quote(data)} is a dataset, and `answers` and `repairs` are for files",
                    suggestion="Leave them out; `sandtable data correct` changes how an added dataset is read.",
                )
            return await datasets.ready(data)
        stamps = await asyncio.to_thread(_stamps, data)
        key = (*stamps, *sorted(decided.answers.items()), decided.repairs) if stamps else ()
        known = self._taken.get(key) if key else None
        if known is not None and await _still_there(known, datasets):
            return known
        with self._files() as folder:
            paths = await asyncio.to_thread(_paths, data, folder, lasting)
            dataset = await datasets.add_files(paths, reserved=tuple(lasting), decided=decided)
        if key:
            self._taken.put(key, dataset)
        return dataset

    @contextmanager
    def _files(self) -> Generator[Path, None, None]:
        with tempfile.TemporaryDirectory(dir=self._folder) as name:
            yield Path(name)


def _lasting(datasets: ReadyDatasets) -> Catalog:
    """Those that a name can mean: of the registry, and added ones."""
    added = [record.dataset for record in datasets.own.list()]
    return Catalog([*datasets.catalog.values(), *added])


async def _still_there(dataset: Dataset, datasets: ReadyDatasets) -> bool:
    """Whether the converted data is still readable; if it is lost or damaged, the original is ingested again."""
    try:
        await datasets.open(dataset.id, dataset.version)
    except (NotFound, DataDamaged):
        return False
    return True


@dataclass(frozen=True, slots=True)
class Given:
    """A file, and its stamp when it was ingested."""

    table: str
    path: Path
    stamp: FileStamp


def _stamps(data: Any) -> tuple[Given, ...]:
    """The stamps of the files in `data`; empty if `data` holds anything but paths, or a file has no reliable stamp."""
    if isinstance(data, str | os.PathLike):
        data = {"": data}
    elif isinstance(data, Sequence):
        data = dict(enumerate(data))
    if not isinstance(data, Mapping) or not all(
        isinstance(each, str | os.PathLike) for each in data.values()
    ):
        return ()
    try:
        return tuple(_stamp(str(name), Path(path).expanduser().absolute()) for name, path in data.items())
    except (OSError, ValueError):
        # Reading the file raises the right error.
        return ()


def _stamp(table: str, path: Path) -> Given:
    found = FileStamp.of(path.stat())
    if not found.settled:
        raise ValueError("changed a moment ago: the next change might have the same time stamp")
    return Given(table, path, found)


def _paths(data: Any, folder: Path, datasets: Catalog) -> list[Path]:
    if data is None:
        (folder / f"{NOTHING}.csv").write_bytes(_NO_DATA)
        return [folder / f"{NOTHING}.csv"]
    if is_frame(data):
        return [write_frame(data, folder, FRAME)]
    if isinstance(data, str | os.PathLike):
        return [_path(data, datasets)]
    if isinstance(data, Mapping):
        if not data:
            raise InvalidInput("`data` is an empty dict", suggestion="Leave it out when there is none.")
        return [_named(name, value, folder, datasets) for name, value in data.items()]
    if isinstance(data, Sequence) and all(isinstance(each, str | os.PathLike) for each in data):
        return [_path(each, datasets) for each in data]
    raise InvalidInput(
        f"`data` cannot be {_kind(data)}",
        suggestion="Give a path, a list of paths, a pandas or Polars DataFrame, a dict of names and paths or "
        f"DataFrames, or the id of a dataset: {', '.join(datasets)}.",
    )


def _path(given: str | os.PathLike[str], datasets: Catalog) -> Path:
    path = Path(given).expanduser()
    if isinstance(given, str) and not path.suffix and not path.exists():
        try:
            datasets.get(given)
        except NotFound as error:
            raise NotFound(
                f"`data` is {quote(given)}, which is neither a file nor a dataset",
                suggestion=error.suggestion,
                **error.details,
            ) from error
    return path


def _named(name: Any, value: Any, folder: Path, datasets: Catalog) -> Path:
    if not isinstance(name, str) or table_name(name) != name or keyword.iskeyword(name):
        raise InvalidInput(
            f"{quote(str(name))} cannot be the name of a table",
            suggestion="Use letters, digits and underscores, beginning with a letter.",
        )
    if is_frame(value):
        return write_frame(value, folder, name)
    if not isinstance(value, str | os.PathLike):
        raise InvalidInput(
            f"the table {quote(name)} cannot be {_kind(value)}",
            suggestion="Give a path or a pandas or Polars DataFrame.",
        )
    source = _path(value, datasets).absolute()
    source_format(source)
    link = folder / f"{name}{ending_of(source)}"
    link.symlink_to(source)
    return link


def _kind(value: Any) -> str:
    hints = {
        "LazyFrame": ": call `.collect()` first",
        "Series": ": call `.to_frame()` first",
        "Table": ": call `.to_pandas()` first",
    }
    kind = type(value).__name__
    return f"of type {kind}{hints.get(kind, '')}"


def _sweep(root: Path, instance: Instance) -> None:
    left = {path.name for path in root.iterdir() if path.is_dir()} - {"instances"}
    for owner in left | set(instance.others()):
        with instance.inherit(owner) as dead:
            if dead:
                shutil.rmtree(root / owner, ignore_errors=True)
