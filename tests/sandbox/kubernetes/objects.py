"""Jobs of ours, and pods as an API server tells them."""

from __future__ import annotations

from typing import Any

from sandtable.sandbox.job import DataRef, Job
from sandtable.sandbox.kubernetes.pods import Pod, read_pod

RUN = "run_" + "0123456789abcdef" * 2
NONCE = "n" * 32


def job(text: str = "SELECT 1", job_id: str = f"{RUN}-1", **given: Any) -> Job:
    told = {
        "mode": "sql",
        "dataset_version": "sha256:" + "a" * 64,
        "data": (DataRef(table="t", path="t.parquet"),),
    }
    return Job.model_validate({"id": job_id, "text": text, **told, **given})


def pod(
    *,
    state: dict[str, Any] | None = None,
    phase: str = "Pending",
    node: str = "node-1",
    status: dict[str, Any] | None = None,
    metadata: dict[str, Any] | None = None,
    spec: dict[str, Any] | None = None,
) -> Pod:
    raw: dict[str, Any] = {
        "metadata": {"name": "job-x1", "creationTimestamp": "2026-01-01T00:00:00Z", **(metadata or {})},
        "spec": {"nodeName": node, "containers": [{"name": "runner"}], **(spec or {})},
        "status": {"phase": phase, **(status or {})},
    }
    if state is not None:
        raw["status"]["containerStatuses"] = [{"name": "runner", "state": state}]
    return read_pod(raw)


def waiting(reason: str, message: str = "") -> dict[str, Any]:
    return {"waiting": {"reason": reason, "message": message}}


def ended(code: int, reason: str = "Error") -> dict[str, Any]:
    return {"terminated": {"exitCode": code, "reason": reason}}
