"""A server that is killed: submits one job, says when it runs, and waits for its end."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from sandtable.sandbox.job import Job
from sandtable.sandbox.kubernetes.executor import KubernetesExecutor
from tests.sandbox.kubernetes.live import until_running


async def _main() -> None:
    told = json.loads(sys.argv[1])
    executor = KubernetesExecutor(
        image=told["image"],
        namespace=told["namespace"],
        kubeconfig=[Path(told["kubeconfig"])],
        instance="test",
    )
    job = Job.model_validate(told["job"])
    await executor.submit(job)
    await until_running(executor, job.id)
    print("running", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_main())
