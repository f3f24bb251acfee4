"""`make bench-tiers`: starts a Docker daemon and a cluster (root only), then one question on every tier."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scripts import build_images
from scripts.images import daemon
from scripts.images.engine import Refused
from tests.kubernetes.cluster import programs
from tests.kubernetes.cluster.cluster import up
from tests.kubernetes.cluster.inside import ClusterBroken

ROOT = Path(__file__).resolve().parents[1]


def main() -> int:
    try:
        with tempfile.TemporaryDirectory(prefix="sandtable-images-") as folder, daemon.running() as docker:
            os.environ["DOCKER_HOST"] = docker.host
            if build_images.main(["runner", "--save", folder]):
                return 1
            return _measure(docker.host, Path(folder))
    except (ClusterBroken, Refused, subprocess.CalledProcessError) as error:
        print(error, file=sys.stderr)
        return 1


def _measure(docker_host: str, images: Path) -> int:
    cluster = up("bench", programs.built())
    try:
        for archive in images.glob("*.tar"):
            cluster.import_image(archive)
        command = [sys.executable, "-m", "benchmarks.tiers", *sys.argv[1:]]
        environment = {**cluster.environment(), "DOCKER_HOST": docker_host}
        return subprocess.run(cluster.entered(command), cwd=ROOT, env=environment, check=False).returncode
    finally:
        cluster.down()


if __name__ == "__main__":
    sys.exit(main())
