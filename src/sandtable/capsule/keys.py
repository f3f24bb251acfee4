"""The signing key of this installation, and the keys it trusts.

Invariant: `<home>/keys/signing.pem` is created once and never replaced; two processes that start together end up with
the same key. Servers with separate homes are given one key as a file. A key's id is the SHA-256 of its 32 raw public
bytes.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import shlex
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from sandtable.errors import InvalidInput
from sandtable.private import create_once, private_folder

TrustedKeys = Mapping[str, Ed25519PublicKey]


@dataclass(frozen=True, slots=True)
class SigningKey:
    private: Ed25519PrivateKey
    keyid: str

    @classmethod
    def of(cls, private: Ed25519PrivateKey) -> SigningKey:
        return cls(private, keyid_of(private.public_key()))

    def sign(self, message: bytes) -> bytes:
        return self.private.sign(message)

    def derive(self, purpose: str) -> bytes:
        """A secret of 32 bytes for another purpose than signing; the key cannot be computed from it."""
        return hmac.digest(self.private.private_bytes_raw(), purpose.encode(), "sha256")


def keyid_of(public: Ed25519PublicKey) -> str:
    return hashlib.sha256(public.public_bytes(Encoding.Raw, PublicFormat.Raw)).hexdigest()


def public_pem(public: Ed25519PublicKey) -> bytes:
    return public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def open_signing_key(home: Path, given: Path | None = None) -> SigningKey:
    """The key in the file `given`; else this home's key, created on first use, its public half beside it for sharing.

    Raises InvalidInput.
    """
    if given is not None:
        return SigningKey.of(_read_private(given, "Give a PEM file with an unencrypted Ed25519 private key."))
    folder = home / "keys"
    try:
        return _open_in(folder)
    except OSError as error:
        raise InvalidInput(
            f"the folder of the signing key, {folder}, cannot be used: {error.strerror or error}",
            suggestion=f"Check that {home} is a folder that may be written and has space left, "
            "or set SANDTABLE_HOME to another.",
        ) from error


def _open_in(folder: Path) -> SigningKey:
    private_folder(folder.parent)
    private_folder(folder)
    path = folder / "signing.pem"
    if not path.exists():
        private = Ed25519PrivateKey.generate()
        pem = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        create_once(path, pem, 0o600)
    key = SigningKey.of(_read_private(path))
    shared = folder / "signing.pub.pem"
    if not shared.exists():
        create_once(shared, public_pem(key.private.public_key()), 0o644)
    return key


def trusted_keys(home: Path, extra: Iterable[Path] = (), own: SigningKey | None = None) -> TrustedKeys:
    """`own`, the home's key, `<home>/keys/trusted/*.pem`, and the files named in `extra`, by key id."""
    folder = home / "keys"
    paths = [*sorted((folder / "trusted").glob("*.pem")), *extra]
    found = {keyid_of(key): key for key in map(read_public, paths)}
    if (folder / "signing.pem").exists():
        homes = _read_private(folder / "signing.pem").public_key()
        found[keyid_of(homes)] = homes
    if own is not None:
        found[own.keyid] = own.private.public_key()
    return found


def read_public(path: Path) -> Ed25519PublicKey:
    try:
        key = load_pem_public_key(path.read_bytes())
    except (OSError, ValueError, UnsupportedAlgorithm) as error:
        raise InvalidInput(
            f"{path} is not a readable public key: {error}",
            suggestion="Give a PEM file with an Ed25519 public key, such as a signer's signing.pub.pem.",
        ) from error
    if not isinstance(key, Ed25519PublicKey):
        raise InvalidInput(f"{path} is not an Ed25519 key", suggestion="Capsules are signed with Ed25519.")
    return key


_RESTORE = (
    "Restore it from a backup, or move it aside: a new one is made, and capsules signed "
    "with the old one verify only when its public key is put in keys/trusted."
)


def _read_private(path: Path, suggestion: str = _RESTORE) -> Ed25519PrivateKey:
    try:
        key = load_pem_private_key(_read_secret(path), password=None)
    except (OSError, ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise InvalidInput(
            f"the signing key {path} cannot be read: {error}",
            suggestion=suggestion,
        ) from error
    if not isinstance(key, Ed25519PrivateKey):
        raise InvalidInput(f"the signing key {path} is not an Ed25519 key", suggestion=suggestion)
    return key


def _read_secret(path: Path) -> bytes:
    """Raises InvalidInput when another user could have read it: then others could sign with it."""
    with path.open("rb") as file:
        found = os.fstat(file.fileno())
        # A secret that a cluster mounts belongs to root, and the server reads it by its group.
        mounted = found.st_uid == 0 and os.geteuid() != 0
        if found.st_mode & (0o037 if mounted else 0o077):
            raise InvalidInput(
                f"the signing key {path} can be used by other users: its mode is "
                f"{stat.S_IMODE(found.st_mode):04o}",
                suggestion=f"If they are trusted, run `chmod 600 {shlex.quote(str(path))}`; if not, move the key "
                "aside and let a new one be made.",
            )
        return file.read()
