"""Build Sandtable's own web interface from web/app: `make web`, and part of `make serve`.

What it is built with is what web/app/package-lock.json pins, installed in web/app/node_modules.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scripts import node

APP = node.ROOT / "web" / "app"
WHAT = "The web interface"
RECIPE = "1"
# A build does not depend on them, so it need not be made again when they change.
_NOT_BUILT_FROM = (".test.ts", ".test.tsx", ".md")
_OTHER_FOLDERS = frozenset({"node_modules", "dist", "coverage"})


def main() -> int:
    return node.attempt(WHAT, "make web", lambda: node.place(WHAT, "web", key(), _built))


def key() -> str:
    """The hash of every source with its name, of the lock and of the recipe."""
    digest = hashlib.sha256(RECIPE.encode())
    for source in _sources(APP):
        content = hashlib.sha256(source.read_bytes()).hexdigest()
        digest.update(f"\n{source.relative_to(APP).as_posix()} {content}".encode())
    return digest.hexdigest()


def _sources(folder: Path) -> Iterator[Path]:
    for found in sorted(folder.iterdir()):
        if found.name.startswith(".") or found.name in _OTHER_FOLDERS:
            continue
        if found.is_dir():
            yield from _sources(found)
        elif not found.name.endswith(_NOT_BUILT_FROM):
            yield found


def _built(scratch: Path) -> Path:
    print(f"{WHAT} is being built: about a minute, less when only its sources changed.", flush=True)
    program = node.find_node()
    install(program)
    dist = scratch / "dist"
    node.run(program, APP, "vite/bin/vite.js", "build", f"--outDir={dist}", "--logLevel=error")
    return dist


def install(program: Path) -> None:
    """Brings node_modules to what the lock says, unless it is there already."""
    pins = [APP / "package.json", APP / "package-lock.json"]
    wanted = hashlib.sha256(b"\n".join(pin.read_bytes() for pin in pins)).hexdigest()
    modules = APP / "node_modules"
    if node.made_from(modules) != wanted:
        node.npm(program, APP, *node.INSTALL)
        (modules / node.MADE_FROM).write_text(wanted)


if __name__ == "__main__":
    sys.exit(main())
