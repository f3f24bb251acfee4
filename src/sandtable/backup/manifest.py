"""What a backup holds: its files with their digests, signed by the installation's key.

Invariant: a path in a manifest stays inside the folder that is restored, whatever wrote the manifest, and the bytes of
a sealed manifest are the only ones that are read as it.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal, Self

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from sandtable.capsule.keys import SigningKey, keyid_of
from sandtable.errors import InvalidInput

FORMAT = "sandtable-backup/1"
NAME = "manifest.json"
HOME, ROWS = "home", "postgres"
"""Folders in a backup: the files of the home, and the rows of a Postgres database."""
MOST_BYTES = 1 << 28
_LONGEST_PART = 255
_LONGEST = 1000
_PURPOSE = b"sandtable-backup\n"


def _inside(path: str) -> str:
    """Raises ValueError for a path that could lead out of its folder."""
    parts = path.split("/")
    sound = (
        len(parts) > 1
        and parts[0] in (HOME, ROWS)
        and len(path.encode()) <= _LONGEST
        and path.isprintable()
        and "\\" not in path
        and all(part not in ("", ".", "..") and len(part.encode()) <= _LONGEST_PART for part in parts)
    )
    if not sound:
        raise ValueError("a path in a backup is relative and lies in its folder")
    return path


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Entry(_Frozen):
    path: Annotated[str, AfterValidator(_inside)]
    size: int = Field(ge=0)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    private: bool
    """Only its owner may read it (0600); else everybody may (0644), as sandboxes of another user must."""


class LeftOut(_Frozen):
    path: str
    why: str


class Manifest(_Frozen):
    format: Literal["sandtable-backup/1"] = FORMAT
    sandtable: str
    """The version that wrote it."""
    made_at: str
    database: Literal["sqlite", "postgres"]
    schemas: dict[str, int]
    """The version of the tables, by database file or by table of versions."""
    keys: bool
    """Whether private keys are in it."""
    entries: tuple[Entry, ...]
    left_out: tuple[LeftOut, ...] = ()

    @model_validator(mode="after")
    def _one_file_for_each_path(self) -> Self:
        paths = {entry.path for entry in self.entries}
        folders = {
            "/".join(parts[:count])
            for path in paths
            if (parts := path.split("/"))
            for count in range(1, len(parts))
        }
        if len(paths) != len(self.entries) or paths & folders:
            raise ValueError("two files of a backup have one path")
        return self

    @property
    def size(self) -> int:
        return sum(entry.size for entry in self.entries)


def seal(manifest: Manifest, key: SigningKey) -> bytes:
    text = manifest.model_dump_json()
    public = key.private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    return _encoded(text, public.hex(), key.sign(_PURPOSE + text.encode()).hex())


def unseal(sealed: bytes) -> tuple[Manifest, Ed25519PublicKey]:
    """The manifest and the key that signed it. Raises InvalidInput."""
    try:
        outer: Any = json.loads(sealed)
        text, public = outer["manifest"], bytes.fromhex(outer["key"])
        if _encoded(text, outer["key"], outer["signature"]) != sealed:
            raise not_one("its manifest was changed")
        key = Ed25519PublicKey.from_public_bytes(public)
        key.verify(bytes.fromhex(outer["signature"]), _PURPOSE + text.encode())
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise not_one("its manifest cannot be read") from error
    except InvalidSignature:
        raise not_one("the signature does not fit its manifest") from None
    return _read(text), key


def _read(text: str) -> Manifest:
    try:
        return Manifest.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        if first["loc"] == ("format",):
            raise InvalidInput(
                "the backup has a format that this Sandtable does not know",
                suggestion="Restore it with the version of Sandtable that made it, or a newer one.",
            ) from None
        raise not_one(f"its manifest is not valid: {first['msg']}") from None


def _encoded(text: str, public: str, signature: str) -> bytes:
    return json.dumps({"manifest": text, "key": public, "signature": signature}).encode()


def not_one(why: str) -> InvalidInput:
    return InvalidInput(
        f"this is no whole backup: {why}",
        suggestion="Use another copy of it, or another backup. Nothing was restored.",
    )


def short_id(key: Ed25519PublicKey) -> str:
    return keyid_of(key)[:16]
