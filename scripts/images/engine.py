"""The Docker engine that DOCKER_HOST names, through its command."""

from __future__ import annotations

import json
import os
import subprocess
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

MADE_FROM = "dev.sandtable.made-from"


class Refused(Exception):
    """The engine did not do what it was asked to; its own last words."""


def docker(*arguments: str | Path, stdin: Path | None = None) -> str:
    """What it says. Raises Refused with its complaint."""
    # The builder that every version of the engine has, and that needs no plugin.
    environment = {"DOCKER_BUILDKIT": "0", **os.environ}
    with (stdin or Path(os.devnull)).open("rb") as given:
        try:
            done = subprocess.run(
                ["docker", *map(str, arguments)],
                stdin=given,
                capture_output=True,
                text=True,
                env=environment,
                check=False,
            )
        except FileNotFoundError as error:
            raise Refused("there is no `docker` program; Debian has it in docker.io") from error
    if done.returncode:
        said = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        raise Refused("\n".join(said[-12:]) or f"`docker {arguments[0]}` ended with {done.returncode}")
    return done.stdout


def inspect(image: str) -> dict[str, Any] | None:
    """None when there is no such image here."""
    try:
        return json.loads(docker("image", "inspect", image))[0]
    except Refused as error:
        if "no such image" in str(error).lower():
            return None
        raise


def made_from(image: str) -> str | None:
    found = inspect(image)
    return (found["Config"].get("Labels") or {}).get(MADE_FROM) if found else None


def import_root(tar: Path, tag: str) -> None:
    docker("import", "--change", "ENV PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", tar, tag)


def build(
    context: Path,
    dockerfile: str,
    target: str | None,
    tag: str,
    key: str,
    arguments: Mapping[str, str],
    *,
    cache: bool = True,
) -> None:
    """From a tar of the context. No step may use a network."""
    given = [part for name, value in arguments.items() for part in ("--build-arg", f"{name}={value}")]
    stage = ["--target", target] if target else []
    label = f"{MADE_FROM}={key}"
    docker(
        "build", "--network", "none", "--file", dockerfile, *stage, "--tag", tag, "--label", label,
        *given, *([] if cache else ["--no-cache"]), "-", stdin=context,
    )  # fmt: skip


def save(images: Sequence[str], target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    docker("save", "--output", target, *images)


def read_file(image: str, path: str) -> bytes:
    """A file of an image that is not running."""
    container = docker("create", "--network", "none", image, "unused").strip()
    try:
        with tempfile.TemporaryDirectory() as scratch:
            tar = Path(scratch) / "file.tar"
            with tar.open("wb") as out:
                subprocess.run(["docker", "cp", f"{container}:{path}", "-"], stdout=out, check=True)
            with tarfile.open(tar) as archive:
                content = archive.extractfile(archive.next() or path)
                return content.read() if content else b""
    finally:
        docker("rm", "--force", container)
