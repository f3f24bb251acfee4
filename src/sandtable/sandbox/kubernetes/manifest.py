"""One run's Job: the template, filled with a name, labels, the order, deadlines and sizes. Pure.

The order is an annotation of the pod, which the container reads as a file.
"""

from __future__ import annotations

import base64
import copy
import hashlib
import json
import math
import re
import zlib
from dataclasses import dataclass, field
from typing import Any

from sandtable.errors import InvalidInput
from sandtable.sandbox.executor import Kind
from sandtable.sandbox.job import Job, Limits
from sandtable.sandbox.kubernetes import names
from sandtable.sandbox.kubernetes.template import Object, pod_of, runner_of
from sandtable.sandbox.wire import order_of

STORE = "/data"
ORDER_FOLDER = "/job"
SCRATCH = "/scratch"
PORT = 8377
_OVERHEAD_MB: dict[Kind, int] = {"sql": 160, "py": 448}
"""Memory of engine and libraries, beside what the job may use. The sandbox's limit is reached first and gives a clear
error; the container's limit is the backstop."""
_REQUEST_MB: dict[Kind, int] = {"sql": 128, "py": 320}
_REQUEST_CPU = "100m"
MOST_BYTES = 200 << 10
"""All annotations of an object together may have 256 KiB."""
# Amounts as Kubernetes writes them: `100m`, `1.5`, `256Mi`, `2G`.
_QUANTITY = re.compile(r"(?P<number>\d+(?:\.\d+)?)(?P<unit>m|[KMGTPE]i|[kMGTPE])?")
_SCALE = {"": 1.0, "m": 1e-3, "k": 1e3, "Ki": 2.0**10}
for _power, _letter in enumerate("MGTPE", start=2):
    _SCALE |= {_letter: 1e3**_power, f"{_letter}i": 2.0 ** (10 * _power)}


