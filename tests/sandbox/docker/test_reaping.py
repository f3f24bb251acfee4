"""What a crashed server leaves is gone soon, and what living servers have stays."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from sandtable.sandbox.docker.engine import INSTANCE, Owner, _is_too_old, _moment
from sandtable.sandbox.docker.executor import DockerExecutor
from tests.needs import RUNNER_IMAGE
from tests.sandbox.docker.engine import containers, docker, until
from tests.sandbox.stores import Store, sql_job

_NEEDED = pytest.mark.needs("docker_images")


@contextlib.contextmanager
def _server(store: Store) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process of its own, and the label of its containers."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.sandbox.docker.server", str(store.root)],
        stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    try:
        assert process.stdout is not None
        with process.stdout:
            # It may log before.
            line = next(line for line in process.stdout if line.startswith("{"))
            yield process, json.loads(line)["instance"]
    finally:
        process.kill()
        process.wait()


@_NEEDED
async def test_a_killed_servers_containers_end_by_themselves(store: Store) -> None:
    """The one that waits and the one that works: both lose their input with the server."""
    with _server(store) as (process, instance):
        await until(instance, 2)
        process.kill()
        process.wait()
        await until(instance, 0)


@_NEEDED
async def test_what_is_left_of_a_dead_server_is_reaped_at_the_next_start(
    store: Store, executor: DockerExecutor
) -> None:
    with _server(store) as (process, instance):
        labels = _labels_of(instance)
    process.wait()
    name = _never_started(labels)
    await executor.start()
    assert name not in containers(instance)


@_NEEDED
async def test_living_servers_leave_each_other_alone(store: Store, executor: DockerExecutor) -> None:
    with _server(store) as (_, instance):
        others = await until(instance, 2)
        await executor.start()
        await executor.warm(sql_job(store, "example", ""))
        assert containers(instance) == others
        assert len(await until(executor.instance, 1)) == 1


@_NEEDED
async def test_a_server_elsewhere_is_not_judged(executor: DockerExecutor) -> None:
    """Of another machine or container, whose processes cannot be seen from here."""
    labels = Owner(world="another-boot/pid:[1]").labels(None, "sql")
    name = _never_started(labels)
    try:
        await executor.start()
        assert name in containers(labels[INSTANCE])
    finally:
        docker("rm", "--force", name)


def _labels_of(instance: str) -> dict[str, str]:
    name = next(iter(containers(instance)))
    return json.loads(docker("inspect", "--format", "{{json .Config.Labels}}", name))


def _never_started(labels: dict[str, str]) -> str:
    """As a server leaves it that dies between two calls."""
    given = [part for name, value in labels.items() for part in ("--label", f"{name}={value}")]
    return docker("inspect", "--format", "{{.Name}}", docker("create", *given, RUNNER_IMAGE, "{}")).lstrip(
        "/"
    )


def test_an_owner_knows_whether_another_is_gone() -> None:
    me = Owner()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        labels = Owner(pid=process.pid).labels(None, "sql")
        assert not me.knows_gone(labels)
    assert me.knows_gone(labels)
    assert not me.knows_gone(me.labels(None, "sql"))


@pytest.mark.parametrize("owner", ["", "x", "a/b/c", "another-boot/pid:[1]/1/2"])
def test_an_owner_does_not_judge_what_it_cannot_see(owner: str) -> None:
    assert not Owner().knows_gone({"sandtable.dev/owner": owner})


def test_a_number_that_is_used_again_is_another_process() -> None:
    labels = Owner().labels(None, "sql")
    owner = labels["sandtable.dev/owner"].rpartition("/")[0] + "/1"
    assert Owner().knows_gone({"sandtable.dev/owner": owner})


@pytest.mark.parametrize(
    ("state", "age_s", "too_old"),
    [("created", 60, False), ("created", 3600, True), ("exited", 3600, True), ("running", 3600, False),
     ("running", 30 * 24 * 3600, True)],
)  # fmt: skip
def test_how_old_a_container_may_get(state: str, age_s: int, too_old: bool) -> None:
    now = _moment("2026-05-01T12:00:00.123456789+02:00")
    assert now is not None
    assert _is_too_old({"State": state, "Created": int(now) - age_s}, now) is too_old
    assert not _is_too_old({"State": state, "Created": int(now) - age_s}, None)
