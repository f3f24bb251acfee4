"""An image depends on its sources alone. In a file by itself: it takes as long as all other tests of images."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.docker.engine import docker, inspect

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.needs("docker_images")


def test_the_same_sources_give_the_same_image(tmp_path: Path) -> None:
    """Every step done again, without the cache: layer by layer the same bytes."""
    name, again = "runner", "again"
    given = ["--no-cache", "--tag", again, "--bills", str(tmp_path)]
    try:
        subprocess.run([sys.executable, "scripts/build_images.py", name, *given], cwd=ROOT, check=True)
        first, second = (inspect(f"sandtable-{name}:{tag}")["RootFS"]["Layers"] for tag in ("dev", again))
        assert first == second
    finally:
        docker("rmi", "--force", f"sandtable-{name}:{again}", ok=False)
