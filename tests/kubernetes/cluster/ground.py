"""What the daemons stand on: private folders, a private view of kernel settings, cgroups, the network.

The machine's own network and kernel settings stay as they are. All but the cgroups goes when the first process
ends.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.kubernetes.cluster.inside import Inside, waited
from tests.kubernetes.cluster.place import NODE_IP, OUTSIDE_IP, Place

OUTSIDE = Path(__file__).with_name("outside.py")
CGROUPS = Path("/sys/fs/cgroup")
NEEDED_CONTROLLERS = {"cpu", "cpuset", "hugetlb", "memory", "pids"}
# The daemons write here. What lies there on the machine is none of their business.
PRIVATE = ("/var/lib", "/var/log")
# The kubelet insists on these values. It is shown them, so that the machine's need not change.
KERNEL_SETTINGS = {
    "vm/overcommit_memory": "1",
    "vm/panic_on_oom": "0",
    "kernel/panic": "10",
    "kernel/panic_on_oops": "1",
    "kernel/keys/root_maxkeys": "1000000",
    "kernel/keys/root_maxbytes": "25000000",
}
# Without the last two, packets between pods of one node pass by the policies.
OF_THIS_NETWORK = (
    "net/ipv4/ip_forward",
    "net/bridge/bridge-nf-call-iptables",
    "net/bridge/bridge-nf-call-ip6tables",
)


def prepare(inside: Inside) -> None:
    _make_cgroups(inside.place)
    _hide_the_machine(inside)
    _connect(inside)


def _hide_the_machine(inside: Inside) -> None:
    place = inside.place
    inside.run("mount", "-t", "tmpfs", "-o", "mode=755", "run", "/run")
    for path in PRIVATE:
        own = place.folder / path.lstrip("/")
        own.mkdir(parents=True)
        inside.run("mount", "--bind", str(own), path)
    shown = place.folder / "kernel"
    for name, value in KERNEL_SETTINGS.items():
        file = shown / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{value}\n")
        inside.run("mount", "--bind", str(file), f"/proc/sys/{name}")


def _connect(inside: Inside) -> None:
    """A cable between the node and the machine outside."""
    inside.start("outside", ["unshare", "--net", sys.executable, "-u", str(OUTSIDE)])
    other = str(inside.number("outside"))

    def apart() -> bool:
        own, others = (inside.run("readlink", f"/proc/{pid}/ns/net", check=False) for pid in ("1", other))
        return bool(others) and own != others

    inside.expect("the network outside", apart, 10, log="outside")
    there = ("nsenter", "--target", other, "--net", "ip")
    here = ("ip",)
    inside.run("ip", "link", "add", "eth0", "type", "veth", "peer", "name", "eth0", "netns", other)
    for ip, address, way in ((here, NODE_IP, OUTSIDE_IP), (there, OUTSIDE_IP, NODE_IP)):
        inside.run(*ip, "link", "set", "lo", "up")
        inside.run(*ip, "address", "add", f"{address}/24", "dev", "eth0")
        inside.run(*ip, "link", "set", "eth0", "up")
        inside.run(*ip, "route", "add", "default", "via", way)
    for name in OF_THIS_NETWORK:
        inside.run("sh", "-c", f"echo 1 >/proc/sys/{name}")


def _make_cgroups(place: Place) -> None:
    _offer_controllers()
    for hierarchy in _hierarchies():
        own = hierarchy / place.cgroup
        own.mkdir(exist_ok=True)
        # A new cpuset is empty, and nothing may run in an empty one.
        for name in ("cpuset.cpus", "cpuset.mems"):
            if (hierarchy / name).is_file():
                (own / name).write_text((hierarchy / name).read_text())


def _offer_controllers() -> None:
    """In cgroup v2 a group has the controllers that the one above it hands down; the kubelet asks for these."""
    offered = CGROUPS / "cgroup.controllers"
    if offered.is_file():
        for name in sorted(NEEDED_CONTROLLERS & set(offered.read_text().split())):
            (CGROUPS / "cgroup.subtree_control").write_text(f"+{name}")


def remove_cgroups(place: Place) -> None:
    for hierarchy in _hierarchies():
        below = [Path(folder) for folder, _, _ in os.walk(hierarchy / place.cgroup, topdown=False)]
        for folder in below:
            waited(lambda folder=folder: _removed(folder), 10)


def _removed(folder: Path) -> bool:
    """The dead leave their cgroup a moment after they died."""
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _hierarchies() -> Iterator[Path]:
    """One in cgroup v2; one for each controller in v1."""
    if (CGROUPS / "cgroup.controllers").is_file():
        yield CGROUPS
        return
    for folder in sorted(CGROUPS.iterdir()):
        if (folder / "cgroup.procs").is_file() and not folder.is_symlink():
            yield folder
