"""The last of an image: which Debian packages its files come from, and its bill of materials."""

from __future__ import annotations

import os
from pathlib import Path

from collect import debian, sbom
from collect.tree import Tree


def finish(tree: Tree, name: str, version: str, components: list[sbom.Component]) -> None:
    """Scanners know Debian packages by `status.d`, as in other images without a package manager."""
    owned = debian.owners(tree.real("/"))
    paths = tree.taken | tree.before
    used = sorted({owned[path] for path in paths if path in owned}, key=lambda package: package.name)
    tree.begin("product")
    for package in used:
        tree.write(f"/var/lib/dpkg/status.d/{package.name}", package.stanza + "\n")
    said = debian.release(tree.real("/"))
    release = f"{said['ID']}-{said['VERSION_ID']}"
    listed = [*components, *(sbom.of_debian(package, release) for package in used)]
    tree.write(f"/usr/share/sbom/{name}.cdx.json", sbom.bill(name, version, listed))
    settle(tree.target)


def settle(target: Path) -> None:
    """Times that do not depend on when the image is built."""
    epoch = int(os.environ["SOURCE_DATE_EPOCH"])  # noqa: TID251 (the builder's, not a setting of ours)
    for at, folders, files in os.walk(target, topdown=False):
        for name in (*folders, *files):
            os.utime(Path(at) / name, (epoch, epoch), follow_symlinks=False)
