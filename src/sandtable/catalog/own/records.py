"""The datasets that people added, on disk: a record for each, and the bytes of the files that they were made from.

    datasets/<id>.json     the record: its versions, the newest last, each with its sources, recipes and what changed
    datasets/lock          held while a record is written or removed
    sources/<64 hex>       a source file by its digest, for as long as a record names it

Invariant: a record is replaced by one rename, and names only sources that are there. Several processes use one folder:
a record is read again when its stamp has changed, and is written only over the one that the change was made from.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import UTC, datetime
from math import inf
from pathlib import Path
from typing import Literal, Self, TypeVar
from urllib.parse import quote_from_bytes, unquote_to_bytes

import structlog
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from sandtable.catalog.model import Dataset, Table
from sandtable.catalog.own.changes import VersionChanges
from sandtable.catalog.reading.file_tables import Decided
from sandtable.catalog.reading.filenames import CopiedFrom, FetchedFrom, NamedFile
from sandtable.catalog.reading.ingest import checked_digest
from sandtable.catalog.stored.conversions import Findings
from sandtable.catalog.stored.source import (
    FileStamp,
    Progress,
    copy_source,
    locked_folder,
    read_file,
    replace_file,
)
from sandtable.catalog.stored.version_files import version_folder
from sandtable.errors import InvalidInput, RunnerBroken
from sandtable.quoting import quote

log = structlog.get_logger(__name__)

DATASETS, SOURCES = "datasets", "sources"
T = TypeVar("T")

_ATTEMPTS = 5
_LEFTOVER_S = 3600.0
"""A source that no record names is kept for this long: it may belong to a dataset that is being added."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class KeptSource(_Frozen):
    table: str
    """`NamedFile.table`: the name of its table, or the prefix of their names."""
    name: str
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    bytes: int
    quoted: str = ""
    """Where it was, percent-encoded, because a path need not be text; empty for an upload."""
    fetched: FetchedFrom | None = None
    copied: CopiedFrom | None = None

    @property
    def content(self) -> tuple[object, ...]:
        """What decides its table, as long as nothing else is decided about it."""
        return self.table, self.sha256, self.copied and self.copied.columns

    @property
    def origin(self) -> Path | None:
        return Path(os.fsdecode(unquote_to_bytes(self.quoted))) if self.quoted else None


class OwnVersion(_Frozen):
    at: str
    """When it was made, in ISO form."""
    dataset: Dataset
    sources: tuple[KeptSource, ...]
    """None where the rows stay in a database."""
    table_sources: dict[str, str]
    """By table, `KeptSource.table` of its source."""
    findings: dict[str, Findings] = Field(default_factory=dict)
    """By table."""
    answers: dict[str, str] = Field(default_factory=dict)
    repairs: tuple[str, ...] = ()
    changes: VersionChanges = VersionChanges()
    """Against the version before."""

    @property
    def contents(self) -> list[tuple[object, ...]]:
        return [source.content for source in self.sources]

    @property
    def decided(self) -> Decided:
        return Decided(self.answers, self.repairs)

    @property
    def origins(self) -> set[str | None]:
        """The connected databases that it is from; with None, where it is also from files."""
        if self.dataset.live is not None:
            return {self.dataset.live.source}
        return {each.copied.source if each.copied else None for each in self.sources}

    @property
    def tables_there(self) -> list[str]:
        """Its tables in the database that it is from, as schema and name; none of files."""
        if self.dataset.live is not None:
            return [f"{each.db_schema}.{each.db_table}" for each in self.dataset.live.tables]
        copied = [each.copied for each in self.sources]
        return [f"{each.db_schema}.{each.db_table}" for each in copied if each is not None]

    @model_validator(mode="after")
    def _from_something(self) -> Self:
        if bool(self.sources) == (self.dataset.live is not None):
            raise ValueError("a version is from files, or its rows stay in a database")
        return self

    def tables_of(self, source: KeptSource) -> list[Table]:
        return [t for t in self.dataset.tables if self.table_sources.get(t.name) == source.table]


