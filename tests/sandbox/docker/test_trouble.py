"""Every trouble with the engine is told to the operator: what is wrong, and what to do about it."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from pathlib import Path
from typing import Any

import pytest

from sandtable.errors import ErrorCode, InvalidInput, SandboxUnavailable
from sandtable.sandbox.docker.api import socket_path
from sandtable.sandbox.docker.engine import with_python
from sandtable.sandbox.docker.executor import DockerExecutor
from sandtable.sandbox.job import Job
from tests.needs import RUNNER_IMAGE
from tests.sandbox import as_user
from tests.sandbox.docker.engine import HOST
from tests.sandbox.docker.scripted import INFO, VERSION, WELL, Answers, engine
from tests.sandbox.stores import Store, sql_job

_NEEDED = pytest.mark.needs("docker_images")


async def _trouble(store: Path, host: str | None, job: Job | None = None, **given: Any) -> SandboxUnavailable:
    """What start and a job both run into."""
    executor = DockerExecutor(store, host=host, **{"image": RUNNER_IMAGE, **given})
    try:
        with pytest.raises(SandboxUnavailable) as found:
            if job is None:
                await executor.start()
            else:
                await executor.submit(job)
                await executor.result(job.id)
    finally:
        await executor.aclose()
    assert found.value.code == ErrorCode.SANDBOX_UNAVAILABLE
    assert found.value.suggestion
    return found.value


async def test_no_socket(tmp_path: Path) -> None:
    error = await _trouble(tmp_path, f"unix://{tmp_path}/nowhere.sock")
    assert "no such socket" in error.message and "DOCKER_HOST" in error.suggestion


async def test_nobody_listens(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as left_behind:
        left_behind.bind(str(tmp_path / "dead.sock"))
    error = await _trouble(tmp_path, f"unix://{tmp_path}/dead.sock")
    assert "not running" in error.message


@pytest.mark.needs("root")
def test_a_socket_that_refuses_this_user(open_folder: Path) -> None:
    path = open_folder / "private.sock"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()
        path.chmod(0o660)
        done = as_user.run(
            "tests.sandbox.docker.refused", f"unix://{path}", uid=as_user.ORDINARY_UID, reach=[open_folder]
        )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["code"] == "SANDBOX_UNAVAILABLE"
    assert "may not use" in told["message"] and "rootless" in told["suggestion"]


@pytest.mark.parametrize("host", ["tcp://10.0.0.1:2375", "ssh://me@there", "npipe:////./pipe/docker_engine"])
def test_an_address_that_is_no_socket(host: str) -> None:
    with pytest.raises(InvalidInput, match="socket of this machine") as found:
        socket_path(host)
    assert "execd" in found.value.suggestion


@pytest.mark.parametrize(
    ("host", "path"), [("unix:///run/x.sock", "/run/x.sock"), ("/run/x.sock", "/run/x.sock")]
)
def test_an_address_that_is_one(host: str, path: str) -> None:
    assert socket_path(host) == path


@_NEEDED
async def test_no_image(store: Store) -> None:
    error = await _trouble(store.root, HOST, image="sandtable-no-such-image:1")
    assert "sandtable-no-such-image:1" in error.message
    assert "docker pull" in error.suggestion and "build_images" in error.suggestion


@_NEEDED
async def test_no_such_runtime(store: Store) -> None:
    error = await _trouble(store.root, HOST, runtime="no-such-runtime")
    assert "'no-such-runtime'" in error.message and "SANDTABLE_DOCKER_RUNTIME" in error.suggestion


@pytest.mark.parametrize(
    ("components", "info", "advice"),
    [
        ("Engine", {"Runtimes": {"runc": {}}}, "daemon.json"),
        ("Podman Engine", {"Runtimes": {"runsc": {}}, "DefaultRuntime": "crun"}, "containers.conf"),
    ],
    ids=["docker", "podman, which would pass it over"],
)
async def test_a_runtime_that_would_not_be_used(
    tmp_path: Path, components: str, info: dict[str, Any], advice: str
) -> None:
    version = {**VERSION, "Components": [{"Name": components}]}
    answers: Answers = {**WELL, "/version": (200, version), "/info": (200, {**INFO, **info})}
    async with engine(tmp_path, answers) as host:
        error = await _trouble(tmp_path, host, runtime="runsc")
    assert "'runsc'" in error.message and advice in error.suggestion


@_NEEDED
async def test_data_that_the_engine_does_not_see(store: Store) -> None:
    job = sql_job(store, "job", "SELECT 1").model_copy(update={"dataset_version": "sha256:" + "c" * 64})
    error = await _trouble(store.root, HOST, job)
    if "did not get ready" in error.message:
        # Podman makes the folder that is not there.
        (store.root / "versions" / ("c" * 64)).rmdir()
        return
    assert "does not see the data store" in error.message and str(store.root) in error.suggestion


@_NEEDED
async def test_data_that_an_image_does_not_have(store: Store) -> None:
    """The runner is asked to get ready for a folder that is not there."""
    job = sql_job(store, "job", "SELECT 1").model_copy(update={"dataset_version": "sha256:" + "c" * 64})
    error = await _trouble(store.root, HOST, job, data="baked")
    assert "did not get ready" in error.message and "c" * 64 in error.message


async def test_a_job_for_a_place_outside_the_store(store: Store, tmp_path: Path) -> None:
    async with engine(tmp_path, WELL) as host:
        executor = DockerExecutor(store.root, image="image", host=host)
        options = {"folder": "../..", "staging": "x", "file_mb": 1}
        await executor.submit(Job(id="job", mode="ingest", options=options))
        with pytest.raises(InvalidInput, match="no place in the data store"):
            await executor.result("job")
        await executor.aclose()


async def test_sessions_are_not_for_containers(executor: DockerExecutor) -> None:
    with pytest.raises(InvalidInput, match="'session'"):
        await executor.submit(Job(id="job", mode="session"))


_FULL = "mkdir /var/lib/docker/overlay2/x: no space left on device"
_SCRIPTS: dict[str, tuple[Answers, str, str]] = {
    "the disk is full": ({"/create": (500, {"message": _FULL})}, "disk of the container engine is full", "prune"),
    "an old engine": ({"/version": (200, {**VERSION, "ApiVersion": "1.24"})}, "offers version 1.24", "19.03"),
    "an engine of the future": (
        {"/version": (200, {**VERSION, "ApiVersion": "2.9", "MinAPIVersion": "2.0"})}, "offers version 2.9", "Docker",
    ),
    "no engine at all": ({"/version": (200, {})}, "version none", "Docker"),
    "a page": ({"/version": b"HTTP/1.1 200 OK\r\n\r\n<html>"}, "does not answer", "log"),
    "nonsense": ({"/version": b"nonsense\r\n\r\n"}, "does not answer", "log"),
    "it hangs up": ({"/version": b""}, "does not answer", "log"),
    "half an answer": ({"/info": b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"}, "does not answer", "log"),
    "it refuses": ({"/create": (500, {"message": "OCI runtime create failed"})}, "OCI runtime create failed", "log"),
    "it refuses without words": ({"/create": (500, None)}, "status 500", "log"),
    "it switches protocols unasked": (
        {"/info": b"HTTP/1.1 101 X\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n"}, "does not answer", "log",
    ),
    "an answer that is deep": ({"/info": b"HTTP/1.1 200 OK\r\n\r\n" + b"[" * 100_000}, "no container engine", "log"),
    "it does not attach": ({"/create": (201, {"Id": "x"}), "/attach": (200, {})}, "does not hand over", "log"),
}  # fmt: skip


@pytest.mark.parametrize(("answers", "message", "advice"), _SCRIPTS.values(), ids=list(_SCRIPTS))
async def test_what_the_engine_says_is_told(
    tmp_path: Path, answers: Answers, message: str, advice: str
) -> None:
    async with engine(tmp_path, {**WELL, **answers}) as host:
        error = await _trouble(tmp_path, host)
    assert message in error.message, error.message
    assert advice in error.suggestion


async def test_an_answer_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandtable.sandbox.docker.api._MOST_BYTES", 1 << 20)
    async with engine(tmp_path, {**WELL, "/info": (200, {"x": "x" * (2 << 20)})}) as host:
        error = await _trouble(tmp_path, host)
    assert "more than 1 MiB" in error.message


async def test_an_engine_that_is_silent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandtable.sandbox.docker.api._CALL_S", 0.1)
    async with engine(tmp_path, WELL, slow="/version") as host:
        error = await _trouble(tmp_path, host)
    assert "no answer to GET /version within 0.1 s" in error.message


async def test_output_that_comes_with_the_answer_to_attach(tmp_path: Path) -> None:
    """The engine may send the head of its answer and the first output in one packet."""
    line = json.dumps({"kind": "unavailable", "message": "no walls here", "reasons": []}).encode() + b"\n"
    head = b"HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n"
    answers: Answers = {
        "/create": (201, {"Id": "x"}),
        "/attach": head + struct.pack(">BxxxI", 1, len(line)) + line,
        "/start": (200, None),
        "/wait": (200, {"StatusCode": 1}),
    }
    async with engine(tmp_path, {**WELL, **answers}) as host:
        error = await _trouble(tmp_path, host)
    assert "no walls here" in error.message


async def test_a_container_that_nobody_waits_for_any_more_is_removed_once_it_is_made(tmp_path: Path) -> None:
    """A removal that overtook its making would find nothing, and the container would stay."""
    answered: list[str] = []
    async with engine(
        tmp_path, {**WELL, "/create": (201, {"Id": "x"})}, slow="/create", answered=answered
    ) as host:
        executor = DockerExecutor(tmp_path, image="image", host=host)
        await executor.submit(Job(id="job", mode="parse"))
        await asyncio.sleep(0.2)
        await executor.cancel("job")
        assert (await executor.result("job")).status == "cancelled"
        await executor.aclose()
    made, removed = answered[-2:]
    assert made.endswith("/containers/create")
    assert removed.startswith("DELETE") and "/containers/sandtable-" in removed


async def test_trouble_does_not_last(tmp_path: Path) -> None:
    """The engine is asked anew each time."""
    answers = dict(WELL)
    async with engine(tmp_path, answers) as host:
        executor = DockerExecutor(tmp_path, image="image", host=host)
        for message in ("first", "second"):
            answers["/create"] = (500, {"message": message})
            with pytest.raises(SandboxUnavailable, match=message):
                await executor.start()
        await executor.aclose()


async def test_warming_in_vain_is_not_an_error(tmp_path: Path) -> None:
    """The next job meets the same trouble in the open."""
    executor = DockerExecutor(tmp_path, image="image", host=f"unix://{tmp_path}/nowhere.sock")
    await executor.warm(Job(id="job", mode="parse"))
    await executor.aclose()


def test_an_engine_without_a_filter_is_told(tmp_path: Path) -> None:
    async def reasons() -> tuple[str, ...]:
        async with engine(tmp_path, {**WELL, "/info": (200, {**INFO, "SecurityOptions": []})}) as host:
            executor = DockerExecutor(tmp_path, image="image", host=host)
            found = (await executor._engine.facts()).reasons
            await executor.aclose()
            return found

    assert "no system call filter" in asyncio.run(reasons())[0]


@pytest.mark.parametrize(
    ("image", "other"),
    [
        ("sandtable-runner", "sandtable-runner-python"),
        ("sandtable-runner:dev", "sandtable-runner-python:dev"),
        ("registry:5000/a/runner", "registry:5000/a/runner-python"),
        ("registry:5000/a/runner:1.2", "registry:5000/a/runner-python:1.2"),
        ("sandtable-runner-python:dev", None),
        ("runner@sha256:" + "d" * 64, None),
    ],
)
def test_the_image_for_code(image: str, other: str | None) -> None:
    assert with_python(image) == other
