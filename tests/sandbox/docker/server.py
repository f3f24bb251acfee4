"""A server process for tests: warms a container, starts a slow job, says so, and waits to be killed.

python -m tests.sandbox.docker.server STORE
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from sandtable.sandbox.docker.executor import DockerExecutor
from tests.needs import RUNNER_IMAGE
from tests.sandbox.docker.engine import HOST
from tests.sandbox.stores import Store, sql_job

_SLOW = "SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range + b.range = 7"


async def _serve(store: Store) -> None:
    executor = DockerExecutor(store.root, image=RUNNER_IMAGE, host=HOST, warm=1)
    await executor.warm(sql_job(store, "example", ""))
    slow = sql_job(store, "slow", _SLOW, wall_ms=600_000, memory_mb=256)
    await executor.warm(slow)
    await executor.submit(slow)
    # The container has its order by then.
    await asyncio.sleep(0.5)
    print(json.dumps({"instance": executor.instance}), flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_serve(Store(Path(sys.argv[1]))))
