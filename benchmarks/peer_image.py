"""What llm-sandbox needs to run at all: a Docker daemon, and an image with the libraries, made here without a registry.

The image is made once, of Debian packages and of wheels from the index that pip is configured for, and made again when
one of the two, or the recipe, is another.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from scripts import build_images
from scripts.images import context, daemon, engine, wheels

TAG = "sandtable-bench/llm-sandbox"
PACKAGES = Path(__file__).parent / "peer_image.txt"
_RECIPE = Path(__file__).parent / "peer_image.Dockerfile"


@contextmanager
def daemon_at_hand() -> Iterator[None]:
    """One of our own where none is up and we are root. Where there is none after all, `ready` says so."""
    with ExitStack() as stack:
        if not _is_up() and not os.geteuid() and shutil.which("docker") and shutil.which("dockerd"):
            try:
                os.environ["DOCKER_HOST"] = stack.enter_context(daemon.running()).host
            except engine.Refused as error:
                print(error, file=sys.stderr)
        yield


def ready() -> str:
    """The image's tag. Raises RuntimeError with the reason."""
    if not _is_up():
        raise RuntimeError("no Docker daemon is up (one is started for root, where dockerd is installed)")
    try:
        _make()
    except subprocess.CalledProcessError as error:
        raise RuntimeError(f"its image: `{Path(error.cmd[0]).name}` failed") from error
    except engine.Refused as error:
        raise RuntimeError(f"its image: {str(error).splitlines()[-1]}") from error
    return TAG


def _is_up() -> bool:
    if not shutil.which("docker"):
        return False
    return subprocess.run(["docker", "version"], capture_output=True, timeout=20, check=False).returncode == 0


def _make() -> None:
    base = build_images.base("peer", fresh=False)
    files = {"Dockerfile": _RECIPE, PACKAGES.name: PACKAGES, **_wheels(base)}
    key = context.digest(files, base)
    if engine.made_from(TAG) == key:
        return
    print(f"{TAG} is being built.", flush=True)
    with tempfile.TemporaryDirectory(prefix="sandtable-image-") as scratch:
        packed = Path(scratch) / "context.tar"
        context.write(files, packed)
        engine.build(packed, "Dockerfile", None, TAG, key, {"PEER_BASE": base})


def _wheels(base: str) -> dict[str, Path]:
    python, machine = build_images.python_of("peer", base), platform.machine()
    folder = build_images.cache("wheels") / wheels.key(PACKAGES, python, machine)
    if not folder.is_dir():
        wheels.fetch_with_dependencies(PACKAGES, python, machine, folder)
    return {f"wheels/{wheel.name}": wheel for wheel in sorted(folder.glob("*.whl"))}
