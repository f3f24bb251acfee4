"""A whole Kubernetes of one node, up and down by one call, beside whatever else runs on the machine.

`up` first takes away what an earlier cluster of the same name left, `down` leaves nothing: no process, mount,
namespace, cgroup or file. Needs root, the Debian packages in `scripts/test_kubernetes.py` and the built programs.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.kubernetes.cluster import ground, image, names, pki, settings
from tests.kubernetes.cluster.daemons import DAEMONS
from tests.kubernetes.cluster.inside import ClusterBroken, Inside, begin, find, finish, on_path, tail
from tests.kubernetes.cluster.place import NODE, NODE_IP, Place
from tests.kubernetes.cluster.policies import TABLE

CONTROL_PLANE = ("etcd", "containerd", "kube-apiserver")
# No pod starts before its policies can hold.
AFTERWARDS = ("kube-controller-manager", "kube-scheduler", "firewall", "kubelet")

_READY = '{.status.conditions[?(@.type=="Ready")].status}'


@dataclass(frozen=True, slots=True)
class Cluster:
    inside: Inside
    programs: Path

    @property
    def name(self) -> str:
        return self.inside.place.name

    @property
    def kubeconfig(self) -> Path:
        return self.inside.place.kubeconfig

    @property
    def node_ip(self) -> str:
        return NODE_IP

    @property
    def network(self) -> str:
        """The network namespace, as `nsenter --net=` takes it."""
        return f"/proc/{self.inside.pid}/ns/net"

    def entered(self, argv: Sequence[str]) -> list[str]:
        """The command that runs `argv` in the cluster's network, with the machine's own files and processes."""
        return ["nsenter", f"--net={self.network}", "--", *argv]

    def environment(self) -> dict[str, str]:
        """For such a command: the programs and the kubeconfig are found, and tests know whose cluster it is."""
        path = f"{self.programs}{os.pathsep}{os.environ.get('PATH', '')}"
        own = {"PATH": path, "KUBECONFIG": str(self.kubeconfig), "SANDTABLE_TEST_CLUSTER": self.name}
        return {**os.environ, **own}

    def run_in(self, argv: Sequence[str], extra: Mapping[str, str] | None = None) -> int:
        """Runs a command in the cluster's network; its exit code."""
        return subprocess.run(
            self.entered(argv), env={**self.environment(), **(extra or {})}, check=False
        ).returncode

    def kubectl(self, *arguments: str, check: bool = True) -> str:
        kubectl = str(self.programs / "kubectl")
        return self.inside.run(kubectl, f"--kubeconfig={self.kubeconfig}", *arguments, check=check)

    def import_image(self, archive: Path) -> list[str]:
        """Makes the images of an archive (OCI, or of `docker save`) known to the node; their names."""
        known = set(self.images())
        self._ctr("images", "import", str(archive.resolve()))
        return sorted(set(self.images()) - known)

    def images(self) -> list[str]:
        return [name for name in self._ctr("images", "ls", "-q").split() if not name.startswith("sha256:")]

    def _ctr(self, *arguments: str) -> str:
        return self.inside.run(
            "ctr", f"--address={settings.CONTAINERD_SOCKET}", "--namespace=k8s.io", *arguments
        )

    def stop(self, daemon: str) -> None:
        self.inside.end(daemon)

    def start(self, daemon: str) -> None:
        self.inside.start(daemon, DAEMONS[daemon](self.inside.place, self.programs))

    def restart(self, daemon: str) -> None:
        """Ends the daemon, starts it anew and waits until it is of use again."""
        self.stop(daemon)
        self.start(daemon)
        self.wait_for(daemon)

    def wait_for(self, daemon: str, patience: float = 60) -> None:
        ready = self._signs().get(daemon)
        if ready:
            self.inside.expect(f"{daemon} to answer", ready, patience, log=daemon)

    def _signs(self) -> dict[str, Callable[[], bool]]:
        return {
            "containerd": lambda: self.inside.succeeds(
                "ctr", f"--address={settings.CONTAINERD_SOCKET}", "version"
            ),
            "kube-apiserver": lambda: self.kubectl("get", "--raw=/readyz", check=False) == "ok",
            "firewall": lambda: self.inside.succeeds("nft", "list", "table", "ip", TABLE),
            "kubelet": self._node_is_ready,
        }

    def _node_is_ready(self) -> bool:
        """And says so itself: what the API server remembers of an ended kubelet is not enough."""
        if self.kubectl("get", f"--raw=/api/v1/nodes/{NODE}/proxy/healthz", check=False) != "ok":
            return False
        conditions = self.kubectl("get", "node", NODE, "-o", f"jsonpath={_READY}", check=False)
        return conditions == "True"

    def answers_names(self) -> bool:
        ready = "jsonpath={.status.readyReplicas}"
        return (
            self.kubectl("get", "deployment", "coredns", "-n", names.SPACE, "-o", ready, check=False) == "1"
        )

    def apply(self, things: Sequence[Mapping[str, object]]) -> None:
        file = self.inside.place.folder / "applied.json"
        file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": things}))
        self.kubectl("apply", "-f", str(file))

    def logs(self) -> dict[str, Path]:
        """What each daemon said so far."""
        return {log.stem: log for log in sorted(self.inside.place.logs.glob("*.log"))}

    def report(self) -> str:
        """For a person who wants to know why something did not work: events, pods, their logs, the daemons' logs."""
        parts = [
            ("pods", self.kubectl("get", "pods,jobs", "-A", "-o", "wide", check=False)),
            ("events", self.kubectl("get", "events", "-A", "--sort-by=.lastTimestamp", check=False)),
        ]
        parts.append(("describe", self.kubectl("describe", "pods", "-A", check=False)))
        parts += [(f"{log.parents[1].name} {log.parent.name}", tail(log)) for log in self._pod_logs()]
        parts += [(name, tail(log, 40)) for name, log in self.logs().items()]
        return "\n".join(f"== {title}\n{text.rstrip()}" for title, text in parts if text.strip())

    def _pod_logs(self) -> list[Path]:
        return sorted((self.inside.place.folder / "var/log/pods").glob("*/*/*.log"))

    def down(self) -> None:
        down(self.inside.place)


