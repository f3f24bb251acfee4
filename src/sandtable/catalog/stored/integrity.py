"""Whether the files of a version are the published ones: hashed once, then compared by their stamps.

Invariant: `Whole` means that the files had the right digests in the state that its stamps describe. The right digests
are, in this order: those in the version's `digests.json`, if it has this installation's authentication code; those that
this home attested before; those in `digests.json` as it is first found, which are attested from then on.
"""

from __future__ import annotations

import hmac
import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

import structlog

from sandtable.catalog.model import Dataset
from sandtable.catalog.stored.attestations import Attestation, Attestations, Original, boot_id
from sandtable.catalog.stored.source import FileStamp, Progress
from sandtable.catalog.stored.version_files import (
    DIGESTS,
    FOLDER,
    MANIFEST,
    Stamps,
    changed_in_words,
    digests_of,
    recorded_digests,
    require_folder,
    size_of,
    stamps_of,
    version_folder,
)
from sandtable.errors import DataDamaged

_CODE = "mac"
_ATTEMPTS = 4
_LARGE = 256 << 20
_UNSETTLED_S = 2.0

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Whole:
    """The files had the right digests when they had these stamps."""

    version: str
    stamps: Stamps = field(default_factory=dict[str, FileStamp])
    settled: bool = True
    """False if another change might leave the same stamps: only hashing can detect it."""
    copy_id: str = ""
    """Changes after damage: a result belongs to the copy that it was made from."""

    def stamp(self, file: str) -> str:
        """Equal while neither the file nor its folder changes."""
        return repr((*self.stamps[FOLDER], *self.stamps[file])) if file in self.stamps else ""


@dataclass(frozen=True, slots=True)
class Damage:
    """Some file differs from what was published."""

    version: str
    why: str
    stamps: Stamps = field(default_factory=dict[str, FileStamp])
    settled: bool = False


F = TypeVar("F", bound=Whole | Damage)


@dataclass(frozen=True, slots=True)
class OpenData:
    """A dataset whose data may be read, in the state in which they were checked."""

    dataset: Dataset
    whole: Whole


@dataclass(frozen=True, slots=True)
class _Known:
    found: Whole | Damage
    attested: FileStamp | None
    """Stamp of this home's record at that time."""


