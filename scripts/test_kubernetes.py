"""The tests that need a Kubernetes: `make test-kubernetes`. Arguments that it does not know go to pytest.

Without KUBECONFIG it makes its own cluster (root only), loads the images, runs the tests in the cluster's
network and removes everything again. With KUBECONFIG it uses that cluster as it is; see
docs/testing-kubernetes.md.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import NoReturn

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scripts import build_images
from scripts.images import daemon
from scripts.images.engine import Refused
from tests.kubernetes.cluster import programs
from tests.kubernetes.cluster.cluster import Cluster, up
from tests.kubernetes.cluster.inside import PATH, ClusterBroken

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = {
    "busybox": "busybox-static",
    "docker": "docker.io",
    "dockerd": "docker.io",
    "containerd": "containerd",
    "etcd": "etcd-server",
    "ip": "iproute2",
    "nft": "nftables",
    "nsenter": "util-linux",
    "runc": "runc",
    "/usr/lib/cni/bridge": "containernetworking-plugins",
}
"""What makes the cluster, program → Debian package."""
IMAGES = ("runner", "runner-python", "server", "chat")
SUITES = (
    # They wait most of the time, each in namespaces of its own: three processes, in the order of the files.
    ("tests/kubernetes", "tests/sandbox/conformance", "-k", "kubernetes", "--ignore=tests/kubernetes/chart",
     "--ignore=tests/kubernetes/outages", "--numprocesses=3", "--dist=loadfile", "--no-loadscope-reorder"),
    # They restart what all others use.
    ("tests/kubernetes/outages",),
)  # fmt: skip
"""`tests/kubernetes/chart` needs no cluster: `make test` runs it."""
_STARTED = time.monotonic()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", default="tests", help="of the cluster: two may run side by side")
    parser.add_argument(
        "--images",
        type=Path,
        metavar="DIR",
        help="take the images' archives there, or leave them there once built",
    )
    parser.add_argument("--keep", action="store_true", help="leave the cluster up")
    parser.add_argument(
        "--prepare", action="store_true", help="install and build what the tests need, and test nothing"
    )
    asked, more = parser.parse_known_args()
    signal.signal(signal.SIGTERM, _end)
    try:
        if os.environ.get("KUBECONFIG"):
            say("using the cluster that KUBECONFIG names")
            return _test([], os.environ, more)
        with tempfile.TemporaryDirectory(prefix="sandtable-images-") as scratch:
            _install()
            archives = _images(asked.images or Path(scratch))
            if asked.prepare:
                say("the programs of the cluster")
                programs.built()
                return 0
            return _with_a_cluster(asked.name, asked.keep, archives, more)
    except (ClusterBroken, Refused, subprocess.CalledProcessError) as error:
        print(error, file=sys.stderr)
        return 1


def _with_a_cluster(name: str, keep: bool, archives: list[Path], more: list[str]) -> int:
    say("the programs of the cluster")
    folder = programs.built()
    say("the cluster")
    with_cluster = up(name, folder)
    try:
        for archive in archives:
            say(f"image {archive.stem}")
            with_cluster.import_image(archive)
        say("the tests")
        code = _test(with_cluster.entered([]), with_cluster.environment(), more)
        if code:
            print(with_cluster.report(), flush=True)
        return code
    finally:
        _leave(with_cluster, keep)


def _leave(cluster: Cluster, keep: bool) -> None:
    if keep:
        say(f"the cluster stays; `python -m tests.kubernetes.cluster down {cluster.name}` ends it")
        return
    cluster.down()
    say("everything is taken away")


def _test(enter: list[str], environment: Mapping[str, str], more: list[str]) -> int:
    required = {*environment.get("SANDTABLE_REQUIRE", "").split(","), "cluster"} - {""}
    chosen = any(not word.startswith("-") and Path(word).exists() for word in more)
    given = {**environment, "SANDTABLE_REQUIRE": ",".join(sorted(required))}
    codes = [
        subprocess.run(
            [*enter, sys.executable, "scripts/pytest_twice.py", *suite, *more],
            cwd=ROOT,
            env=given,
            check=False,
        )
        for suite in ([()] if chosen else SUITES)
    ]
    return max(done.returncode for done in codes)


def _install() -> None:
    if os.geteuid():
        raise ClusterBroken("a cluster of our own needs root; or name an existing one with KUBECONFIG")
    missing = sorted(
        {package for program, package in PACKAGES.items() if not shutil.which(program, path=PATH)}
    )
    if not missing:
        return
    apt = ["apt-get", "-qq", "install", "--yes", "--no-install-recommends", *missing]
    if os.environ.get("CI", "").lower() not in {"1", "true"}:
        raise ClusterBroken(f"this machine lacks Debian packages: {' '.join(apt[:2] + apt[5:])}")
    say(f"installing {' '.join(missing)}")
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", "-qq", "update"], env=quiet, stdout=subprocess.DEVNULL, check=True)
    subprocess.run(apt, env=quiet, stdout=subprocess.DEVNULL, check=True)


def _images(folder: Path) -> list[Path]:
    """Archives of the images; those that are not in the folder are built with a Docker daemon of our own."""
    archives = [folder / f"{name}.tar" for name in IMAGES]
    missing = [archive.stem for archive in archives if not archive.is_file()]
    if missing:
        say(f"the images: {', '.join(missing)}")
        with daemon.running() as own:
            os.environ["DOCKER_HOST"] = own.host
            if build_images.main([*missing, "--save", str(folder)]):
                raise ClusterBroken("the tests need the images")
    return archives


def say(what: str) -> None:
    print(f"[{time.monotonic() - _STARTED:4.0f} s] {what}", flush=True)


def _end(_signal: int, _frame: FrameType | None) -> NoReturn:
    """So that the cluster goes when the tests are called off."""
    raise SystemExit(143)


if __name__ == "__main__":
    sys.exit(main())
