"""Build the stock Agent Chat UI, unmodified: `make chat-ui`, and part of `make serve`.

The template comes from npm as its authors published it (the SHA-512 below); the versions of what it
is built with are in web/stock/package-lock.json.
"""

from __future__ import annotations

import base64
import hashlib
import shutil
import sys
import tarfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scripts import node

TEMPLATE = "create-agent-chat-app@0.1.6"
SHA512 = "FmiAY3/1QHsScsfMRAtQBS9ljKvMDlG0yzgYhYiOgacSzO4cF755zJ4i/xCIpyaG/nnuW0HeAIOZgIgSVrfOEQ=="
MOUNTED_AT = "/chat/"
WHAT = "The stock chat UI"
LOCK = node.ROOT / "web" / "stock" / "package-lock.json"
RECIPE = "1"


def main() -> int:
    return node.attempt(WHAT, "make chat-ui", lambda: node.place(WHAT, "chat-ui", _key(), _built))


def is_current() -> bool:
    target = node.BUILT / "chat-ui"
    return (target / "index.html").is_file() and node.made_from(target) == _key()


def _key() -> str:
    made_from = "\n".join([RECIPE, TEMPLATE, SHA512, MOUNTED_AT, LOCK.read_text()])
    return hashlib.sha256(made_from.encode()).hexdigest()


def _built(scratch: Path) -> Path:
    program = node.find_node()
    app = _template(program, scratch)
    shutil.copyfile(LOCK, app / "package-lock.json")
    print(f"{WHAT} is being built: about a minute, once.", flush=True)
    node.npm(program, app, *node.INSTALL)
    node.run(program, app, "vite/bin/vite.js", "build", f"--base={MOUNTED_AT}", "--logLevel=error")
    return app / "dist"


def _template(program: Path, scratch: Path) -> Path:
    node.npm(program, scratch, "pack", TEMPLATE, "--loglevel=error", "--silent")
    packed = next(scratch.glob("*.tgz"))
    found = base64.b64encode(hashlib.sha512(packed.read_bytes()).digest()).decode()
    if found != SHA512:
        raise node.Broken(f"{TEMPLATE} has another SHA-512 than the one pinned here ({found})")
    with tarfile.open(packed) as archive:
        # Python 3.11 has the filter from its fourth patch on; what is unpacked is pinned by its hash either way.
        safely: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        archive.extractall(scratch, **safely)
    return scratch / "package" / "templates" / "vite"


if __name__ == "__main__":
    sys.exit(main())
