"""`python -m collect.chat TARGET`: nginx, of the root file system in /nginx, and the stock chat interface."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

from collect import sbom
from collect.ending import finish
from collect.python import library_folders
from collect.tree import Tree

HERE = Path(__file__).resolve().parents[1]
PAGES = HERE / "chat-ui"
_USER = 65532
_CONFIGURATION = {
    "/etc/passwd": f"root:x:0:0:root:/:/nonexistent\nnginx:x:{_USER}:{_USER}::/:/nonexistent\n",
    "/etc/group": f"root:x:0:\nnginx:x:{_USER}:\n",
    "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
}


def main(target: Path) -> None:
    tree = Tree(Path("/nginx"), target, library_folders())
    tree.begin("nginx")
    for path in ("/usr/sbin/nginx", "/etc/nginx/mime.types", "/etc/os-release"):
        tree.take(path)
    for path, text in _CONFIGURATION.items():
        tree.write(path, text)
    tree.folder("tmp", 0o1777)
    tree.begin("product")
    for part in sorted((HERE / "nginx").glob("*.conf")):
        tree.place(part, f"/etc/nginx/{part.name}")
    for page in sorted(path for path in PAGES.rglob("*") if path.is_file()):
        tree.place(page, f"/srv/chat/{page.relative_to(PAGES).as_posix()}")
    version = tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    finish(tree, "sandtable-chat", version, sbom.of_npm(HERE / "web/stock/package-lock.json"))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
