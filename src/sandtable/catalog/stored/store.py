"""Converted data on disk, addressed by version.

    incoming/<id>/<file>            copies of source files, while they are converted
    staging/<id>/                   where a sandboxed conversion writes
    versions/<64 hex>/<table>.parquet, dataset.json, digests.json
    by-source/<64 hex>              which version a set of source files became
    profiles/<64 hex>.json          what a version's columns hold
    datasets/, sources/             the datasets that people added: see `catalog.own.records`
    removals/<64 hex>.json          when and by which rule a version of such a dataset was removed

Invariant: a folder under `versions` is complete and never changed here; it appears, and is replaced when it was
found damaged (`integrity`), by one rename.
Modes do not depend on the umask: a sandbox may run as another user and must read what it is given.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import secrets
import shutil
import stat
import time
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from sandtable.catalog.model import Dataset
from sandtable.catalog.profile import Profile
from sandtable.catalog.stored.attestations import Attestations, Original
from sandtable.catalog.stored.conversions import Conversion
from sandtable.catalog.stored.integrity import Damage, Integrity, Whole, damaged
from sandtable.catalog.stored.removals import Removal, Removals
from sandtable.catalog.stored.source import (
    Progress,
    copy_source,
    digest_source,
    read_file,
    replace_file,
    write_file,
)
from sandtable.catalog.stored.version_files import DIGESTS, MANIFEST, not_in_store, version_folder
from sandtable.catalog.version import dataset_version
from sandtable.errors import DataDamaged, NotFound, RunnerBroken
from sandtable.private import private_folder
from sandtable.quoting import quote

BAIT = "bait.parquet"
"""In the folder that a self-test leaves among the versions, as a target for its escape attempts."""
_LEFTOVER_SECONDS = 3600.0
_IN_THE_WAY = (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR)
_PROFILE_FORMAT = 1
"""Increment it when profiles are made differently: stored ones are then made again."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """The two folders of one ingestion, relative to the store's root."""

    id: str

    @property
    def incoming(self) -> str:
        return f"incoming/{self.id}"

    @property
    def staging(self) -> str:
        return f"staging/{self.id}"


