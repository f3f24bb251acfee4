"""Build the container images: `python scripts/build_images.py [runner] [runner-python] [server] [chat] [postgres]`.

Works without an image registry: the bases are made of Debian packages and the wheels come from the index that pip is
configured for, both fetched outside of the engine and kept in the user's cache. With `--registry`, the engine takes
the bases that the Dockerfiles name. An image that is there already, made from the same sources, is left alone.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scripts import build_stock_ui, build_web, node
from scripts.images import context, debian, engine, wheels

LOCK = "requirements/runtime.lock.txt"
WHEELS = "deploy/docker/wheels"
_PRODUCT = (
    *("pyproject.toml", "README.md", "LICENSE", LOCK, "datasets", "src", "deploy/docker"),
    *("web/app/package-lock.json", "web/stock/package-lock.json"),
)
_CHAT = (
    "pyproject.toml",
    "deploy/docker",
    "src/sandtable/server/_built/chat-ui",
    "web/stock/package-lock.json",
)
BASES = {
    "python": ("python3", "libc-bin", "libgcc-s1", "libstdc++6", "ca-certificates", "base-files"),
    "nginx": ("nginx-light", "base-files"),
    "postgres": ("python3", "libc-bin", "dash", "postgresql", "base-files"),
    # For a peer in the benchmarks: what it calls in a container.
    "peer": ("python3", "python3-venv", "libc-bin", "libstdc++6", "dash", "coreutils", "base-files"),
}


@dataclass(frozen=True, slots=True)
class Image:
    dockerfile: str
    sources: tuple[str, ...]
    bases: dict[str, str]
    """Argument of the Dockerfile → one of BASES."""
    target: str | None = None
    wheels: bool = False
    bill: bool = True


IMAGES = {
    "runner": Image("deploy/docker/Dockerfile", _PRODUCT, {"PYTHON_BASE": "python"}, "runner", True),
    "runner-python": Image(
        "deploy/docker/Dockerfile", _PRODUCT, {"PYTHON_BASE": "python"}, "runner-python", True
    ),
    "server": Image("deploy/docker/Dockerfile", _PRODUCT, {"PYTHON_BASE": "python"}, "server", True),
    "chat": Image("deploy/docker/chat.Dockerfile", _CHAT, {"PYTHON_BASE": "python", "NGINX_BASE": "nginx"}),
    # For the tests of Compose alone; others take the official one from a registry.
    "postgres": Image(
        "tests/docker/postgres/Dockerfile",
        ("tests/docker/postgres",),
        {"POSTGRES_BASE": "postgres"},
        bill=False,
    ),
}
DEFAULT = ("runner", "runner-python", "server", "chat")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = _parser()
    given = parser.parse_args(arguments)
    if unknown := sorted(set(given.images) - IMAGES.keys()):
        parser.error(f"no image {', '.join(unknown)}; there are {', '.join(IMAGES)}")
    try:
        for web in (build_web, build_stock_ui):
            if web.main():
                return 1
        for name in given.images or DEFAULT:
            _make(name, given)
    except (engine.Refused, OSError, subprocess.CalledProcessError, node.Broken) as error:
        reason = str(error) if isinstance(error, engine.Refused) else node.reason(error)
        print(f"The image could not be built: {reason}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Build Sandtable's container images.")
    parser.add_argument(
        "images", nargs="*", metavar="IMAGE", help=f"of {', '.join(IMAGES)}; all when none is named"
    )
    parser.add_argument("--tag", default="dev", help="tag of the images (dev)")
    parser.add_argument("--save", type=Path, metavar="DIR", help="also write each image as DIR/NAME.tar")
    parser.add_argument("--bills", type=Path, default=node.ROOT / "build" / "images", metavar="DIR",
                        help="where the bills of materials are written (build/images)")  # fmt: skip
    parser.add_argument(
        "--registry", action="store_true", help="bases from a registry, not from Debian packages"
    )
    parser.add_argument(
        "--fresh", action="store_true", help="make the bases again, with today's Debian packages"
    )
    parser.add_argument("--no-cache", action="store_true", help="do every step again")
    return parser


def _make(name: str, given: argparse.Namespace) -> None:
    began = time.monotonic()
    image, tag = IMAGES[name], f"sandtable-{name}:{given.tag}"
    bases = {} if given.registry else {arg: base(kind, given.fresh) for arg, kind in image.bases.items()}
    files = context.sources(node.ROOT, image.sources)
    if image.wheels and not given.registry:
        files |= _wheels(bases["PYTHON_BASE"])
    key = context.digest(files, *bases.values())
    if given.no_cache or engine.made_from(tag) != key:
        with tempfile.TemporaryDirectory(prefix="sandtable-image-") as scratch:
            packed = Path(scratch) / "context.tar"
            context.write(files, packed)
            engine.build(packed, image.dockerfile, image.target, tag, key, bases, cache=not given.no_cache)
    found = engine.inspect(tag)
    assert found
    if image.bill:
        given.bills.mkdir(parents=True, exist_ok=True)
        bill = f"sandtable-{name}.cdx.json"
        (given.bills / bill).write_bytes(engine.read_file(tag, f"/usr/share/sbom/{bill}"))
    if given.save:
        engine.save([tag], given.save / f"{name}.tar")
    print(f"{tag}: {found['Size'] / 1e6:.0f} MB ({time.monotonic() - began:.0f} s)", flush=True)


def base(kind: str, fresh: bool) -> str:
    """An image of Debian packages, and the tar it is made of in the user's cache."""
    key = debian.key(BASES[kind])
    tag, tar = f"sandtable-base-{kind}:{key}", cache("bases") / f"{kind}-{key}.tar"
    if fresh or not tar.is_file():
        print(f"A base of Debian packages is being made: {' '.join(BASES[kind])}", flush=True)
        tar.parent.mkdir(parents=True, exist_ok=True)
        debian.write_root(BASES[kind], tar)
    elif engine.inspect(tag):
        return tag
    engine.import_root(tar, tag)
    return tag


def _wheels(image: str) -> dict[str, Path]:
    machine = platform.machine()
    lock = node.ROOT / LOCK
    python = python_of("python", image)
    folder = cache("wheels") / wheels.key(lock, python, machine)
    if not folder.is_dir():
        print("The wheels of the lock are being fetched.", flush=True)
        wheels.fetch(lock, python, machine, folder)
    return {f"{WHEELS}/{wheel.name}": wheel for wheel in sorted(folder.glob("*.whl"))}


def python_of(kind: str, image: str) -> str:
    """The version of Python in a base, such as 3.11."""
    with tarfile.open(cache("bases") / f"{kind}-{image.partition(':')[2]}.tar") as archive:
        return archive.getmember("usr/bin/python3").linkname.removeprefix("python")


def cache(kind: str) -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "sandtable" / kind


if __name__ == "__main__":
    sys.exit(main())
