"""Where a cluster of a given name keeps its things, and the addresses inside it.

Every cluster has network, mount and process namespaces of its own: two of them share no address, no port
and no path but the folder and the cgroup that carry their name.
"""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

NODE = "node1"
NODE_IP = "203.0.113.1"
OUTSIDE_IP = "203.0.113.2"
"""A machine beyond the cluster, the "internet" of its pods: it answers HTTP on port 80."""
API_PORT = 6443
PODS = "10.244.0.0/24"
SERVICES = "10.96.0.0/24"
API_SERVICE_IP = "10.96.0.1"
DNS_SERVICE_IP = "10.96.0.10"
DNS_DOMAIN = "cluster.local"

_NAME = re.compile(r"[a-z][a-z0-9-]{0,30}")


@dataclass(frozen=True, slots=True)
class Place:
    name: str

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"a cluster's name is small letters, digits and '-', not {self.name!r}")

    @property
    def folder(self) -> Path:
        return Path(tempfile.gettempdir()) / f"sandtable-cluster-{self.name}"

    @property
    def cgroup(self) -> str:
        return f"sandtable-cluster-{self.name}"

    @property
    def first_process(self) -> Path:
        """Names the process with which the cluster ends."""
        return self.folder / "first-process"

    @property
    def programs(self) -> Path:
        """Names the folder of the programs it was started with."""
        return self.folder / "programs"

    @property
    def pki(self) -> Path:
        return self.folder / "pki"

    @property
    def settings(self) -> Path:
        return self.folder / "settings"

    @property
    def pids(self) -> Path:
        return self.folder / "pids"

    @property
    def logs(self) -> Path:
        return self.folder / "logs"

    @property
    def images(self) -> Path:
        return self.folder / "images"

    @property
    def kubeconfig(self) -> Path:
        """Everything may be done with it; it holds for the network namespace of the cluster."""
        return self.pki / "admin.conf"
