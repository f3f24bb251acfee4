"""The cluster under test as the tests see it: by kubectl alone, so that any cluster will do."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.kubernetes.cluster.cluster import Cluster
from tests.kubernetes.cluster.settings import PAUSE

IMAGES = {
    "runner": "sandtable-runner:dev",
    "server": "sandtable-server:dev",
    "chat": "sandtable-chat:dev",
    "busybox": PAUSE,
}
PATIENCE = 60.0


@dataclass(frozen=True, slots=True)
class Target:
    kubeconfig: str
    images: Mapping[str, str] = field(default_factory=lambda: IMAGES)
    outside: str | None = None
    """The address of something beyond the cluster that answers HTTP on port 80."""
    own: Cluster | None = None
    """The cluster, if it is one of ours: its daemons may be restarted."""

    def kubectl(self, *arguments: str, given: object = None) -> str:
        """What kubectl printed; `given` is an object, or a list of them, for `-f -`."""
        done = self._try(*arguments, given=given)
        assert done.returncode == 0, f"kubectl {' '.join(arguments)}: {done.stderr.strip()}"
        return done.stdout

    def refused(self, *arguments: str, given: object = None) -> str:
        """Why the cluster did not do it."""
        done = self._try(*arguments, given=given)
        assert done.returncode != 0, f"kubectl {' '.join(arguments)} was done: {done.stdout.strip()}"
        return done.stderr

    def get(self, *arguments: str) -> Any:
        return json.loads(self.kubectl("get", *arguments, "-o", "json"))

    def apply(self, *things: Mapping[str, Any]) -> None:
        self.kubectl("apply", "-f", "-", given={"apiVersion": "v1", "kind": "List", "items": list(things)})

    def wait_until(self, what: str, true: Callable[[], bool], patience: float = PATIENCE) -> None:
        until = time.monotonic() + patience
        while not true():
            assert time.monotonic() < until, f"waited {patience:.0f} s in vain for {what}"
            time.sleep(0.2)

    def phase(self, namespace: str, pod: str) -> str:
        return self.get("pod", pod, "-n", namespace)["status"]["phase"]

    def wait_for_phase(self, namespace: str, pod: str, *phases: str, patience: float = PATIENCE) -> str:
        self.wait_until(
            f"pod {pod} to be {' or '.join(phases)}", lambda: self.phase(namespace, pod) in phases, patience
        )
        return self.phase(namespace, pod)

    def run(self, namespace: str, pod: Mapping[str, Any], patience: float = PATIENCE) -> tuple[str, str]:
        """Runs a pod to its end: its phase and what it printed."""
        name = pod["metadata"]["name"]
        self.apply(pod)
        phase = self.wait_for_phase(namespace, name, "Succeeded", "Failed", patience=patience)
        return phase, self.kubectl("logs", name, "-n", namespace)

    def _try(self, *arguments: str, given: object = None) -> subprocess.CompletedProcess[str]:
        kubectl = shutil.which("kubectl")
        assert kubectl, "no kubectl program on the PATH"
        return subprocess.run(
            [kubectl, f"--kubeconfig={self.kubeconfig}", *arguments],
            input=json.dumps(given) if given is not None else None,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )


def named_images(setting: str) -> dict[str, str]:
    """`SANDTABLE_TEST_IMAGES`: "runner=NAME,server=NAME" over the names that a build here gives."""
    named = dict(IMAGES)
    for part in filter(None, setting.split(",")):
        which, _, name = part.strip().partition("=")
        if which not in IMAGES or not name:
            raise LookupError(f"SANDTABLE_TEST_IMAGES says {part!r}; it is {'|'.join(IMAGES)}=NAME, …")
        named[which] = name
    return named
