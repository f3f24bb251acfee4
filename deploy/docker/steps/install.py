"""In the build: install the lock, or Sandtable itself, with what lies beside this program.

Where `wheels/` holds wheels, only they are used, and no network is asked for. pip is the base's own or, where the
base has none, the one among the wheels.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
WHEELS = HERE / "wheels"
INSTALL = ("install", "--no-cache-dir", "--no-compile", "--no-deps", "--disable-pip-version-check", "--quiet")
_NOT_COMPILED = {"__pycache__", "test", "idlelib", "lib2to3", "tkinter", "ensurepip", "distutils"}


def main(what: str) -> None:
    offline = any(WHEELS.glob("*.whl"))
    given = ["--no-index", "--find-links", str(WHEELS)] if offline else []
    packages, library = (Path(sysconfig.get_path(name)) for name in ("purelib", "stdlib"))
    before = set(packages.glob("*"))
    if what == "lock":
        locked = HERE / "runtime.lock.txt"
        pip(*given, "--require-hashes", "--only-binary", ":all:", "--requirement", str(locked))
        compile_all(set(library.iterdir()) - {packages})
    else:
        pip("--no-index", "--no-build-isolation", str(HERE))
    compile_all(set(packages.glob("*")) - before)


def compile_all(places: set[Path]) -> None:
    """A process of its own for each folder: a compiled file depends on what its process compiled before."""
    modules = sorted(path for path in places if path.suffix == ".py")
    groups = [
        modules,
        *([path] for path in sorted(places) if path.is_dir() and path.name not in _NOT_COMPILED),
    ]
    flags = ("-q", "-q", "--invalidation-mode", "unchecked-hash", "-x", "/tests/")

    def compile_group(group: list[Path]) -> None:
        # A file that cannot be compiled, such as a template, is loaded by nobody.
        subprocess.run([sys.executable, "-m", "compileall", *flags, *map(str, group)], check=False)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(compile_group, filter(None, groups)))


def pip(*arguments: str) -> None:
    program = ["-m", "pip"]
    if importlib.util.find_spec("pip") is None:
        program = [f"{next(WHEELS.glob('pip-*.whl'))}/pip"]
    # The base is ours and nobody else's: there is no other package manager to disturb.
    flags = ("--break-system-packages", "--root-user-action=ignore")
    subprocess.run([sys.executable, *program, *INSTALL, *flags, *arguments], check=True, cwd=HERE)


if __name__ == "__main__":
    main(sys.argv[1])
