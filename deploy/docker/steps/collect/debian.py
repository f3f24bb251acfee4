"""Which Debian packages own the files of a root file system, by its dpkg database."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class DebianPackage:
    name: str
    version: str
    architecture: str
    stanza: str


def owners(root: Path) -> dict[str, DebianPackage]:
    """File → package. A file is known by its path with and without /usr: Debian moves the one to the other."""
    database = root / "var/lib/dpkg"
    found: dict[str, DebianPackage] = {}
    for package in _packages(database / "status"):
        for listing in (f"{package.name}.list", f"{package.name}:{package.architecture}.list"):
            path = database / "info" / listing
            for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else ():
                if not (root / line.lstrip("/")).is_dir():
                    found[line] = found[_other(line)] = package
    return found


def release(root: Path) -> dict[str, str]:
    """What `os-release` says."""
    text = (root / "usr/lib/os-release").read_text(encoding="utf-8")
    pairs = (line.partition("=") for line in text.splitlines() if "=" in line)
    return {name: value.strip('"') for name, _, value in pairs}


def _packages(status: Path) -> list[DebianPackage]:
    if not status.is_file():
        return []
    packages: list[DebianPackage] = []
    for stanza in status.read_text(encoding="utf-8").split("\n\n"):
        fields = dict(line.split(": ", 1) for line in stanza.splitlines() if ": " in line and line[0] != " ")
        if "Package" in fields and "Version" in fields:
            packages.append(
                DebianPackage(fields["Package"], fields["Version"], fields["Architecture"], stanza.strip())
            )
    return packages


def _other(path: str) -> str:
    return path.removeprefix("/usr") if path.startswith("/usr/") else f"/usr{path}"
