"""The engine as an operator sees it: through the `docker` command."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from typing import Any

from sandtable.sandbox.docker.engine import INSTANCE

HOST = os.environ.get("DOCKER_HOST")


def docker(*arguments: str, host: str | None = HOST, stdin: bytes | None = None) -> str:
    environment = {**os.environ, **({"DOCKER_HOST": host} if host else {})}
    done = subprocess.run(
        ["docker", *arguments], env=environment, input=stdin, capture_output=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode().strip()


def containers(instance: str, *, host: str | None = HOST) -> set[str]:
    """Names of its containers, in whatever state."""
    listed = docker(
        "ps", "--all", "--filter", f"label={INSTANCE}={instance}", "--format", "{{.Names}}", host=host
    )
    return set(listed.split())


async def until(instance: str, count: int, *, within_s: float = 20.0) -> set[str]:
    """Its containers, once there are so many."""
    found: set[str] = set()
    for _ in range(int(within_s / 0.1)):
        if len(found := await asyncio.to_thread(containers, instance)) == count:
            return found
        await asyncio.sleep(0.1)
    raise AssertionError(f"{len(found)} containers, not {count}: {found}")


def inspect(name: str) -> dict[str, Any]:
    return json.loads(docker("inspect", name))[0]
