"""Build the wheel in dist/, with the web interfaces in it: `make wheel`.

The same sources and builds give the same bytes: the files' times are those of the last commit, or SOURCE_DATE_EPOCH.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scripts import build_stock_ui, build_web, node

DIST = node.ROOT / "dist"
_FIRST_ZIP = "315532800"
"""1980-01-01, the earliest time of a file in a zip archive."""


def main() -> int:
    if build_web.main() != 0:
        print("A wheel without the web interface would serve no page.", file=sys.stderr)
        return 1
    if build_stock_ui.main() != 0:
        print("The wheel does not have the stock chat UI.", file=sys.stderr)
    wheel = build(DIST)
    print(f"{wheel.relative_to(node.ROOT)}: {wheel.stat().st_size / 1e6:.1f} MB")
    return 0


def build(folder: Path) -> Path:
    environment = {**os.environ, "SOURCE_DATE_EPOCH": _time()}
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=node.ROOT, env=environment, check=True, capture_output=True)
    return max(folder.glob("sandtable-*.whl"), key=lambda wheel: wheel.stat().st_mtime)


def _time() -> str:
    """Seconds since 1970, as text."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given:
        return given
    asked = subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=node.ROOT, capture_output=True, text=True, check=False
    )
    return asked.stdout.strip() or _FIRST_ZIP


if __name__ == "__main__":
    sys.exit(main())