@dataclass(frozen=True, slots=True)
class Size:
    """What a pod must be large enough for."""

    kind: Kind = "sql"
    memory_mb: int = 1024
    threads: int = 1
    wall_s: float = 30.0
    tmp_mb: int = 256

    @classmethod
    def of(cls, kind: Kind, limits: Limits, threads: int) -> Size:
        return cls(kind, limits.memory_mb, threads, limits.wall_ms / 1e3, limits.tmp_mb)

    def holds(self, other: Size) -> bool:
        return (
            self.kind == other.kind
            and self.memory_mb >= other.memory_mb
            and self.threads >= other.threads
            and self.wall_s >= other.wall_s
            # Equal, not larger: this limit ends a run that spills too much.
            and self.tmp_mb == other.tmp_mb
        )

    def and_also(self, other: Size) -> Size:
        """Large enough for both, with the scratch space of `other`."""
        return Size(
            self.kind,
            max(self.memory_mb, other.memory_mb),
            max(self.threads, other.threads),
            max(self.wall_s, other.wall_s),
            other.tmp_mb,
        )


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Time limits in seconds for each part of a run beside the run itself."""

    queue: float = 120.0
    """Until a pod has started: a full quota, a full cluster, a slow registry."""
    start: float = 60.0
    """From a pod's start to the run's: pulling the image, loading the engine."""
    finished: int = 300
    """How long a finished Job is kept for a server that was restarted meanwhile."""
    outage: float = 300.0
    """How long the API may be away before a run is given up."""


@dataclass(frozen=True, slots=True)
class Filling:
    name: str
    labels: dict[str, str]
    config: dict[str, Any]
    """Configuration of `sandtable_runner.once`, without where the data lies."""
    size: Size
    order: str | None = None
    """Packed; None for a pod that gets its order later."""
    annotations: dict[str, str] = field(default_factory=dict)
    waits_s: float = 0.0
    """How long the pod may wait for its order."""


def fill(template: Object, given: Filling, timeouts: Timeouts) -> Object:
    job = copy.deepcopy(template)
    alive_s = math.ceil(given.waits_s + given.size.wall_s + timeouts.start)
    metadata = job.setdefault("metadata", {})
    metadata.pop("namespace", None)
    metadata["name"] = given.name
    metadata["labels"] = {**(metadata.get("labels") or {}), **given.labels}
    metadata["annotations"] = {**(metadata.get("annotations") or {}), **given.annotations}
    job["spec"] |= {
        "backoffLimit": 0,
        "completions": 1,
        "parallelism": 1,
        # Counts from the Job's creation, so it includes the time in the queue; the pod's own counts from its start.
        "activeDeadlineSeconds": alive_s + math.ceil(timeouts.queue),
        "ttlSecondsAfterFinished": timeouts.finished,
    }
    pod_metadata = job["spec"]["template"].setdefault("metadata", {})
    pod_metadata["labels"] = {**(pod_metadata.get("labels") or {}), **given.labels}
    pod = pod_of(job)
    pod["activeDeadlineSeconds"] = alive_s
    pod.setdefault("terminationGracePeriodSeconds", 0)
    container = runner_of(job)
    container["args"] = [json.dumps({"store": STORE, **given.config}, separators=(",", ":"))]
    container["resources"] = _resources(container.get("resources") or {}, given.size)
    _give_scratch(pod, container, given.size.tmp_mb)
    if given.order is not None:
        pod_metadata["annotations"] = {**(pod_metadata.get("annotations") or {}), names.ORDER: given.order}
        _show_order(pod, container)
    return job


def _resources(given: Object, size: Size) -> Object:
    """Limits are the run's; requests are the template's, if any, capped at the limits."""
    # Files in the scratch space are memory too.
    memory = size.memory_mb + size.tmp_mb + _OVERHEAD_MB[size.kind]
    limits = {**(given.get("limits") or {}), "memory": f"{memory}Mi", "cpu": str(size.threads)}
    requests = {"memory": f"{min(memory, _REQUEST_MB[size.kind])}Mi", "cpu": _REQUEST_CPU}
    requests |= given.get("requests") or {}
    fitting = {name: at_most(wanted, limits.get(name)) for name, wanted in requests.items()}
    return {**given, "limits": limits, "requests": fitting}


def _show_order(pod: Object, container: Object) -> None:
    source = {"path": "order", "fieldRef": {"fieldPath": f"metadata.annotations['{names.ORDER}']"}}
    _mount(pod, container, ORDER_FOLDER, {"downwardAPI": {"items": [source], "defaultMode": 0o444}})


def _give_scratch(pod: Object, container: Object, size_mb: int) -> None:
    mounted = {mount.get("mountPath") for mount in container.get("volumeMounts") or ()}
    if size_mb and SCRATCH not in mounted:
        _mount(pod, container, SCRATCH, {"emptyDir": {"medium": "Memory", "sizeLimit": f"{size_mb}Mi"}})


def _mount(pod: Object, container: Object, where: str, volume: Object) -> None:
    name = f"sandtable-{where.strip('/')}"
    pod["volumes"] = [*(pod.get("volumes") or ()), {"name": name, **volume}]
    mount = {"name": name, "mountPath": where, "readOnly": where != SCRATCH}
    container["volumeMounts"] = [*(container.get("volumeMounts") or ()), mount]


def amount(text: object) -> float | None:
    """None for a text of another form, which the cluster will check."""
    found = _QUANTITY.fullmatch(str(text))
    return float(found["number"]) * _SCALE[found["unit"] or ""] if found else None


def at_most(wanted: object, limit: object) -> object:
    """`wanted`, or `limit` where it is less."""
    this, that = amount(wanted), amount(limit)
    return limit if this is not None and that is not None and this > that else wanted


def packed_order(job: Job) -> str:
    """Raises InvalidInput when it does not fit."""
    text = json.dumps(order_of(job), separators=(",", ":")).encode()
    packed = base64.b64encode(zlib.compress(text, 9)).decode()
    if len(packed) > MOST_BYTES:
        raise InvalidInput(
            f"this text is too long for a Kubernetes Job: {len(packed):,} bytes compressed, {MOST_BYTES:,} fit",
            suggestion="Shorten it: long lists of values belong into a table that is joined",
        )
    return packed


def digest_of(job: Job) -> str:
    """Digest of the order without the job's id: equal for all attempts of one run."""
    order = order_of(job.model_copy(update={"id": ""}))
    return hashlib.sha256(json.dumps(order, sort_keys=True).encode()).hexdigest()
