"""Raw bytes against a real server: refused or answered, never broken, and other clients do not have to wait.

The corpus has one request a line: `raw` as it is sent, with `{at}` for the server's own host and port, `{run}` for a
run of another user and `<text*N>` for N times a text; `expect`, the statuses that each answer in turn may have;
`closed`, whether the server then closes the connection; `reads`, whether an answer may hold what others asked.
"""

from __future__ import annotations

import json
import os
import re
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, BinaryIO

import httpx
import pytest

pytestmark = pytest.mark.needs("userns")

ROOT = Path(__file__).resolve().parents[2]
DESCRIPTORS = 512
PROGRAM = f"""
import resource
_, most = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, ({DESCRIPTORS}, most))
from sandtable.cli import main
main(prog_name='sandtable')
"""
REQUESTS = Path(__file__).parent / "corpus/raw_requests.jsonl"
CORPUS: list[dict[str, Any]] = [json.loads(line) for line in REQUESTS.read_text("utf-8").splitlines()]
SECRET = "what-another-user-asked"
PATIENCE_S = 30.0
_REPEATED = re.compile(r"<((?:(?!\*\d).)+?)\*(\d+)>", re.DOTALL)


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class RealServer:
    url: str
    process: subprocess.Popen[str]
    home: Path
    logged: Path
    run_id: str

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), PATIENCE_S)

    def filled(self, raw: str) -> bytes:
        given = raw.replace("{at}", f"127.0.0.1:{self.port}").replace("{run}", self.run_id)
        return _REPEATED.sub(lambda found: found[1] * int(found[2]), given).encode("latin-1")

    def answers_others(self) -> None:
        """An honest request, on a connection of its own, is answered within five seconds; later only where this
        machine is so busy that the server did not get five seconds of its time."""
        began, used = time.monotonic(), self._processor_s()
        client = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        client.request("GET", "/healthz")
        assert client.getresponse().read() == b'{"status":"ok"}'
        client.close()
        assert time.monotonic() - began < 5 or self._processor_s() - used < 5

    def _processor_s(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text("ascii").rpartition(") ")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.logged.read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    home = tmp_path_factory.mktemp("home")
    logged = home.parent / f"{home.name}.log"
    environment = {**os.environ, "SANDTABLE_HOME": str(home), "PYTHONPATH": str(ROOT / "src")}
    with (
        logged.open("w") as log,
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, "serve", "--port", "0", "--json"],
            env=environment, stdout=subprocess.PIPE, stderr=log, text=True,
        ) as process,
    ):  # fmt: skip
        try:
            assert process.stdout
            url = json.loads(process.stdout.readline())["url"]
            body = {"dataset_id": "sensors", "sql": "SELECT count(*) AS n FROM readings", "question": SECRET}
            run = httpx.post(f"{url}/runs?wait=60", json=body, timeout=90).json()
            assert run["status"] == "succeeded", run
            yield RealServer(url, process, home, logged, run["run_id"])
        finally:
            process.terminate()


def read_answer(stream: BinaryIO, bodiless: bool) -> Answer:
    line = stream.readline()
    assert line.startswith(b"HTTP/1.1 "), line
    headers: dict[str, str] = {}
    while (header := stream.readline().decode("latin-1").rstrip("\r\n")) != "":
        name, _, value = header.partition(":")
        headers[name.lower()] = value.strip()
    if headers.get("transfer-encoding") == "chunked":
        body = b""
        while size := int(stream.readline(), 16):
            body += stream.read(size)
            stream.readline()
        stream.readline()
    else:
        body = b"" if bodiless else stream.read(int(headers.get("content-length", "0")))
    return Answer(int(line.split()[1]), headers, body)


@pytest.mark.parametrize("entry", CORPUS, ids=lambda entry: entry["id"])
def test_raw_requests(server: RealServer, entry: dict[str, Any]) -> None:
    bodiless = entry.get("bodiless", False)
    with server.connect() as client, client.makefile("rb") as stream:
        client.sendall(server.filled(entry["raw"]))
        server.answers_others()
        answers = [read_answer(stream, bodiless) for _ in entry["expect"]]
        rest = stream.read() if entry.get("closed") else b""
    assert [answer.status in expected for answer, expected in zip(answers, entry["expect"], strict=True)] == [
        True
    ] * len(answers), [answer.status for answer in answers]
    assert rest == b""
    for answer in answers:
        assert answer.status < 500
        _leaks_nothing(server, answer, entry.get("reads", False))
        if answer.status >= 400 and not bodiless:
            error = json.loads(answer.body)
            assert {"error", "request_id"} <= set(error) <= {"error", "request_id", "detail"}
            assert set(error["error"]) == {"code", "message", "suggestion", "details"}


def _leaks_nothing(server: RealServer, answer: Answer, reads: bool) -> None:
    text = answer.body.decode("utf-8", "replace") + repr(answer.headers)
    of_this_machine = [
        str(server.home),
        str(ROOT),
        str(Path.home()),
        "Traceback",
        "site-packages",
        "uvicorn",
        "h11",
    ]
    assert [found for found in [*of_this_machine, *([] if reads else [SECRET])] if found in text] == []
    assert not [name for name in answer.headers if name.startswith("access-control")]
    if answer.status >= 400:
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_there_are_enough_of_them() -> None:
    assert len({entry["id"] for entry in CORPUS}) == len(CORPUS) >= 60


def test_nothing_broke_meanwhile(server: RealServer) -> None:
    assert server.process.poll() is None
    assert [
        line for line in server.lines() if line["level"] in ("error", "critical") or "exception" in line
    ] == []


def test_clients_that_send_nothing_keep_no_other_out(server: RealServer) -> None:
    """More of them than this server has places for."""
    with ExitStack() as stack:
        for number in range(DESCRIPTORS):
            client = stack.enter_context(server.connect())
            client.sendall(b"GET / HTTP/1.1\r\nX: " if number % 2 else b"")
        server.answers_others()
    refused = [line for line in server.lines() if line["event"] == "client_dropped"]
    assert refused and len(refused) <= 4


def settled(descriptors: Path) -> int:
    """How many are open once those of the last test are closed."""
    counts = [-1, -2]
    while counts[-1] != counts[-2]:
        counts.append(len(list(descriptors.iterdir())))
        time.sleep(0.2)
    return counts[-1]


def test_when_descriptors_run_out_it_is_one_line_and_the_server_goes_on(server: RealServer) -> None:
    pid, before = server.process.pid, len(server.lines())
    usual = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    in_use = settled(Path(f"/proc/{pid}/fd"))
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (in_use + 6, usual[1]))
    try:
        with ExitStack() as stack:
            for _ in range(100):
                stack.enter_context(server.connect()).sendall(b"GET / HTTP/1.1\r\nX: ")
            for _ in range(3):
                server.answers_others()
    finally:
        resource.prlimit(pid, resource.RLIMIT_NOFILE, usual)
    lines = server.lines()[before:]
    assert 1 <= len([line for line in lines if line["event"] == "cannot_accept"]) <= 3
    assert len([line for line in lines if line["level"] != "debug"]) < 20
    assert not [line for line in lines if "exception" in line]
    server.answers_others()