class OwnDataset(_Frozen):
    format: Literal[1] = 1
    id: str
    title: str
    added_at: str
    owner: str = ""
    """The user it belongs to; empty, as in records of earlier versions, for one that belongs to everyone here."""
    versions: tuple[OwnVersion, ...] = Field(min_length=1)
    """The newest last; that one is current."""

    @property
    def current(self) -> OwnVersion:
        return self.versions[-1]

    def live(self, version: str) -> Dataset | None:
        """A version whose rows stay in a database."""
        found = (each.dataset for each in self.versions if each.dataset.version == version)
        return next((each for each in found if each.live is not None), None)

    @property
    def dataset(self) -> Dataset:
        return self.current.dataset


class Outdated(Exception):
    """The record has changed since the change to it was begun, or one of its sources is gone: begin again."""


class OwnRecords:
    def __init__(self, root: Path) -> None:
        """`root` of the data store. Nothing is created before the first record."""
        self._root = root
        self._folder = root / DATASETS
        self._sources = root / SOURCES
        self._read: dict[str, tuple[FileStamp, OwnDataset]] = {}
        self._logged: dict[str, str] = {}
        """What is wrong with records that cannot be read: logged once."""

    # Records

    def values(self) -> tuple[OwnDataset, ...]:
        """In the order in which they were added."""
        try:
            names = [entry.name for entry in os.scandir(self._folder) if entry.name.endswith(".json")]
        except FileNotFoundError:
            return ()
        found = [record for name in names if (record := self.get(name.removesuffix(".json"))) is not None]
        return tuple(sorted(found, key=lambda record: (record.added_at, record.id)))

    def get(self, dataset_id: str) -> OwnDataset | None:
        path = self._path(dataset_id)
        try:
            stamp = FileStamp.of(path.lstat())
            known = self._read.get(dataset_id)
            if known is not None and known[0] == stamp and stamp.settled:
                return known[1]
            record = OwnDataset.model_validate_json(read_file(path))
        except FileNotFoundError:
            return None
        except (OSError, ValidationError) as error:
            return self._unreadable(dataset_id, str(error)[:500])
        if record.id != dataset_id:
            return self._unreadable(dataset_id, f"it is the record of {record.id}")
        self._read[dataset_id] = (stamp, record)
        return record

    def _unreadable(self, dataset_id: str, why: str) -> None:
        if self._logged.get(dataset_id) != why:
            log.error("own_dataset_not_read", dataset_id=dataset_id, reason=why)
            self._logged[dataset_id] = why

    def taken(self, dataset_id: str) -> bool:
        """Whether there is a record of that id, also one that cannot be read."""
        return os.path.lexists(self._path(dataset_id))

    def version(self, version: str) -> OwnVersion | None:
        """Of any dataset, current or not."""
        return next(
            (v for record in self.values() for v in record.versions if v.dataset.version == version), None
        )

    def write(self, record: OwnDataset, before: OwnDataset | None) -> None:
        """Raises Outdated unless `before` is the present record."""
        with locked_folder(self._folder):
            if self.get(record.id) != before or (before is None and self.taken(record.id)):
                raise Outdated
            if not all(self.has_source(s) for v in record.versions for s in v.sources):
                raise Outdated
            replace_file(self._path(record.id), record.model_dump_json(indent=1).encode("utf-8"))

    def keep_prompts(self, dataset_id: str, version: str, prompts: Iterable[str]) -> None:
        """Questions to begin with, unless the dataset has another version by now, which gets its own."""
        record = self.get(dataset_id)
        if record is None or record.dataset.version != version:
            return
        dataset = record.dataset.model_copy(update={"prompts": tuple(prompts)})
        current = record.current.model_copy(update={"dataset": dataset})
        with contextlib.suppress(Outdated):
            self.write(record.model_copy(update={"versions": (*record.versions[:-1], current)}), record)

    def remove(self, record: OwnDataset) -> None:
        """Raises Outdated unless it is the present record."""
        with locked_folder(self._folder):
            if self.get(record.id) != record:
                raise Outdated
            self._path(record.id).unlink()

    # Sources

    def source(self, sha256: str) -> Path:
        return self._sources / sha256

    def has_source(self, source: KeptSource) -> bool:
        return self.source(source.sha256).is_file()

    def keep(self, file: NamedFile, origin: Path | None, progress: Progress | None = None) -> KeptSource:
        """Copies the file; a copy that no record names is removed after a while."""
        self._sources.mkdir(mode=0o755, exist_ok=True)
        self._sources.chmod(0o755)
        digest = checked_digest(file, progress)
        kept = self.source(digest)
        if kept.is_file():
            # Marks it as in use.
            os.utime(kept)
        else:
            incoming = self._sources / f".{os.getpid()}-{time.monotonic_ns()}"
            try:
                # The file may have changed since it was hashed: what was copied counts.
                digest = copy_source(file.path, incoming, progress)
                kept = self.source(digest)
                incoming.rename(kept)
            finally:
                incoming.unlink(missing_ok=True)
        quoted = "" if origin is None else quote_from_bytes(os.fsencode(origin.resolve()))
        return KeptSource(
            table=file.table,
            name=file.file,
            sha256=digest,
            bytes=kept.stat().st_size,
            quoted=quoted,
            fetched=file.fetched,
            copied=file.copied,
        )

    def keep_again(
        self, record: OwnDataset, fetched: Mapping[str, NamedFile], progress: Progress | None = None
    ) -> tuple[tuple[KeptSource, ...], tuple[str, ...]]:
        """The sources of the current version from where they were, or as they were `fetched`; and notes about those
        that are gone. Raises InvalidInput where none is left."""
        sources: list[KeptSource] = []
        gone: list[KeptSource] = []
        for source in record.current.sources:
            again, origin = fetched.get(source.table), source.origin
            if again is not None:
                source = self.keep(again, None, progress)
            elif origin is not None and origin.exists():
                source = self.keep(NamedFile(source.table, origin, source.name), origin, progress)
            elif source.fetched is None and source.copied is None:
                gone.append(source)
            sources.append(source)
        if len(gone) == len(sources):
            raise InvalidInput(
                f"no file of {quote(record.id)} is where it was",
                suggestion="Add the new files under the same names.",
                dataset=record.id,
            )
        return tuple(sources), tuple(f"{s.name} is not where it was, and stays as it was." for s in gone)

    def drop_sources(self, released: Iterable[OwnVersion] = (), *, all_of_them: bool = False) -> int:
        """Removes sources that no record names: those of the `released` versions, and old leftovers. Returns the bytes.

        A source that was kept again since its version was made may belong to a dataset that is being added: unless
        `all_of_them` are to go, it becomes a leftover.
        """
        if not self._sources.is_dir():
            return 0
        with locked_folder(self._folder):
            named = {s.sha256 for record in self.values() for v in record.versions for s in v.sources}
            # `at` has whole seconds.
            made = {
                s.sha256: datetime.fromisoformat(v.at).timestamp() + 1.0 for v in released for s in v.sources
            }
            before = time.time() - _LEFTOVER_S
            freed = 0
            for path in self._sources.iterdir():
                last = inf if all_of_them and path.name in made else made.get(path.name, 0.0)
                if path.name not in named and path.lstat().st_mtime < max(last, before):
                    freed += path.lstat().st_size
                    path.unlink()
        return freed

    def bytes(self) -> int:
        """Of all kept sources, and of all versions that were made from them."""
        folders = {version_folder(self._root, v.dataset.version) for r in self.values() for v in r.versions}
        return sum(_size(folder) for folder in (self._sources, *folders))

    # Files

    def _path(self, dataset_id: str) -> Path:
        return self._folder / f"{dataset_id}.json"


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _size(folder: Path) -> int:
    try:
        return sum(entry.stat().st_size for entry in os.scandir(folder) if entry.is_file())
    except FileNotFoundError:
        # It was removed meanwhile.
        return 0


async def repeated(attempt: Callable[[], Awaitable[T]], what: str) -> T:
    """Until no other process has changed the record meanwhile. Raises RunnerBroken when that keeps happening."""
    for _ in range(_ATTEMPTS):
        try:
            return await attempt()
        except Outdated:
            continue
    raise RunnerBroken(f"{what} keeps being changed by another process", suggestion="Try again.")
