"""A root file system of Debian packages, for machines without an image registry.

Packages come from the sources that apt trusts on this machine, verified by apt, into folders of our own: nothing is
installed, no maintainer script runs, and no root is needed. The tar holds a dpkg database of what is in it.
"""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

RECIPE = "1"
# Long before any build: files keep their own, older times.
LATEST = 1735689600


def architecture() -> str:
    return _say("dpkg", "--print-architecture").strip()


def key(packages: Sequence[str]) -> str:
    release = Path("/etc/os-release").read_text(encoding="utf-8")
    text = "\n".join([RECIPE, architecture(), release, *packages])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def write_root(packages: Sequence[str], target: Path) -> None:
    """The packages and all they depend on, as a tar."""
    with tempfile.TemporaryDirectory(prefix="sandtable-root-") as scratch:
        root = Path(scratch) / "root"
        archives = _download(packages, Path(scratch) / "apt")
        stanzas: list[str] = []
        for archive in archives:
            subprocess.run(["dpkg-deb", "--extract", archive, root], check=True)
            stanzas.append(_register(archive, root))
        (root / "var/lib/dpkg/status").write_text("\n\n".join(stanzas) + "\n", encoding="utf-8")
        draft = target.with_suffix(".draft")
        with tarfile.open(draft, "w") as tar:
            for path in sorted(root.rglob("*")):
                tar.add(path, path.relative_to(root).as_posix(), recursive=False, filter=_plain)
        draft.rename(target)


def _download(packages: Sequence[str], place: Path) -> list[Path]:
    """As if nothing were installed here."""
    for folder in ("lists/partial", "archives/partial"):
        (place / folder).mkdir(parents=True)
    (place / "status").touch()
    options = [
        f"Dir::State::lists={place}/lists",
        f"Dir::State::status={place}/status",
        f"Dir::Cache::archives={place}/archives",
        f"Dir::Cache::pkgcache={place}/pkgcache.bin",
        f"Dir::Cache::srcpkgcache={place}/srcpkgcache.bin",
        "APT::Sandbox::User=",
        "Acquire::Languages=none",
        "APT::Install-Recommends=false",
        "Debug::NoLocking=1",
    ]
    apt = ["apt-get", "--quiet=2", "--yes", *(part for option in options for part in ("--option", option))]
    subprocess.run([*apt, "update"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([*apt, "--download-only", "install", *packages], check=True, stdout=subprocess.DEVNULL)
    return sorted((place / "archives").glob("*.deb"))


def _register(archive: Path, root: Path) -> str:
    """Writes the package's list of files; returns its entry of the database."""
    control = _say("dpkg-deb", "--field", str(archive)).rstrip()
    name = _say("dpkg-deb", "--field", str(archive), "Package").strip()
    info = root / "var/lib/dpkg/info"
    info.mkdir(parents=True, exist_ok=True)
    (info / f"{name}.list").write_text("".join(f"{path}\n" for path in _members(archive)), encoding="utf-8")
    first, _, rest = control.partition("\n")
    return f"{first}\nStatus: install ok unpacked\n{rest}"


def _members(archive: Path) -> Iterator[str]:
    content = subprocess.run(["dpkg-deb", "--fsys-tarfile", archive], check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(content)) as tar:
        for name in sorted(tar.getnames()):
            if path := name.removeprefix(".").removeprefix("/"):
                yield f"/{path}"


def _plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    entry.mtime = min(int(entry.mtime), LATEST)
    return entry


def _say(*command: str) -> str:
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
