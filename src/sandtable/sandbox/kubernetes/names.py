"""Names of Jobs, and the labels by which they are found.

Invariant: the name depends on the installation and the job's id alone. Creating the Job of an id a second time
conflicts with the first one.
"""

from __future__ import annotations

import hashlib
import re

_LONGEST = 63
_PREFIX = "sandtable-"
_ATTEMPT = re.compile(r"(?P<run>run_[0-9a-f]{32})-(?P<attempt>\d{1,6})")
"""Strict: Jobs of one run replace each other, so no other id may match."""
_LABEL = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")

NAME = "app.kubernetes.io/name"
APP = "sandtable-runner"
INSTANCE = "sandtable.dev/instance"
"""The installation: all replicas of a server have the same."""
REPLICA = "sandtable.dev/replica"
"""The process that made it."""
RUN = "sandtable.dev/run"
ATTEMPT = "sandtable.dev/attempt"
WARM = "sandtable.dev/warm"
ORDER = "sandtable.dev/order"
"""Annotation: the order that the runner reads."""
DIGEST = "sandtable.dev/digest"
"""Annotation: digest of the order without the job's id, so that attempts of one run are recognised as the same."""
NONCE = "sandtable.dev/nonce"


def job_name(instance: str, job_id: str, again: int = 0) -> str:
    """`again`: how often the sandbox of this job was lost before."""
    identity = f"{instance}\n{job_id}\n{again}"
    digest = hashlib.sha256(identity.encode(errors="surrogatepass")).hexdigest()[:10]
    readable = re.sub(r"[^a-z0-9]+", "-", job_id.lower()).strip("-")
    room = _LONGEST - len(_PREFIX) - len(digest) - 1
    return _PREFIX + "-".join(filter(None, (readable[:room].strip("-"), digest)))


def run_and_attempt(job_id: str) -> tuple[str, int]:
    """A job that belongs to no run counts as its own run."""
    found = _ATTEMPT.fullmatch(job_id)
    return (found["run"], int(found["attempt"])) if found else (job_id, 1)


def label_value(text: str) -> str:
    """Unchanged when Kubernetes allows it, else its digest."""
    if _LABEL.fullmatch(text):
        return text
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:40]


def labels_of(instance: str, replica: str, job_id: str) -> dict[str, str]:
    run, attempt = run_and_attempt(job_id)
    return {
        NAME: APP,
        INSTANCE: label_value(instance),
        REPLICA: label_value(replica),
        RUN: label_value(run),
        ATTEMPT: str(attempt),
    }


def selector(**wanted: str) -> str:
    """`selector(instance=…, run=…)`: Jobs and pods of ours with these labels."""
    keys = {"instance": INSTANCE, "replica": REPLICA, "run": RUN, "warm": WARM, "job": "job-name"}
    parts = [f"{keys[name]}={label_value(value)}" for name, value in wanted.items()]
    return ",".join([f"{NAME}={APP}", *parts])
