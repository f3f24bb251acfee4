"""What a user is told whom the engine's socket refuses: `python -m tests.sandbox.docker.refused ADDRESS`."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from sandtable.errors import SandboxUnavailable
from sandtable.sandbox.docker.executor import DockerExecutor


async def _told(host: str) -> str:
    executor = DockerExecutor(Path("/"), image="image", host=host)
    try:
        await executor.start()
    except SandboxUnavailable as error:
        return error.problem.model_dump_json()
    finally:
        await executor.aclose()
    return "{}"


if __name__ == "__main__":
    print(asyncio.run(_told(sys.argv[1])))
