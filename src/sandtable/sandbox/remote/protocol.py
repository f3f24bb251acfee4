"""The messages between server and `sandtable execd`, as JSON over HTTP. docs/execd.md describes them for readers.

Invariant: a job is sent as the Job of every tier, its result as the JobResult of every tier.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from sandtable.sandbox.executor import Hello, JobStatus
from sandtable.sandbox.job import JobResult, Mode

PROTOCOL = 1
"""Incremented when an old end could misunderstand a new one."""
JOBS, HELLO, WARM, HEALTH = "/v1/jobs", "/v1/hello", "/v1/warm", "/healthz"
TRACEPARENT = "traceparent"
"""Header with the span that a job belongs to (W3C Trace Context). No proof covers it, and nothing but traces depends on
it."""
LONGEST_WAIT_S = 25.0
"""Shorter than the idle timeout of most proxies."""

Why = Literal["full", "unlike", "unknown_job", "unproven"]
"""In an error's `details.why`: selects the client's reaction."""


class _Wire(BaseModel):
    # A newer end may send fields that this one does not know.
    model_config = ConfigDict(frozen=True, extra="ignore")


class Offer(_Wire):
    """Identity and abilities of a replica."""

    protocol: int
    version: str
    """Of Sandtable."""
    replica: str
    """New at every start."""
    engine: str
    layers: tuple[str, ...]
    reasons: tuple[str, ...] = ()
    libraries: str
    """Versions that the results of Python depend on."""
    likeness: str
    """Equal for replicas with the same results and isolation: a job may require one."""
    modes: tuple[Mode, ...]
    data: tuple[str, ...]
    """Versions of datasets that the service has."""


class JobState(_Wire):
    """State of a job."""

    protocol: int = PROTOCOL
    job_id: str
    status: JobStatus
    replica: str
    result: JobResult | None = None
    """Once it is done."""


class Received(_Wire):
    """A JobState as received: the result is untrusted until it was checked."""

    job_id: str
    status: JobStatus
    replica: str
    result: dict[str, Any] | None = None


def likeness_of(hello: Hello, libraries: str) -> str:
    return hashlib.sha256(json.dumps([hello.engine, hello.layers, libraries]).encode()).hexdigest()[:16]


def to_json(model: BaseModel) -> bytes:
    """ASCII: text may hold lone surrogates, which have no UTF-8 form."""
    return json.dumps(model.model_dump(), separators=(",", ":")).encode("ascii")
