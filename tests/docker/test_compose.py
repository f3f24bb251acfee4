"""Compose brings it up, it answers, what it knows outlives it, and it goes without a trace."""

from __future__ import annotations

import base64
import json
import os
import shutil
import socket
import subprocess
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from scripts.images import compose
from tests.docker.engine import docker

FOLDER = Path(__file__).resolve().parents[2] / "deploy" / "compose"
POSTGRES = "sandtable-postgres:dev"
TICKETS = "How many tickets are there?"

pytestmark = pytest.mark.needs("docker_images", "compose")


class Project:
    def __init__(self, name: str, *files: str, **settings: str) -> None:
        self.name = name
        self.server, self.chat = free_port(), free_port()
        self._files = [part for file in ("compose.yaml", *files) for part in ("--file", str(FOLDER / file))]
        own = {"SANDTABLE_POSTGRES_IMAGE": POSTGRES, "SANDTABLE_PORT": str(self.server)}
        self._environment = {**os.environ, **own, "SANDTABLE_CHAT_PORT": str(self.chat), **settings}

    def do(self, *arguments: str) -> str:
        command = compose.find()
        assert command
        done = subprocess.run(
            [*command, "--project-name", self.name, *self._files, *arguments],
            capture_output=True, text=True, env=self._environment, timeout=300, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr + self._logs(arguments)
        return done.stdout

    def start(self, *what: str) -> None:
        self.do("up", "--detach", "--wait", "--wait-timeout", "240", "--no-build", *what)

    def _logs(self, failed: tuple[str, ...]) -> str:
        return "" if failed[0] == "logs" else self.do("logs", "--tail", "30")

    def containers(self) -> list[str]:
        ours = f"label=com.docker.compose.project={self.name}"
        return docker("ps", "--quiet", "--filter", ours).stdout.decode().split()

    def ask(self, path: str, body: dict[str, Any] | None = None, port: int | None = None) -> Any:
        """What a program on this machine gets at a published port, the server's if none is named."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{port or self.server}{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read())

    def answered(self, executor: str) -> str:
        """A question with its right answer and a capsule that verifies; returns the run."""
        told = self.ask("/chat", {"message": TICKETS, "dataset_id": "support"})
        assert told["ending"] == "answered" and told["result"]["rows"] == [[15959]]
        (run,) = told["run_ids"]
        report = self.ask(f"/runs/{run}/verify", {})
        assert report["ok"] and report["complete"]
        statement = json.loads(base64.b64decode(self.ask(f"/runs/{run}/capsule")["payload"]))
        assert statement["predicate"]["executor"] == executor
        return run


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


@contextmanager
def up(name: str, *files: str, **settings: str) -> Iterator[Project]:
    project = Project(name, *files, **settings)
    try:
        project.start()
        yield project
    finally:
        project.do("down", "--volumes", "--timeout", "20")
        left = ["volume", "ls", "--quiet", "--filter", f"label=com.docker.compose.project={name}"]
        assert docker(*left).stdout == b""


@pytest.fixture(scope="module")
def project() -> Iterator[Project]:
    with up("sandtable-test") as project:
        yield project


def test_the_chat_is_one_origin_with_the_server(project: Project) -> None:
    with urllib.request.urlopen(f"http://127.0.0.1:{project.chat}/chat/", timeout=60) as page:
        assert f"apiUrl=http%3A%2F%2F127.0.0.1%3A{project.chat}%2F" in page.url
        assert "script-src 'self'" in page.headers["Content-Security-Policy"]
        text = page.read().decode()
    script = next(part.partition('"')[0] for part in text.split('src="')[1:] if part.startswith("/chat/"))
    with urllib.request.urlopen(f"http://127.0.0.1:{project.chat}{script}", timeout=60) as answer:
        assert answer.headers["Content-Type"].startswith(("text/javascript", "application/javascript"))
        assert "immutable" in answer.headers["Cache-Control"]
    assert (
        project.ask("/chat", {"message": TICKETS, "dataset_id": "support"}, port=project.chat)["ending"]
        == "answered"
    )


def test_containers_may_do_as_little_as_they_need(project: Project) -> None:
    containers = project.containers()
    assert len(containers) == 3
    for container in containers:
        found = json.loads(docker("inspect", container).stdout)[0]
        host = found["HostConfig"]
        assert found["Config"]["User"] not in ("", "0", "root")
        assert host["ReadonlyRootfs"] and host["CapDrop"] == ["ALL"] and not host["Privileged"]
        assert any(option.startswith("no-new-privileges") for option in host["SecurityOpt"])
        assert host["Memory"] and host["PidsLimit"]
        assert not any("docker.sock" in mount["Source"] for mount in found["Mounts"])
        published = [binding for bound in (host["PortBindings"] or {}).values() for binding in bound]
        assert {binding["HostIp"] for binding in published} <= {"127.0.0.1"}


def test_it_answers_and_what_it_knows_outlives_it(project: Project) -> None:
    run = project.answered("local")
    key = project.ask("/keys")
    project.do("down", "--timeout", "20")
    assert project.containers() == []
    project.start()
    assert project.ask(f"/runs/{run}")["rows"] == [[15959]]
    assert project.ask(f"/runs/{run}/verify", {})["ok"]
    assert project.ask("/keys") == key
    # A server that is made anew has another address; the chat's nginx finds it again.
    project.start("--force-recreate", "--no-deps", "server")
    assert project.ask("/readyz", port=project.chat)["ready"]


def test_runs_execute_in_a_service_without_secrets_or_a_way_out() -> None:
    with up("sandtable-execd", "compose.execd.yaml", SANDTABLE_EXECD_TOKEN="t" * 32) as project:
        project.answered("remote")
        execd = project.do("ps", "--quiet", "execd").strip()
        found = json.loads(docker("inspect", execd).stdout)[0]
        assert not found["HostConfig"]["PortBindings"]
        assert [mount["RW"] for mount in found["Mounts"] if mount["Destination"].endswith("/data")] == [False]
        assert not [name for name in found["Config"]["Env"] if "DATABASE" in name or "API_KEY" in name]
        chat = json.loads(docker("inspect", project.do("ps", "--quiet", "chat").strip()).stdout)[0]
        (address,) = (network["IPAddress"] for network in chat["NetworkSettings"]["Networks"].values())
        server = project.do("ps", "--quiet", "server").strip()
        # The server is the control: what it reaches is there to be reached.
        assert reaches(server, address)
        assert not reaches(execd, address)


def reaches(container: str, address: str) -> bool:
    """Whether a program in the container can connect to the chat of the other network."""
    connect = f"import socket; socket.create_connection(({address!r}, 8080), 3)"
    return docker("exec", container, "python3", "-I", "-c", connect, ok=False).returncode == 0


def test_runs_execute_in_containers_of_their_own() -> None:
    """The home has one path inside and outside; the engine is the one under test."""
    engine = Path(os.environ["DOCKER_HOST"].removeprefix("unix://"))
    home = Path(tempfile.mkdtemp(prefix="sandtable-home-", dir="/tmp"))
    os.chown(home, 65532, 65532)
    settings = {
        "SANDTABLE_HOST_HOME": str(home),
        "SANDTABLE_DOCKER_SOCKET": str(engine),
        "SANDTABLE_DOCKER_GROUP": str(engine.stat().st_gid),
    }
    try:
        with up("sandtable-docker", "compose.docker.yaml", **settings) as project:
            project.answered("docker")
    finally:
        shutil.rmtree(home)
