"""The container's own limit of memory: its child goes first, and the supervisor lives to tell."""

from __future__ import annotations

import json
import struct

import pytest

from sandtable.errors import ErrorCode
from sandtable.sandbox.report import RunnerReport, result_of
from sandtable.sandbox.wire import order_of
from tests.needs import RUNNER_IMAGE
from tests.sandbox.docker.engine import docker
from tests.sandbox.stores import Store, sql_job

pytestmark = pytest.mark.needs("docker_images")


def test_a_container_that_is_too_small_for_its_job(store: Store) -> None:
    """The job may use more than the container has, which no container of ours would allow."""
    job = sql_job(
        store, "job", "SELECT list(x) FROM range(200000000) AS t(x)", memory_mb=4096, wall_ms=60_000
    )
    body = json.dumps(order_of(job)).encode()
    config = json.dumps({"store": "/data", "nonce": "n"})
    said = docker(
        "run", "--rm", "--interactive", "--network", "none", "--memory", "256m", "--memory-swap", "256m",
        "--volume", f"{store.folder}:/data/versions/{store.folder.name}:ro", RUNNER_IMAGE, config,
        stdin=struct.pack(">I", len(body)) + body,
    )  # fmt: skip
    report = RunnerReport.model_validate_json(said.splitlines()[-1])
    result = result_of(job, report)
    assert result.error is not None
    assert (result.error.code, result.error.type) == (ErrorCode.RUNNER_RESOURCE_EXCEEDED, "MemoryLimit"), (
        report
    )
