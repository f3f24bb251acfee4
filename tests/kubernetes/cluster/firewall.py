"""The daemon that makes NetworkPolicies true: it watches the API and the node's pods and loads the rules.

A pod's address comes from the record that the network plug-in leaves before the pod's first container starts; the
pod's own status would tell it a second too late.
"""

from __future__ import annotations

import http.client
import json
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.kubernetes.cluster.place import API_PORT, PODS, Place
from tests.kubernetes.cluster.policies import Pod, ruleset

KINDS = {
    "pods": "/api/v1/pods",
    "namespaces": "/api/v1/namespaces",
    "policies": "/apis/networking.k8s.io/v1/networkpolicies",
}
RECORDS = Path("/var/lib/cni/results")
LOOK_EVERY = 0.05
Key = tuple[str, str]
Version = tuple[str, int, int, int]
"""A record's name, inode, time of change and size: a record that is half written becomes another version."""


@dataclass
class Known:
    """What the API says, kept up to date by one thread for each kind."""

    things: dict[str, dict[Key, Mapping[str, Any]]] = field(
        default_factory=lambda: {kind: {} for kind in KINDS}
    )
    changed: threading.Event = field(default_factory=threading.Event)
    listed: set[str] = field(default_factory=set)


def main(place: Place) -> None:
    trust = ssl.create_default_context(cafile=str(place.pki / "ca.crt"))
    trust.load_cert_chain(place.pki / "admin.crt", place.pki / "admin.key")
    known = Known()
    for kind in KINDS:
        threading.Thread(target=_follow, args=(kind, known, trust), daemon=True).start()
    seen: list[Version] | None = None
    while True:
        time.sleep(LOOK_EVERY)
        records = _versions()
        if len(known.listed) < len(KINDS) or (records == seen and not known.changed.is_set()):
            continue
        known.changed.clear()
        seen = records
        _load(known)


def _load(known: Known) -> None:
    pods = [pod for file in _records() if (pod := _pod(file, known.things["pods"]))]
    spaces = {
        name: thing["metadata"].get("labels") or {}
        for (_, name), thing in [*known.things["namespaces"].items()]
    }
    policies = [*known.things["policies"].values()]
    rules = ruleset(sorted(pods, key=lambda pod: pod.ip), spaces, policies, PODS)
    done = subprocess.run(["nft", "-f", "-"], input=rules, text=True, capture_output=True, check=False)
    print(f"{len(pods)} pods, {len(policies)} policies: {done.stderr or 'loaded'}", flush=True)


def _records() -> list[Path]:
    return [*RECORDS.glob("pods-*")]


def _versions() -> list[Version]:
    found: list[Version] = []
    for file in _records():
        with suppress(FileNotFoundError):  # The plug-in removes a record when its pod ends.
            about = file.stat()
            found.append((file.name, about.st_ino, about.st_mtime_ns, about.st_size))
    return sorted(found)


def _pod(record: Path, pods: Mapping[Key, Mapping[str, Any]]) -> Pod | None:
    """None while the record is half written, already gone, or of a pod that the API no longer knows."""
    try:
        told = json.loads(record.read_text())
        ip = told["result"]["ips"][0]["address"].partition("/")[0]
    except (FileNotFoundError, ValueError, KeyError, IndexError):
        return None
    who = dict(told["cniArgs"])
    thing = pods.get((who["K8S_POD_NAMESPACE"], who["K8S_POD_NAME"]))
    if thing is None:
        return None
    containers = thing["spec"]["containers"]
    ports = [port for container in containers for port in container.get("ports") or [] if "name" in port]
    return Pod(
        who["K8S_POD_NAMESPACE"],
        ip,
        thing["metadata"].get("labels") or {},
        {port["name"]: port["containerPort"] for port in ports},
    )


def _follow(kind: str, known: Known, trust: ssl.SSLContext) -> None:
    """Lists and watches for ever; the API server may be away for a while."""
    while True:
        try:
            version = _list(kind, known, trust)
            _watch(kind, version, known, trust)
        except (OSError, http.client.HTTPException, ValueError) as error:
            print(f"{kind}: {error}", flush=True)
            time.sleep(0.5)


def _list(kind: str, known: Known, trust: ssl.SSLContext) -> str:
    answer = json.load(_get(KINDS[kind], trust))
    known.things[kind] = {_key(thing): thing for thing in answer["items"]}
    known.listed.add(kind)
    known.changed.set()
    return answer["metadata"]["resourceVersion"]


def _watch(kind: str, version: str, known: Known, trust: ssl.SSLContext) -> None:
    for line in _get(f"{KINDS[kind]}?watch=1&resourceVersion={version}", trust):
        event = json.loads(line)
        if event["type"] == "ERROR":
            return
        if event["type"] == "DELETED":
            known.things[kind].pop(_key(event["object"]), None)
        else:
            known.things[kind][_key(event["object"])] = event["object"]
        known.changed.set()


def _get(path: str, trust: ssl.SSLContext) -> http.client.HTTPResponse:
    connection = http.client.HTTPSConnection("127.0.0.1", API_PORT, context=trust)
    connection.request("GET", path)
    answer = connection.getresponse()
    if answer.status != 200:
        raise ValueError(f"the API server answered {answer.status}")
    return answer


def _key(thing: Mapping[str, Any]) -> Key:
    metadata = thing["metadata"]
    return metadata.get("namespace", ""), metadata["name"]


if __name__ == "__main__":
    main(Place(sys.argv[1]))
