"""Installs the programs of npm that tests run: clients, a conformance suite, an identity provider (`make clients`).

Invariant: what is installed is what the lock beside each package.json pins by hash, and no script of a package runs.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scripts import node

TESTS = node.ROOT / "tests"
FOLDERS = (TESTS / "server" / "agui" / "npm", TESTS / "server" / "mcp" / "suite", TESTS / "oidc_provider")
OLDEST_NODE = (22, 0)
"""Of all of them; the web interface is content with an older one."""


def main() -> int:
    try:
        program = node.find_node(OLDEST_NODE)
        for folder in FOLDERS:
            install(program, folder)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"the programs that tests run could not be installed: {node.reason(error)}", file=sys.stderr)
        return 1
    return 0


def install(program: Path, folder: Path) -> None:
    """Brings node_modules to what the lock says, unless it is there already."""
    pins = [folder / "package.json", folder / "package-lock.json"]
    wanted = hashlib.sha256(b"\n".join(pin.read_bytes() for pin in pins)).hexdigest()
    modules = folder / "node_modules"
    if node.made_from(modules) != wanted:
        node.npm(program, folder, *node.INSTALL)
        (modules / node.MADE_FROM).write_text(wanted)


if __name__ == "__main__":
    sys.exit(main())
