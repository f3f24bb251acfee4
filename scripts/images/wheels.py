"""The wheels of the lock, for the Python inside an image, fetched outside of it.

Which index they come from is this machine's configuration of pip; nothing of it enters an image. Every wheel is
checked against the hashes of the lock, here and again in the build.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from packaging.markers import Marker

RECIPE = "1"
# glibc promises that what was built for an older version runs on a newer one.
_OLDEST_GLIBC, _NEWEST_GLIBC = 17, 36


def key(lock: Path, python: str, machine: str) -> str:
    text = "\n".join([RECIPE, python, machine, lock.read_text(encoding="utf-8")])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def fetch(lock: Path, python: str, machine: str, target: Path) -> None:
    """`python` is a version such as 3.11; `machine` is x86_64 or aarch64."""
    with tempfile.TemporaryDirectory(prefix="sandtable-lock-") as scratch:
        chosen = Path(scratch) / "lock.txt"
        chosen.write_text("\n".join(applying(lock, python, machine)) + "\n", encoding="utf-8")
        _download(chosen, python, machine, target, "--no-deps", "--require-hashes")


def fetch_with_dependencies(requirements: Path, python: str, machine: str, target: Path) -> None:
    """Of a list without hashes: for what is measured, never for what is shipped."""
    _download(requirements, python, machine, target)


def _download(requirements: Path, python: str, machine: str, target: Path, *flags: str) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".draft-", dir=target.parent) as scratch:
        draft = Path(scratch) / "wheels"
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", *flags]
        options = ["--only-binary", ":all:", *_tags(python, machine), "--dest", draft]
        subprocess.run([*command, *options, "--requirement", requirements], check=True)
        draft.rename(target)


def _tags(python: str, machine: str) -> list[str]:
    compact = python.replace(".", "")
    glibc = [f"manylinux_2_{minor}_{machine}" for minor in range(_NEWEST_GLIBC, _OLDEST_GLIBC - 1, -1)]
    older = ["manylinux2014", "manylinux_2_12", "manylinux2010", "manylinux_2_5", "manylinux1", "linux"]
    platforms = [*glibc, *(f"{name}_{machine}" for name in older), "any"]
    return [
        *("--python-version", python, "--implementation", "cp"),
        *(part for abi in (f"cp{compact}", "abi3", "none") for part in ("--abi", abi)),
        *(part for platform in platforms for part in ("--platform", platform)),
    ]


def applying(lock: Path, python: str, machine: str) -> list[str]:
    """The lock's entries whose markers hold there; pip would ask the Python that it runs in."""
    there = {
        "python_version": python,
        "python_full_version": f"{python}.0",
        "platform_machine": machine,
        "sys_platform": "linux",
        "platform_system": "Linux",
        "os_name": "posix",
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
    }
    text = re.sub(r"^\s*#.*\n", "", lock.read_text(encoding="utf-8"), flags=re.MULTILINE)
    entries = [entry for entry in re.split(r"\n(?=\S)", text.strip()) if entry]
    chosen: list[str] = []
    for entry in entries:
        head, _, hashes = entry.partition(" \\\n")
        name, _, marker = head.partition(" ; ")
        if not marker or Marker(marker).evaluate(there):
            chosen.append(f"{name} \\\n{hashes}")
    return chosen
