"""Inside a container with the engine's default profile: no namespaces to be had, and the walls still stand."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
IMAGE = "sandtable-test-empty:1"
SCRIPT = """
set -e
sandtable() { "$PYTHON" -c 'from sandtable.cli import main; main()' "$@"; }
sandtable doctor --json
sandtable run --dataset support --sql 'SELECT count(*) AS n FROM tickets' --json > /tmp/capsule.json
sandtable verify /tmp/capsule.json --json
"""

pytestmark = pytest.mark.needs("docker")


def docker(*arguments: str, stdin: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["docker", *arguments], input=stdin, capture_output=True, timeout=300, check=False)


def _empty_image() -> bytes:
    """A root with nothing in it but places: what runs there comes from the host, read-only."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name, mode in (("proc", 0o755), ("dev", 0o755), ("sys", 0o755), ("etc", 0o755), ("tmp", 0o1777)):
            folder = tarfile.TarInfo(name)
            folder.type, folder.mode = tarfile.DIRTYPE, mode
            tar.addfile(folder)
        for name in ("bin", "sbin", "lib", "lib64"):
            link = tarfile.TarInfo(name)
            link.type, link.linkname = tarfile.SYMTYPE, f"usr/{name}"
            tar.addfile(link)
    return buffer.getvalue()


@pytest.fixture(scope="module")
def image() -> Iterator[str]:
    made = docker("import", "-", IMAGE, stdin=_empty_image())
    assert made.returncode == 0, made.stderr.decode()
    yield IMAGE
    docker("rmi", "--force", IMAGE)


@pytest.mark.parametrize("user", ["0:0", "12345:12345"], ids=["root", "ordinary user"])
def test_the_sandbox_holds_in_a_default_container(image: str, user: str) -> None:
    places = {"/usr", sys.base_prefix, sys.prefix, str(ROOT)}
    mounts = [part for place in sorted(places) for part in ("--volume", f"{place}:{place}:ro")]
    ran = docker(
        "run", "--rm", "--network", "none", "--user", user, *mounts,
        "--volume", "/etc/ld.so.cache:/etc/ld.so.cache:ro",
        "--env", f"PYTHON={sys.executable}", "--env", "SANDTABLE_HOME=/tmp/home", "--env", "HOME=/tmp",
        image, "/bin/sh", "-c", SCRIPT,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr.decode() + ran.stdout.decode()
    doctor, verified = _documents(ran.stdout.decode())
    assert doctor["ok"] and doctor["attempts"]
    assert not [attempt for attempt in doctor["attempts"] if attempt["escaped"]]
    assert verified["ok"] and verified["complete"]


def _documents(text: str) -> list[dict[str, Any]]:
    decoder, found = json.JSONDecoder(), []
    while text := text.lstrip():
        document, end = decoder.raw_decode(text)
        found.append(document)
        text = text[end:]
    return found
