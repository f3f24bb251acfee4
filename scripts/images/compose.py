"""Compose, for the tests: the machine's own when it is version 2 or newer, else one built from the Go module proxy.

What it is built from is pinned by tests/docker/compose/go.sum; the program is kept in the user's cache under the hash
of that.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path

from scripts import node

MODULE = node.ROOT / "tests" / "docker" / "compose"
PACKAGE = "github.com/docker/compose/v2/cmd"
RECIPE = "1"


def find() -> list[str] | None:
    """The command, if there is one already."""
    candidates = (["docker", "compose"], ["docker-compose"], [str(_kept())])
    return next((command for command in candidates if _is_new(command)), None)


def command() -> list[str]:
    """Builds it when there is none: minutes, once."""
    return find() or _build()


def _build() -> list[str]:
    go = shutil.which("go") or "/usr/local/go/bin/go"
    kept = _kept()
    kept.parent.mkdir(parents=True, exist_ok=True)
    draft = kept.with_suffix(".draft")
    print("Compose is being built: some minutes, once.", flush=True)
    flags = ["-mod=readonly", "-trimpath", "-buildvcs=false", "-ldflags=-s -w"]
    environment = {**os.environ, "CGO_ENABLED": "0"}
    subprocess.run([go, "build", *flags, "-o", draft, PACKAGE], cwd=MODULE, env=environment, check=True)
    draft.rename(kept)
    return [str(kept)]


def _kept() -> Path:
    pins = b"\n".join((MODULE / name).read_bytes() for name in ("go.mod", "go.sum"))
    key = hashlib.sha256(RECIPE.encode() + pins).hexdigest()[:16]
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "sandtable" / "compose" / key


def _is_new(command: list[str]) -> bool:
    """Version 1 is another program, and does not read today's files."""
    try:
        said = subprocess.run([*command, "version"], capture_output=True, text=True, check=False)
    except OSError:
        return False
    return said.returncode == 0 and not re.search(r"version v?1\.", said.stdout)
