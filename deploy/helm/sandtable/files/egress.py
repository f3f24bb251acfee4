"""`helm test`: a pod like a run's cannot reach what this pod can.

The same connections are tried here (the control) and by a Job made from the runs' own template. Only where the control
gets through does the Job's failure prove anything; where it never does, the test says that it cannot tell, and fails.
"""

from __future__ import annotations

import json
import secrets
import socket
import sys
import time
import urllib.error
from pathlib import Path
from typing import Any, NoReturn

from cluster_api import ClusterApi

GIVEN: dict[str, Any] = json.loads(sys.argv[1])
TARGETS: list[str] = GIVEN["targets"]
SECONDS = float(GIVEN["seconds"])
TEMPLATE = Path("/etc/sandtable/runner/job.json")
TRIES, PAUSE_S, PATIENCE_S = 4, 1.5, 2.0

PROBE = f"""
import json, socket, sys, time
from concurrent.futures import ThreadPoolExecutor
def reaches(address):
    try:
        socket.create_connection(address, {PATIENCE_S}).close()
        return True
    except OSError:
        return False
addresses = [tuple(address) for address in json.loads(sys.argv[1])]
with ThreadPoolExecutor(len(addresses)) as together:
    for attempt in range({TRIES}):
        print(json.dumps(list(together.map(reaches, addresses))), flush=True)
        time.sleep({PAUSE_S})
"""
"""A network may take a moment to learn of a pod: the last attempt counts, an earlier one is mentioned."""


def main() -> None:
    addresses = [resolve(target) for target in TARGETS]
    controls = [reaches(address) for address in addresses]
    proving = [i for i, reached in enumerate(controls) if reached]
    if not proving:
        stop(f"CANNOT TELL: this pod, which no policy binds, reaches none of {', '.join(TARGETS)} either")
    attempts = try_as_a_run([addresses[i] for i in proving])
    for place, i in enumerate(proving):
        said = [attempt[place] for attempt in attempts]
        if said[-1]:
            stop(
                f"FAILED: a pod like a run's reaches {TARGETS[i]}. "
                "Does the cluster's network enforce NetworkPolicy?"
            )
        late = " (WARNING: only after a moment; at first it got through)" if any(said) else ""
        say(f"{TARGETS[i]}: this pod reaches it, a pod like a run's does not{late}")
    for i in set(range(len(TARGETS))) - set(proving):
        say(f"{TARGETS[i]}: cannot tell, this pod does not reach it either")


def resolve(target: str) -> tuple[str, int]:
    """Names are looked up here: a run cannot even do that."""
    host, _, port = target.rpartition(":")
    try:
        found = socket.getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_STREAM)
    except OSError as error:
        stop(f"CANNOT TELL: {target} is not known here: {error}")
    return str(found[0][4][0]), int(port)


def reaches(address: tuple[str, int]) -> bool:
    try:
        socket.create_connection(address, PATIENCE_S).close()
    except OSError:
        return False
    return True


def try_as_a_run(addresses: list[tuple[str, int]]) -> list[list[bool]]:
    api = ClusterApi(**GIVEN["cluster"])
    job = json.loads(TEMPLATE.read_text(encoding="utf-8"))
    job["metadata"]["name"] = f"egress-test-{secrets.token_hex(4)}"
    job["spec"]["activeDeadlineSeconds"] = int(SECONDS)
    container = job["spec"]["template"]["spec"]["containers"][0]
    container |= {"command": ["python3", "-I", "-c", PROBE, json.dumps(addresses)], "args": []}
    name = api.call("POST", api.jobs(), job)["metadata"]["name"]
    try:
        said = finished(api, name)
    finally:
        api.call("DELETE", api.jobs(name, "propagationPolicy=Background"))
    lines = [json.loads(line) for line in said.splitlines() if line.startswith("[")]
    if len(lines) != TRIES:
        stop(f"CANNOT TELL: the pod did not try all it should: {said[-2000:]}")
    return lines


def finished(api: ClusterApi, name: str) -> str:
    """The log of the Job's pod, once it has ended."""
    deadline = time.monotonic() + SECONDS
    pod: dict[str, Any] = {}
    while time.monotonic() < deadline:
        pods = api.call("GET", api.pods(query=f"labelSelector=job-name%3D{name}"))["items"]
        pod = pods[0] if pods else {}
        if pod.get("status", {}).get("phase") in ("Succeeded", "Failed"):
            return api.text(api.pods(f"{pod['metadata']['name']}/log"))
        time.sleep(0.5)
    stop(f"CANNOT TELL: the pod of Job {name} did not end: {pod.get('status') or 'there is none'}")


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def stop(why: str) -> NoReturn:
    say(why)
    sys.exit(1)


if __name__ == "__main__":
    try:
        main()
    except urllib.error.HTTPError as error:
        stop(f"CANNOT TELL: the cluster's API answered {error.code}: {error.read(2000)!r}")
