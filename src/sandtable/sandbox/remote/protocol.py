"""What server and `sandtable execd` say to each other, as JSON over HTTP. docs/execd.md describes it for readers.

Invariant: a job travels as the Job of every tier, its result as the JobResult of every tier.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from sandtable.sandbox.executor import Hello, JobStatus
from sandtable.sandbox.job import JobResult, Mode

PROTOCOL = 1
"""Raised when an old end could misunderstand a new one."""
JOBS, HELLO, WARM, HEALTH = "/v1/jobs", "/v1/hello", "/v1/warm", "/healthz"
LONGEST_WAIT_S = 25.0
"""Shorter than what most proxies take for a dead connection."""

Why = Literal["full", "unlike", "unknown_job", "unproven"]
"""In an error's `details.why`: what a client does about it."""


class _Wire(BaseModel):
    # A newer end may say more than this one understands.
    model_config = ConfigDict(frozen=True, extra="ignore")


class Offer(_Wire):
    """Who answers, and what it can do."""

    protocol: int
    version: str
    """Of Sandtable."""
    replica: str
    """Another one after every start."""
    engine: str
    layers: tuple[str, ...]
    reasons: tuple[str, ...] = ()
    libraries: str
    """What the results of Python depend on."""
    likeness: str
    """Equal for replicas whose results and isolation are the same: a job may name the one it wants."""
    modes: tuple[Mode, ...]
    data: tuple[str, ...]
    """Versions of datasets that are there."""


class JobState(_Wire):
    """How a job stands."""

    protocol: int = PROTOCOL
    job_id: str
    status: JobStatus
    replica: str
    result: JobResult | None = None
    """Once it is done."""


class Received(_Wire):
    """A JobState as its reader takes it: the result is a stranger's until it was looked at."""

    job_id: str
    status: JobStatus
    replica: str
    result: dict[str, Any] | None = None


def likeness_of(hello: Hello, libraries: str) -> str:
    return hashlib.sha256(json.dumps([hello.engine, hello.layers, libraries]).encode()).hexdigest()[:16]


def to_json(model: BaseModel) -> bytes:
    """ASCII: text may hold what has no UTF-8 form."""
    return json.dumps(model.model_dump(), separators=(",", ":")).encode("ascii")