class DataStore:
    def __init__(self, root: Path, attestations: Attestations | None = None) -> None:
        """`root` is `<home>/data`; both are created when missing, the home for its owner only. `attestations` are the
        home's records of its files."""
        self.root = root
        self.integrity = Integrity(root, attestations)
        self._removals = Removals(root)
        with disk_trouble(root):
            private_folder(root.parent)
            root.mkdir(exist_ok=True)
            if root.stat().st_uid == os.geteuid():
                # If a volume was mounted there, its owner decides who may read it.
                _make_dir(root, 0o755)
            for name in ("incoming", "versions", "by-source", "profiles"):
                _make_dir(root / name, 0o755)
            _make_dir(root / "staging", 0o711)

    # Ingestion

    def open_workspace(self) -> Workspace:
        work = Workspace(secrets.token_hex(8))
        _make_dir(self.root / work.incoming, 0o755)
        # The parent cannot be listed, and the name cannot be guessed: only a job that is given the name can find it.
        _make_dir(self.root / work.staging, 0o777)
        return work

    def stage(
        self, work: Workspace, source: Path, name: str, progress: Progress | None = None
    ) -> tuple[str, str]:
        """Copy a source file in; returns its path relative to the root and its sha256."""
        relative = f"{work.incoming}/{name}"
        return relative, copy_source(source, self.root / relative, progress)

    def publish(
        self,
        work: Workspace,
        dataset: Dataset,
        outputs: Mapping[str, str],
        originals: Mapping[str, Original] | None = None,
        *,
        replace: bool = False,
    ) -> Path:
        """Make the workspace's converted tables (table → file in staging) the dataset's version.

        `originals` are their source files, where these may be found again. `replace` replaces an existing version,
        which was found damaged.
        """
        target = self.path(dataset.version)
        if not replace and self.has(dataset.version):
            return target
        building = self.root / "versions" / f".{work.id}"
        _make_dir(building, 0o755)
        try:
            for table in dataset.tables:
                _take(self.root / work.staging, outputs[table.name], building / parquet_name(table.name))
            write_file(building / MANIFEST, dataset.model_dump_json(indent=1).encode("utf-8"))
            digests = _digests(building, dataset)
            write_file(building / DIGESTS, self.integrity.digests_json(dataset.version, digests))
            _sync(building)
            if self._move_in(building, target, dataset.version, replace=replace):
                self.drop_profile(dataset.version)
                self.integrity.published(dataset.version, digests, originals or {})
                self._removals.forget(dataset.version)
        finally:
            _discard(building)
        return target

    def _move_in(self, building: Path, target: Path, version: str, *, replace: bool) -> bool:
        """False when another process has published the same version meanwhile."""
        for _ in range(2):
            try:
                building.rename(target)
            except OSError as e:
                if e.errno not in _IN_THE_WAY:
                    raise
                if not replace and self.has(version):
                    return False
                # The existing folder has changed or lost files since it was published: move it away.
                with contextlib.suppress(FileNotFoundError):
                    target.rename(self.root / "incoming" / f"broken-{secrets.token_hex(8)}")
            else:
                _sync(target.parent)
                return True
        raise RunnerBroken(f"could not publish {version}: its folder keeps being replaced")

    def close_workspace(self, work: Workspace) -> None:
        _discard(self.root / work.incoming)
        _discard(self.root / work.staging)

    # Versions

    def path(self, version: str) -> Path:
        return version_folder(self.root, version)

    def versions(self) -> list[str]:
        """All versions in the store, whole or not."""
        folders = sorted((self.root / "versions").glob("[0-9a-f]" * 64))
        return [f"sha256:{folder.name}" for folder in folders if not (folder / BAIT).exists()]

    def has(self, version: str) -> bool:
        """Whether it is there with all its files; `integrity` checks whether they are the right ones."""
        try:
            self.load(version)
        except (NotFound, DataDamaged):
            return False
        return True

    def load(self, version: str) -> Dataset:
        """The dataset as it was ingested. Raises NotFound and DataDamaged."""
        dataset = self.manifest(version)
        folder = self.path(version)
        missing = [t.name for t in dataset.tables if not (folder / parquet_name(t.name)).is_file()]
        if missing:
            raise damaged(version, f"the files of {', '.join(missing)} are missing")
        return dataset

    def manifest(self, version: str) -> Dataset:
        """The dataset as it was ingested, whether or not its files are there. Raises NotFound and DataDamaged."""
        try:
            dataset = Dataset.model_validate_json(read_file(self.path(version) / MANIFEST))
        except (FileNotFoundError, NotADirectoryError) as e:
            raise self._removals.error(version) or not_in_store(version) from e
        except OSError as e:
            raise damaged(version, f"{MANIFEST} cannot be read: {e.strerror or e}") from e
        except ValidationError as e:
            raise damaged(version, f"{MANIFEST} is not a description of a dataset") from e
        if dataset.version != version or dataset_version(dataset.tables) != version:
            raise damaged(version, f"{MANIFEST} describes other data")
        return dataset

    def check(
        self, version: str, progress: Progress | None = None, *, thorough: bool = False
    ) -> Whole | Damage:
        """As `Integrity.check`; the profile of damaged files is removed with them."""
        found = self.integrity.check(version, progress, thorough=thorough)
        if isinstance(found, Damage):
            self.drop_profile(version)
        return found

    def rehash(self, version: str) -> str:
        """The version computed again, after every file was verified. Raises DataDamaged."""
        found = self.check(version, thorough=True)
        if isinstance(found, Damage):
            raise damaged(version, found.why)
        return dataset_version(self.load(version).tables)

    def remove(self, version: str, removal: Removal | None = None) -> None:
        """The version with all that is known of it, except the `removal`. Its source files become the same version
        again."""
        if removal is not None:
            self._removals.write(version, removal)
        self.drop_profile(version)
        with contextlib.suppress(FileNotFoundError):
            gone = self.root / "incoming" / f"removed-{secrets.token_hex(8)}"
            self.path(version).rename(gone)
            _discard(gone)
        self.integrity.removed(version)

    # Index of source files

    def remember(self, source_key: str, conversion: Conversion) -> None:
        replace_file(self.root / "by-source" / source_key, conversion.model_dump_json().encode())

    def recall(self, source_key: str) -> tuple[Dataset, Conversion] | None:
        """What these source files became before, if the version is still there."""
        try:
            conversion = Conversion.model_validate_json(read_file(self.root / "by-source" / source_key))
            return self.load(conversion.version), conversion
        except (OSError, ValidationError, NotFound, DataDamaged):
            # A lost or damaged index entry costs one conversion, which writes a new one.
            return None

    # Profiles

    def keep_profile(self, profile: Profile) -> None:
        body = f'{{"format": {_PROFILE_FORMAT}, "profile": {profile.model_dump_json()}}}'.encode()
        replace_file(self._profile_path(profile.version), body)
        self.integrity.remember_profile(profile.version, hashlib.sha256(body).hexdigest())

    def profile(self, version: str) -> Profile | None:
        """The stored profile. None when it is lost, changed or of another format: it can be made again."""
        try:
            body = read_file(self._profile_path(version))
            kept = json.loads(body)
            profile = Profile.model_validate(kept["profile"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None
        if kept["format"] != _PROFILE_FORMAT or profile.version != version:
            return None
        return profile if self.integrity.knows_profile(version, hashlib.sha256(body).hexdigest()) else None

    def drop_profile(self, version: str) -> None:
        """It was made from data that are no longer used."""
        self._profile_path(version).unlink(missing_ok=True)
        self.integrity.remember_profile(version, None)

    def _profile_path(self, version: str) -> Path:
        return self.root / "profiles" / f"{self.path(version).name}.json"

    def clean(self, now: float | None = None) -> int:
        """Remove leftovers of ingestions that crashed more than an hour ago; returns how many were removed."""
        before = (time.time() if now is None else now) - _LEFTOVER_SECONDS
        incoming, staging = self.root / "incoming", self.root / "staging"
        ids = {path.name for folder in (incoming, staging) for path in folder.iterdir()}
        leftovers = [(incoming / name, staging / name) for name in sorted(ids)]
        leftovers += [
            (p,)
            for name in ("versions", "by-source", "profiles", "datasets", "sources")
            for p in (self.root / name).glob(".*")
        ]
        removed = 0
        for paths in leftovers:
            if max(_last_change(path) for path in paths) < before:
                for path in paths:
                    _discard(path)
                removed += 1
        return removed


@contextlib.contextmanager
def disk_trouble(root: Path) -> Generator[None, None, None]:
    """Turns OSError (disk full, read-only, no permission) into RunnerBroken with a suggestion."""
    try:
        yield
    except OSError as e:
        raise RunnerBroken(
            f"the data folder {root} cannot be used: {e.strerror or e}",
            suggestion=f"Check that {root.parent} is a folder that may be written and has space left, "
            "or set SANDTABLE_HOME to another.",
        ) from e


def parquet_name(table: str) -> str:
    return f"{table}.parquet"


def _digests(folder: Path, dataset: Dataset) -> dict[str, str]:
    names = [*(parquet_name(table.name) for table in dataset.tables), MANIFEST]
    return {name: digest_source(folder / name) for name in names}


def _make_dir(path: Path, mode: int) -> None:
    path.mkdir(parents=True, exist_ok=True)
    if stat.S_IMODE(path.stat().st_mode) != mode:
        path.chmod(mode)


def _take(staging: Path, name: str, target: Path) -> None:
    """Move one output of a job here as a file that only we can change.

    The job was untrusted: its output may be a link, or a file owned by the sandbox's user, who could write to it later.
    Such a file is copied; ours is renamed.
    """
    if name in ("", ".", "..") or "/" in name or "\0" in name:
        raise RunnerBroken(f"the conversion named {quote(name)} as its output, which is no file name")
    path = staging / name
    try:
        found = path.lstat()
    except FileNotFoundError as e:
        raise RunnerBroken(f"the conversion reported {name} but did not write it") from e
    if not stat.S_ISREG(found.st_mode):
        raise RunnerBroken(f"the conversion's output {name} is not a regular file")
    if found.st_uid == os.geteuid() and found.st_nlink == 1:
        path.chmod(0o644)
        _sync(path)
        path.rename(target)
    else:
        copy_source(path, target, follow=False)


def _discard(path: Path) -> None:
    # What cannot be removed now (a folder that the sandbox's user made) is retried by `clean`.
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _last_change(path: Path) -> float:
    """A folder is as new as the newest file in it: a long conversion in progress is not a leftover."""
    newest = 0.0
    # An ingestion may end, and remove its folder, meanwhile.
    with contextlib.suppress(FileNotFoundError):
        newest = path.lstat().st_mtime
        for entry in path.rglob("*"):
            newest = max(newest, entry.lstat().st_mtime)
    return newest


def _sync(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
