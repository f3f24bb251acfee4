"""Images as `scripts/build_images.py` leaves them in the engine that DOCKER_HOST names."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.docker.engine import files_of

IMAGES = ("runner", "runner-python", "server", "chat")


@pytest.fixture(scope="session")
def images() -> Iterator[dict[str, tarfile.TarFile]]:
    """What is in each image."""
    with ExitStack() as stack:
        yield {name: stack.enter_context(files_of(f"sandtable-{name}:dev")) for name in IMAGES}
