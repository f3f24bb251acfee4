"""The tests that need container images: `make test-docker`. Arguments go to pytest.

Without SANDTABLE_TEST_DOCKER_HOST it starts its own Docker daemon (root only) in a separate network namespace, and
removes it again. The images are built either way; what they are made of is kept in the user's cache.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import NoReturn

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scripts import build_images, node
from scripts.images import compose, daemon
from scripts.images.engine import Refused

IMAGES = ("runner", "runner-python", "server", "chat", "postgres")
# They wait most of the time: three processes, in the order of the files.
SUITE = ("tests/docker", "tests/sandbox/docker", "tests/sandbox/conformance", "-k", "docker",
         "--numprocesses=3", "--dist=loadfile", "--no-loadscope-reorder")  # fmt: skip
REQUIRED = ("docker", "docker_images", "compose")
_STARTED = time.monotonic()


def main(more: Sequence[str]) -> int:
    given = os.environ.get("SANDTABLE_TEST_DOCKER_HOST")
    signal.signal(signal.SIGTERM, _end)
    try:
        if given:
            return _test(given, [], more)
        with daemon.running() as own:
            return _test(own.host, own.inside([]), more)
    except (Refused, subprocess.CalledProcessError) as error:
        print(error, file=sys.stderr)
        return 1


def _test(host: str, inside: list[str], more: Sequence[str]) -> int:
    os.environ["DOCKER_HOST"] = host
    say("the images")
    if code := build_images.main(IMAGES):
        return code
    say("Compose")
    command = compose.command()
    say(f"the tests, with {' '.join(command)}")
    chosen = any(not argument.startswith("-") for argument in more)
    required = ",".join(filter(None, (*REQUIRED, os.environ.get("SANDTABLE_REQUIRE"))))
    environment = {**os.environ, "SANDTABLE_REQUIRE": required}
    tested = [*inside, sys.executable, "scripts/pytest_twice.py", *(() if chosen else SUITE), *more]
    return subprocess.run(tested, cwd=node.ROOT, env=environment, check=False).returncode


def say(what: str) -> None:
    print(f"[{time.monotonic() - _STARTED:4.0f} s] {what}", flush=True)


def _end(_signal: int, _frame: FrameType | None) -> NoReturn:
    """So that the daemon is ended when the tests are."""
    raise SystemExit(143)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
