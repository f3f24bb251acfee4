"""An executor on the cluster under test, with a data store of the test's own mounted into its runners."""

from __future__ import annotations

import asyncio
import json
import secrets
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandtable.sandbox.job import Job
from sandtable.sandbox.kubernetes.executor import KubernetesExecutor
from sandtable.sandbox.kubernetes.template import built_in, pod_of, runner_of
from tests.kubernetes import manifests
from tests.kubernetes.target import Target

_ids = iter(range(1 << 30))
_SESSION = secrets.token_hex(3)
Change = Callable[[dict[str, Any]], Any]


@dataclass(frozen=True, slots=True)
class Room:
    """A namespace in which runners may be made."""

    cluster: Target
    namespace: str
    folder: Path
    """For templates."""

    def executor(self, *, change: Change | None = None, **given: Any) -> KubernetesExecutor:
        """`change`: what is different in the Job template."""
        settings = {
            "image": self.cluster.images["runner"],
            "namespace": self.namespace,
            "kubeconfig": [Path(self.cluster.kubeconfig)],
            "instance": "test",
            **given,
        }
        if change is not None:
            settings["template"] = self.template(settings["image"], change)
        return KubernetesExecutor(**settings)

    def template(self, image: str, change: Change) -> Path:
        made = built_in(image)
        change(made)
        path = self.folder / f"{secrets.token_hex(4)}.json"
        path.write_text(json.dumps(made))
        return path

    def jobs(self, *labels: str) -> list[dict[str, Any]]:
        """That are there and are not on their way out."""
        selected = ",".join(("app.kubernetes.io/name=sandtable-runner", *labels))
        found = self.cluster.get("jobs", "-n", self.namespace, "-l", selected)["items"]
        return [job for job in found if not job["metadata"].get("deletionTimestamp")]

    def pods(self) -> list[dict[str, Any]]:
        return self.cluster.get("pods", "-n", self.namespace)["items"]


def job(text: str, *, job_id: str = "", mode: str = "sql", **limits: int) -> Job:
    """Without data."""
    made = {"id": job_id or f"job-{_SESSION}-{next(_ids)}", "mode": mode, "text": text}
    return Job.model_validate(
        {**made, "limits": {"wall_ms": 20_000, "memory_mb": 256, "tmp_mb": 32, **limits}}
    )


async def run(executor: KubernetesExecutor, made: Job) -> Any:
    await executor.submit(made)
    return await executor.result(made.id)


def mount_store(room: Room, store: Path) -> tuple[str, Change]:
    """The folder of this machine as a volume of the cluster, which is on this machine too: the volume's name, and
    what a template must say to have it."""
    name = f"store-{secrets.token_hex(4)}"
    volume = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadOnlyMany"],
            "storageClassName": name,
            "hostPath": {"path": str(store)},
        },
    }
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": room.namespace},
        "spec": {
            "accessModes": ["ReadOnlyMany"],
            "storageClassName": name,
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    room.cluster.apply(volume, claim)

    def change(template: dict[str, Any]) -> None:
        source = {"claimName": name, "readOnly": True}
        pod_of(template)["volumes"] = [{"name": "store", "persistentVolumeClaim": source}]
        runner_of(template)["volumeMounts"] = [{"name": "store", "mountPath": "/data", "readOnly": True}]

    return name, change


async def until(what: str, true: Callable[[], bool], within_s: float = 30.0) -> None:
    try:
        async with asyncio.timeout(within_s):
            while not await asyncio.to_thread(true):
                await asyncio.sleep(0.1)
    except TimeoutError:
        raise AssertionError(f"waited {within_s:g} s in vain for {what}") from None


async def until_running(executor: KubernetesExecutor, job_id: str) -> None:
    async with asyncio.timeout(30):
        while await executor.status(job_id) != "running":
            await asyncio.sleep(0.02)


class InItsNamespace(KubernetesExecutor):
    """With a namespace made for it, in which the store is the runners' data; closing takes both away."""

    def __init__(self, cluster: Target, image: str, store: Path, **given: Any) -> None:
        self._cluster = cluster
        self._space = f"test-{secrets.token_hex(4)}"
        self._folder = Path(tempfile.mkdtemp(prefix="sandtable-template-"))
        cluster.apply(manifests.namespace(self._space))
        room = Room(cluster, self._space, self._folder)
        self._volume, change = mount_store(room, store)
        super().__init__(
            image=image,
            namespace=self._space,
            kubeconfig=[Path(cluster.kubeconfig)],
            template=room.template(image, change),
            **given,
        )

    async def aclose(self) -> None:
        await super().aclose()
        await asyncio.to_thread(self._cluster.kubectl, "delete", "namespace", self._space, "--wait=false")
        await asyncio.to_thread(self._cluster.kubectl, "delete", "pv", self._volume, "--wait=false")
        shutil.rmtree(self._folder)