def up(name: str, programs: Path) -> Cluster:
    """A new cluster with a node that takes pods."""
    if os.geteuid():
        raise ClusterBroken(
            "a cluster of our own needs root; an existing one is used when KUBECONFIG names it"
        )
    place = Place(name)
    down(place)
    try:
        return _brought_up(place, programs)
    except BaseException:
        down(place)
        raise


def _brought_up(place: Place, programs: Path) -> Cluster:
    for folder in (place.folder, place.pids, place.logs, place.images):
        folder.mkdir(mode=0o755)
    place.programs.write_text(str(programs))
    pki.write(place.pki)
    settings.write(place)
    cluster = Cluster(begin(place), programs)
    ground.prepare(cluster.inside)
    for daemon in CONTROL_PLANE:
        cluster.start(daemon)
    cluster.wait_for("containerd")
    busybox, coredns = place.images / "busybox.tar", place.images / "coredns.tar"
    image.write_busybox(busybox, settings.PAUSE, Path(on_path("busybox")))
    image.write(coredns, names.IMAGE, programs / "coredns", ["/bin/coredns"])
    for archive in (busybox, coredns):
        cluster.import_image(archive)
    cluster.wait_for("kube-apiserver")
    for daemon in AFTERWARDS:
        cluster.start(daemon)
    cluster.apply(names.manifests())
    cluster.wait_for("firewall")
    cluster.wait_for("kubelet")
    # It looks for the node when it starts.
    cluster.start("kube-proxy")
    cluster.inside.expect("names to be answered", cluster.answers_names, 60, log="kubelet")
    return cluster


def running(name: str) -> Cluster | None:
    """The cluster of this name, if it is up."""
    place = Place(name)
    inside = find(place)
    return Cluster(inside, Path(place.programs.read_text())) if inside else None


def down(place: Place) -> None:
    """Also takes away what a killed test run left."""
    inside = find(place)
    if inside:
        finish(inside)
    ground.remove_cgroups(place)
    if place.folder.exists():
        shutil.rmtree(place.folder)
