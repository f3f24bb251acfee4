"""What this home knows about the files of each version: their digests, and their stamps when they were last hashed.

<home>/attestations/<64 hex>    an authentication code, and below it the record as JSON

Invariant: a record that was not written with this installation's key is ignored. Records lie outside the data folder,
which may be a volume that others can write to.
"""

from __future__ import annotations

import hmac
import json
import os
import secrets
import time
from functools import cache
from pathlib import Path
from urllib.parse import quote_from_bytes, unquote_to_bytes

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sandtable.catalog.stored.source import FileStamp, read_file, replace_file
from sandtable.private import private_folder

FOLDER = "attestations"


@cache
def boot_id() -> str:
    """Changes each time the machine starts."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        return ""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Original(_Frozen):
    """A source file that became a table."""

    quoted: str
    """Its path, percent-encoded: a path need not be text."""
    sha256: str

    @classmethod
    def of(cls, path: Path, sha256: str) -> Original:
        """Resolves a link: records the file itself."""
        return cls(quoted=quote_from_bytes(os.fsencode(path.resolve())), sha256=sha256)

    @property
    def path(self) -> Path:
        return Path(os.fsdecode(unquote_to_bytes(self.quoted)))


class Attestation(_Frozen):
    version: str
    files: dict[str, str]
    """The sha256 of each file in the version's folder, by name."""
    stamps: dict[str, FileStamp] = Field(default_factory=dict)
    """Of the files, and of the folder as `.`, when their digests were last correct. Empty: they must be hashed."""
    boot: str = Field(default_factory=boot_id)
    """The boot in which that was: a machine that crashed may have changed files and not their stamps."""
    copy_id: str = Field(default_factory=lambda: secrets.token_hex(8))
    """Changes when the files are found damaged or are replaced: earlier results are not reused."""
    checked_at: float = Field(default_factory=time.time)
    """When all files were last hashed, in seconds since 1970."""
    damage: str = ""
    """What was wrong when they were last hashed."""
    originals: dict[str, Original] = Field(default_factory=dict)
    """By table. Empty for datasets of the registry, which names their sources."""
    profile: str | None = None
    """The sha256 of the version's profile."""


class Attestations:
    def __init__(self, folder: Path, key: bytes) -> None:
        """`key` is a secret of this installation. The folder is created with the first record."""
        self._folder = folder
        self._key = key

    def read(self, version: str) -> Attestation | None:
        try:
            code, _, body = read_file(self._path(version)).partition(b"\n")
            if not hmac.compare_digest(code, self._code(b"attestation", body)):
                return None
            found = Attestation.model_validate_json(body)
        except (OSError, ValidationError):
            return None
        return found if found.version == version else None

    def write(self, attestation: Attestation) -> None:
        """Raises OSError."""
        private_folder(self._folder)
        body = attestation.model_dump_json().encode()
        content = self._code(b"attestation", body) + b"\n" + body
        replace_file(self._path(attestation.version), content, 0o600)

    def remove(self, version: str) -> None:
        self._path(version).unlink(missing_ok=True)

    def stamp(self, version: str) -> FileStamp | None:
        """Stamp of the record itself: other processes of this home write it, too."""
        try:
            return FileStamp.of(self._path(version).lstat())
        except OSError:
            return None

    def code_of(self, version: str, files: dict[str, str]) -> str:
        """An authentication code for the digests of a version, which is stored beside its files."""
        subject = json.dumps([version, files], sort_keys=True, separators=(",", ":"))
        return self._code(b"digests", subject.encode()).decode("ascii")

    def _code(self, purpose: bytes, content: bytes) -> bytes:
        return hmac.digest(self._key, purpose + b"\n" + content, "sha256").hex().encode("ascii")

    def _path(self, version: str) -> Path:
        return self._folder / version.removeprefix("sha256:")
