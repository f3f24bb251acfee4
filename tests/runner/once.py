"""The container's program, run without a container: start it, send it an order, hear its report."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import secrets
import select
import socket
import struct
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandtable.sandbox.job import Job
from sandtable.sandbox.wire import order_of
from tests.sandbox import as_user

SLOW = "SELECT count(*) FROM range(10000000) AS a, range(10000000) AS b WHERE a.range + b.range = 7"
_PATIENCE_S = 60.0
_LENGTH = struct.Struct(">I")


def frame(message: Any) -> bytes:
    body = json.dumps(message).encode()
    return _LENGTH.pack(len(body)) + body


def packed(message: Any) -> bytes:
    return base64.b64encode(zlib.compress(json.dumps(message).encode()))


def as_order(job: Job, **changes: Any) -> dict[str, Any]:
    return {**order_of(job), **changes}


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


@dataclass
class Once:
    process: subprocess.Popen[bytes]
    nonce: str

    def line(self) -> dict[str, Any] | None:
        """The next one, or None when nothing more will come."""
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], _PATIENCE_S)
        assert ready, "it sent nothing"
        text = self.process.stdout.readline()
        if not text:
            return None
        return json.loads(text)

    def ready(self) -> dict[str, Any]:
        message = self.line()
        assert message is not None and message["kind"] == "ready", message
        return message

    def report(self) -> dict[str, Any]:
        message = self.line()
        assert message is not None and message["kind"] == "report", message
        assert message["nonce"] == self.nonce
        return message

    def send(self, content: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(content)
        self.process.stdin.flush()

    def hang_up(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def connect(self, port: int, token: str) -> socket.socket:
        connection = socket.create_connection(("127.0.0.1", port), timeout=_PATIENCE_S)
        connection.sendall(token.encode() + b"\n")
        return connection

    def end(self) -> int:
        return self.process.wait(_PATIENCE_S)


@contextlib.contextmanager
def started(store: Path, *, uid: int | None = None, landlock: bool = True, **config: Any) -> Iterator[Once]:
    nonce = secrets.token_hex(4)
    argument = json.dumps({"store": str(store), "nonce": nonce, "wait_s": 30, **config})
    command = [sys.executable, "-I", "-m", "sandtable_runner.once", argument]
    if uid is not None or not landlock:
        command = as_user.command(
            "sandtable_runner.once", argument, uid=uid, landlock=landlock, reach=[store]
        )
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,
        cwd="/",
        env={"PATH": "/usr/bin:/bin", "CANARY": "in the environment"},
    )
    try:
        yield Once(process, nonce)
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()


def read_frame(connection: socket.socket) -> dict[str, Any] | None:
    with connection.makefile("rb") as stream:
        head = stream.read(_LENGTH.size)
        return json.loads(stream.read(_LENGTH.unpack(head)[0])) if head else None


def digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def until_gone(pids: set[int]) -> set[int]:
    """Those that still live after a moment."""
    for _ in range(200):
        pids = {pid for pid in pids if _lives(pid)}
        if not pids:
            break
        time.sleep(0.02)
    return pids


def _lives(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"


def children(pid: int) -> set[int]:
    """All that descend from it."""
    found = {pid}
    for _ in range(5):
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                    fields = (entry / "stat").read_text().rpartition(")")[2].split()
                    if int(fields[1]) in found:
                        found.add(int(entry.name))
    return found