class Integrity:
    def __init__(self, root: Path, attestations: Attestations | None = None) -> None:
        """Without `attestations`, as where there is no key, only `digests.json` defines the right digests."""
        self._root = root
        self._attestations = attestations
        self._known: dict[str, _Known] = {}

    def look(self, version: str) -> Whole | Damage | None:
        """What is known of the files in their current state, without reading them. None: call `check`."""
        known = self._known.get(version)
        if known is None or not known.found.settled or not self.same(known.found):
            return None
        return known.found if self._attested_at(version) == known.attested else None

    def same(self, found: Whole | Damage) -> bool:
        """Whether the files still have the same stamps."""
        folder = f"{self._root}/versions/{found.version.removeprefix('sha256:')}"
        try:
            return all(FileStamp.of(os.lstat(f"{folder}/{n}")) == stamp for n, stamp in found.stamps.items())
        except OSError:
            return False

    def check(
        self, version: str, progress: Progress | None = None, *, thorough: bool = False
    ) -> Whole | Damage:
        """Hashes the files, unless their stamps are those of the last check; `thorough` always hashes what is on disk.
        Raises NotFound when there is no such folder."""
        folder = version_folder(self._root, version)
        require_folder(folder, version)
        waited = False
        for _ in range(_ATTEMPTS):
            attested = self._attested(version)
            expected = self._expected(folder, version, attested)
            if expected is None:
                return self._damaged(Damage(version, f"{DIGESTS} cannot be read"))
            stamps, trouble = stamps_of(folder, expected)
            settled = all(stamp.settled for stamp in stamps.values())
            if not trouble and not thorough and attested is not None and _holds(attested, stamps):
                return self._remember(_attested_state(attested, stamps))
            if not trouble and not settled and not waited and size_of(stamps) > _LARGE:
                # Waiting is faster than hashing it a second time.
                time.sleep(_UNSETTLED_S)
                waited = True
                continue
            digests = {} if trouble else digests_of(folder, stamps, progress, from_disk=thorough)
            if digests is None or stamps_of(folder, expected) != (stamps, trouble):
                continue
            wrong = [name for name, right in expected.items() if right not in (None, digests.get(name))]
            if not trouble and not wrong:
                return self._attest(Whole(version, stamps, settled), digests, thorough=thorough)
            if self._expected(folder, version, self._attested(version)) != expected:
                # It was rebuilt meanwhile.
                continue
            files = {name: digest for name, digest in expected.items() if digest is not None}
            found = Damage(version, trouble or changed_in_words(wrong, digests), stamps, settled)
            return self._damaged(found, files, wrong)
        return self._damaged(Damage(version, "its files change while they are read"))

    # Records made by publishing

    def digests_json(self, version: str, files: dict[str, str]) -> bytes:
        code = {} if self._attestations is None else {_CODE: self._attestations.code_of(version, files)}
        return json.dumps({**files, **code}, indent=1).encode()

    def published(self, version: str, files: dict[str, str], originals: Mapping[str, Original]) -> None:
        """The version's folder is new: knowledge about an earlier one is discarded."""
        self._known.pop(version, None)
        self._write(Attestation(version=version, files=files, originals=dict(originals)))

    def removed(self, version: str) -> None:
        self._known.pop(version, None)
        if self._attestations is not None:
            self._attestations.remove(version)

    def originals(self, version: str) -> Mapping[str, Original]:
        attested = self._attested(version)
        return attested.originals if attested is not None else {}

    def remember_originals(self, version: str, originals: Mapping[str, Original]) -> None:
        """The files may have moved since the version was made."""
        attested = self._attested(version)
        if attested is not None and attested.originals != originals:
            self._write(attested.model_copy(update={"originals": dict(originals)}))

    # Profiles

    def remember_profile(self, version: str, digest: str | None) -> None:
        attested = self._attested(version)
        if attested is not None and attested.profile != digest:
            self._write(attested.model_copy(update={"profile": digest}))

    def knows_profile(self, version: str, digest: str) -> bool:
        """Whether it is the recorded profile. The first one found here is accepted and recorded."""
        attested = self._attested(version)
        if attested is not None and attested.profile is None:
            self.remember_profile(version, digest)
        return attested is None or attested.profile in (None, digest)

    def checked_at(self, version: str) -> float:
        """When all its files were last hashed; 0 when unknown."""
        attested = self._attested(version)
        return attested.checked_at if attested is not None else 0.0

    # Expected digests, and findings

    def _expected(
        self, folder: Path, version: str, attested: Attestation | None
    ) -> dict[str, str | None] | None:
        """Digest by file, None where any digest is accepted: older stores have no digest of the manifest."""
        files = recorded_digests(folder)
        if files is not None and self._attestations is not None:
            code = files.pop(_CODE, "").encode(errors="replace")
            if hmac.compare_digest(code, self._attestations.code_of(version, files).encode()):
                return dict(files)
        if attested is not None:
            return dict(attested.files)
        if not files:
            return None
        files.pop(_CODE, None)
        return dict(files) if self._attestations is None else {MANIFEST: None, **files}

    def _attest(self, found: Whole, digests: dict[str, str], *, thorough: bool) -> Whole:
        known = self._attested(found.version)
        now = known or Attestation(version=found.version, files=digests)
        stamps = dict(found.stamps) if found.settled else {}
        changes = {"files": digests, "stamps": stamps, "boot": boot_id(), "damage": ""}
        now = now.model_copy(update=changes)
        if thorough or now != known:
            self._write(now.model_copy(update={"checked_at": time.time()}))
        return self._remember(replace(found, copy_id="" if self._attestations is None else now.copy_id))

    def _damaged(
        self, found: Damage, files: Mapping[str, str] | None = None, wrong: Sequence[str] = ()
    ) -> Damage:
        """`files` are the right digests, where known."""
        log.warning("data_damaged", version=found.version, reason=found.why)
        known = self._attested(found.version)
        past = {} if known is None else known.stamps
        silent = [name for name in wrong if name in past and past[name] == found.stamps.get(name)]
        if silent:
            stamps = self._make_visible(found.version, silent, found.stamps)
            found = replace(found, stamps=stamps, settled=False)
        right = files or (known.files if known is not None else {})
        if right:
            stamps = dict(found.stamps) if found.settled else {}
            originals = {} if known is None else known.originals
            self._write(
                Attestation(
                    version=found.version,
                    files=dict(right),
                    stamps=stamps,
                    damage=found.why,
                    originals=originals,
                )
            )
        return self._remember(found)

    def _make_visible(self, version: str, names: Sequence[str], stamps: Stamps) -> dict[str, FileStamp]:
        """Changes the stamp of files whose bytes changed under the old one, so that all processes read them again."""
        folder = version_folder(self._root, version)
        for name in names:
            try:
                found = (folder / name).lstat()
                os.utime(folder / name, ns=(found.st_atime_ns, found.st_mtime_ns), follow_symlinks=False)
            except OSError as error:
                log.warning("damage_not_shown_to_others", version=version, file=name, reason=str(error))
        return stamps_of(folder, stamps)[0]

    def _remember(self, found: F) -> F:
        self._known[found.version] = _Known(found, self._attested_at(found.version))
        return found

    def _attested(self, version: str) -> Attestation | None:
        return None if self._attestations is None else self._attestations.read(version)

    def _attested_at(self, version: str) -> FileStamp | None:
        return None if self._attestations is None else self._attestations.stamp(version)

    def _write(self, attestation: Attestation) -> None:
        if self._attestations is None:
            return
        try:
            self._attestations.write(attestation)
        except OSError as error:
            # The finding is kept in this process; the next one hashes the files again.
            log.warning("attestation_not_kept", version=attestation.version, reason=str(error))


def _holds(attested: Attestation, stamps: Stamps) -> bool:
    return attested.stamps == stamps and attested.boot == boot_id()


def _attested_state(attested: Attestation, stamps: Stamps) -> Whole | Damage:
    if attested.damage:
        return Damage(attested.version, attested.damage, stamps, settled=True)
    return Whole(attested.version, stamps, True, attested.copy_id)


def damaged(version: str, why: str, dataset_id: str = "", *, rebuilding: bool = False) -> DataDamaged:
    """The error for a user: which data, what is wrong with them, and what to do. Contains no path of the host."""
    what = f"the data of dataset `{dataset_id}`" if dataset_id else "the data"
    command = "`sandtable data scrub --repair`"
    return DataDamaged(
        f"{what} (version {version[:19]}…) cannot be used: {why}",
        suggestion="It is being built again from its original: run it again in a moment."
        if rebuilding
        else f"Run {command} where Sandtable runs: it builds the data again from the original, if that is kept.",
        dataset=dataset_id,
        version=version,
    )
