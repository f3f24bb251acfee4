"""Install locked packages into this environment: with uv, which is several times faster, or else with pip.

    python scripts/install.py [--compile] requirements/runtime.lock.txt …

uv is the machine's own, or the one that the lock pins, which pip fetches once into the user's cache. Either way every
file is checked against the lock's hashes, and the index is the one that pip is configured to use. Run by `make` before
anything is installed: only the standard library is imported.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
UV_LOCK = ROOT / "requirements" / "dev.lock.txt"
_OLDEST_UV = (0, 9)
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
_LOCKED = ["--require-hashes", "--only-binary", ":all:"]


def main(arguments: Sequence[str]) -> int:
    compiled = "--compile" in arguments
    locks = [Path(each) for each in arguments if each != "--compile"]
    if not locks:
        print(__doc__, file=sys.stderr)
        return 2
    install(locks, compiled=compiled)
    return 0


def install(locks: Sequence[Path], *, compiled: bool = False) -> None:
    """`compiled`: also to bytecode, for many starts and for users who may not write there. pip always does.

    Raises CalledProcessError.
    """
    files = [part for lock in locks for part in ("--requirement", str(lock))]
    uv = find_uv()
    compiling = ["--compile-bytecode"] if compiled else []
    if uv is None or not _with_uv(uv, [*_LOCKED, *compiling, *files]):
        subprocess.run([*PIP, "install", *_LOCKED, *files], check=True)


def _with_uv(uv: Path, arguments: list[str]) -> bool:
    """False where uv could not do it: pip then tries, and says what is wrong."""
    options, environment = uv_settings(pip_settings())
    command = [str(uv), "pip", "install", "--quiet", "--python", sys.executable, *options, *arguments]
    said = ""
    # Without a network, what is in the cache may be all that is needed.
    for more in ([], ["--offline"]):
        done = subprocess.run(
            [*command, *more], env={**os.environ, **environment}, check=False, capture_output=True, text=True
        )
        if done.returncode == 0:
            return True
        said = said or _last_line(done.stderr)
    print(f"uv could not install the packages; pip is used. {said}", file=sys.stderr)
    return False


def find_uv() -> Path | None:
    """None where there is none: pip does the same, and takes longer."""
    if os.environ.get("SANDTABLE_INSTALLER") == "pip":
        return None
    own = shutil.which("uv")
    if own and _version(Path(own)) >= _OLDEST_UV:
        return Path(own)
    pins = pinned("uv", UV_LOCK)
    version = pins.split("==", 1)[1].split(maxsplit=1)[0]
    kept = _cache() / "uv" / version
    if not (kept / "bin" / "uv").is_file():
        try:
            _fetch_uv(pins, kept)
        except (OSError, subprocess.CalledProcessError):
            print("uv could not be fetched; pip is used, which takes longer.", file=sys.stderr)
            return None
    return kept / "bin" / "uv"


def _fetch_uv(pins: str, there: Path) -> None:
    """Whole or not at all: another checkout may do the same at the same moment."""
    there.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".draft-", dir=there.parent) as scratch:
        lock, draft = Path(scratch) / "lock.txt", Path(scratch) / "uv"
        lock.write_text(pins)
        fetch = [*PIP, "install", *_LOCKED, "--no-deps", "--target", str(draft), "--requirement", str(lock)]
        subprocess.run(fetch, check=True)
        try:
            draft.rename(there)
        except OSError:
            if not (there / "bin" / "uv").is_file():
                raise


def pinned(package: str, lock: Path) -> str:
    """The lock's lines of one package: its version and the hashes of its files."""
    text = lock.read_text(encoding="utf-8")
    found = re.search(rf"^{re.escape(package)}==.*\n(?:    --hash.*\n)+", text, flags=re.MULTILINE)
    if found is None:
        raise ValueError(f"{lock} does not pin {package}")
    return found[0]


def pip_settings() -> dict[str, str]:
    """What pip is configured to use, by its environment and its files, as pip itself reads them."""
    # With --quiet it would print nothing.
    listing = [sys.executable, "-m", "pip", "--disable-pip-version-check", "config", "list"]
    asked = subprocess.run(listing, check=True, capture_output=True, text=True)
    # Later ones take precedence: of a command over those for all, of the environment over files.
    order = {"global": 0, "install": 1, ":env:": 2}
    found: list[tuple[int, str, str]] = []
    for line in asked.stdout.splitlines():
        key, _, value = line.partition("=")
        section, _, name = key.rpartition(".")
        if section in order:
            found.append((order[section], name.replace("_", "-"), str(ast.literal_eval(value))))
    return {name: value for _, name, value in sorted(found)}


def uv_settings(pip: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
    """uv's options and environment for settings of pip."""
    options: list[str] = []
    if index := pip.get("index-url"):
        options += ["--default-index", index]
    for extra in pip.get("extra-index-url", "").split():
        options += ["--index", extra]
    if pip.get("extra-index-url"):
        # As pip does. A package from the wrong index would not have the lock's hash.
        options += ["--index-strategy", "unsafe-best-match"]
    for place in pip.get("find-links", "").split():
        options += ["--find-links", place]
    if pip.get("no-index", "").lower() in ("1", "true", "yes", "on"):
        options.append("--no-index")
    for host in pip.get("trusted-host", "").split():
        options += ["--allow-insecure-host", host]
    environment = {"UV_NO_CONFIG": "1", "UV_NO_PROGRESS": "1"}
    if certificates := pip.get("cert"):
        environment["SSL_CERT_FILE"] = certificates
    else:
        environment["UV_SYSTEM_CERTS"] = "1"
    if timeout := pip.get("default-timeout") or pip.get("timeout"):
        environment["UV_HTTP_TIMEOUT"] = timeout
    if proxy := pip.get("proxy"):
        environment |= {"HTTPS_PROXY": proxy, "HTTP_PROXY": proxy}
    return options, environment


def _version(uv: Path) -> tuple[int, int]:
    said = subprocess.run([uv, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.match(r"uv (\d+)\.(\d+)", said)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "sandtable"


def _last_line(text: str) -> str:
    return text.strip().splitlines()[-1] if text.strip() else ""


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)
