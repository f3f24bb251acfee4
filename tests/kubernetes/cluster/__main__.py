"""A cluster by hand: `python -m tests.kubernetes.cluster up|down|enter|import|report NAME …`."""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

from tests.kubernetes.cluster import programs
from tests.kubernetes.cluster.cluster import Cluster, down, running, up
from tests.kubernetes.cluster.inside import ClusterBroken
from tests.kubernetes.cluster.place import Place


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.kubernetes.cluster", description=__doc__)
    parser.add_argument("what", choices=("build", "up", "down", "enter", "import", "restart", "report"))
    parser.add_argument("name", nargs="?", default="default")
    parser.add_argument("rest", nargs=argparse.REMAINDER, help="a command, image archives or daemons")
    asked = parser.parse_args()
    try:
        return _do(asked.what, asked.name, [word for word in asked.rest if word != "--"])
    except ClusterBroken as error:
        print(error, file=sys.stderr)
        return 1


def _do(what: str, name: str, rest: list[str]) -> int:
    started = time.monotonic()
    if what == "down":
        down(Place(name))
    elif what == "build":
        print(programs.built())
    elif what == "up":
        cluster = up(name, programs.built())
        print(f"up in {time.monotonic() - started:.0f} s; KUBECONFIG={cluster.kubeconfig} in its network:")
        print(f"  python -m tests.kubernetes.cluster enter {name} -- kubectl get nodes")
    else:
        return _with(_found(name), what, rest)
    return 0


def _with(cluster: Cluster, what: str, rest: list[str]) -> int:
    if what == "enter":
        argv = cluster.entered(rest or [os.environ.get("SHELL", "sh")])
        os.execvpe(argv[0], argv, cluster.environment())
    if what == "report":
        print(cluster.report())
    for word in rest:
        if what == "import":
            print("\n".join(cluster.import_image(Path(word))))
        if what == "restart":
            cluster.restart(word)
    return 0


def _found(name: str) -> Cluster:
    cluster = running(name)
    if not cluster:
        raise ClusterBroken(f"no cluster {name} is up")
    return cluster


if __name__ == "__main__":
    sys.exit(main())
