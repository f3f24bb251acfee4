"""The engine under test, and what its images hold."""

from __future__ import annotations

import json
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HARDENED = (
    *("--network", "none", "--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"),
    *("--memory", "1g", "--pids-limit", "64"),
)


def docker(
    *arguments: str, stdin: bytes | None = None, ok: bool = True
) -> subprocess.CompletedProcess[bytes]:
    done = subprocess.run(["docker", *arguments], input=stdin, capture_output=True, timeout=300, check=False)
    if ok:
        assert done.returncode == 0, done.stderr.decode(errors="replace")
    return done


def inspect(image: str) -> dict[str, Any]:
    return json.loads(docker("image", "inspect", image).stdout)[0]


@contextmanager
def files_of(image: str) -> Iterator[tarfile.TarFile]:
    """Everything in an image, as its containers see it."""
    container = docker("create", "--network", "none", image, "unused").stdout.decode().strip()
    try:
        with tempfile.TemporaryDirectory() as folder:
            whole = Path(folder) / "image.tar"
            docker("export", "--output", str(whole), container)
            with tarfile.open(whole) as tar:
                yield tar
    finally:
        docker("rm", "--force", "--volumes", container)


def read(tar: tarfile.TarFile, name: str) -> bytes:
    content = tar.extractfile(name)
    assert content is not None, name
    return content.read()
