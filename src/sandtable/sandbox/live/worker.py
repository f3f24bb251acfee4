"""The server's end of a worker (`sandtable_runner.live`): start it, ask it, take what it copies, end it.

Invariant: what comes from a worker is untrusted: lengths are checked before anything is read, and answers are plain
JSON for the caller to validate. A worker that does not answer in time, or whose caller is cancelled, is killed.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import struct
import subprocess
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from sandtable.errors import SandboxUnavailable
from sandtable.sandbox.live.relay import Target, TargetRelay
from sandtable.sandbox.local.cgroups import ResourceGroup, enclose
from sandtable.sandbox.wire import parse_strictly
from sandtable_runner import environment

_LENGTH = struct.Struct(">I")
_LARGEST_ANSWER = 64 << 20
_LARGEST_BLOCK = 1 << 20
_START_S = 30.0
_GROUP_SLACK = 256 << 20
_PIDS = 64

EXTRAS = {"psycopg": "postgres", "pymysql": "mysql"}
"""By driver."""

Sink = Callable[[bytes], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class WorkerLimits:
    memory_mb: int = 256
    cpu_s: int = 7200


class WorkerFailed(Exception):
    """The worker could not do what it was asked to: `kind` as in `sandtable_runner.live.worker.Failure`."""

    def __init__(self, kind: str, message: str, state: str) -> None:
        super().__init__(kind)
        self.kind = kind
        self.message = message
        """The database's own text: untrusted."""
        self.state = state


class WorkerLost(Exception):
    """The worker ended, or sent something that is no answer."""


class LiveWorker:
    def __init__(
        self,
        process: subprocess.Popen[bytes],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        relay: TargetRelay,
        group: ResourceGroup | None,
    ) -> None:
        self._process = process
        self._reader = reader
        self._writer = writer
        self._relay = relay
        self._group = group

    @classmethod
    async def start(cls, kind: str, target: Target, limits: WorkerLimits | None = None) -> LiveWorker:
        """On the thread of the event loop: the worker ends with it. Raises SandboxUnavailable where this host cannot
        isolate it, or where the driver is not installed."""
        if not sys.platform.startswith("linux"):
            raise SandboxUnavailable(
                f"a database's worker needs Linux to be isolated; this is {sys.platform}",
                suggestion="Run Sandtable on a Linux machine.",
            )
        limits = limits or WorkerLimits()
        process, ours = _launch(kind, limits)
        group = enclose(process.pid, memory_bytes=(limits.memory_mb << 20) + _GROUP_SLACK, pids=_PIDS)
        relay = TargetRelay(target)
        try:
            await relay.serve(await _greet(ours, process))
            reader, writer = await asyncio.open_unix_connection(sock=ours, limit=_LARGEST_BLOCK)
        except BaseException:
            relay.close()
            ours.close()
            await _end(process, group)
            raise
        return cls(process, reader, writer, relay, group)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> None:
        self._process.kill()

    @property
    def unreachable(self) -> str:
        """Why no connection to the target could be made; empty where that was no problem."""
        return self._relay.trouble

    async def ask(
        self, op: str, request: dict[str, Any], *, within_s: float, sink: Sink | None = None
    ) -> Any:
        """The worker's answer, as plain JSON. What it copies goes to `sink` first.

        Raises WorkerFailed, WorkerLost, and TimeoutError after the worker was killed.
        """
        try:
            async with asyncio.timeout(within_s):
                return await self._exchange({**request, "op": op}, sink)
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            raise WorkerLost(f"the worker ended during {op}") from error
        except BaseException as error:
            if not isinstance(error, WorkerFailed):
                self._process.kill()
            raise

    async def _exchange(self, request: dict[str, Any], sink: Sink | None) -> Any:
        body = json.dumps(request, ensure_ascii=False).encode(errors="surrogatepass")
        self._writer.write(_LENGTH.pack(len(body)) + body)
        await self._writer.drain()
        while True:
            answer = await self._message()
            if "ok" in answer:
                return answer["ok"]
            if isinstance(failed := answer.get("failed"), dict):
                raise WorkerFailed(*(str(failed.get(name, "")) for name in ("kind", "message", "state")))
            size = answer.get("data")
            if type(size) is not int or not 0 < size <= _LARGEST_BLOCK or sink is None:
                raise WorkerLost("an answer that is none")
            await sink(await self._reader.readexactly(size))

    async def _message(self) -> dict[str, Any]:
        (length,) = _LENGTH.unpack(await self._reader.readexactly(_LENGTH.size))
        if length > _LARGEST_ANSWER:
            raise WorkerLost(f"an answer of {length} bytes")
        try:
            message = parse_strictly(await self._reader.readexactly(length))
        except (ValueError, RecursionError) as error:
            raise WorkerLost("an answer that is not JSON") from error
        if not isinstance(message, dict):
            raise WorkerLost("an answer that is no JSON object")
        return message

    async def aclose(self) -> None:
        self._process.kill()
        self._relay.close()
        self._writer.close()
        with contextlib.suppress(ConnectionError):
            await self._writer.wait_closed()
        await _end(self._process, self._group)


def _launch(kind: str, limits: WorkerLimits) -> tuple[subprocess.Popen[bytes], socket.socket]:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    with theirs:
        config = {
            "kind": kind,
            "control_fd": theirs.fileno(),
            "server": os.getpid(),
            "memory_mb": limits.memory_mb,
            "cpu_s": limits.cpu_s,
        }
        process = subprocess.Popen(
            [sys.executable, "-I", "-m", "sandtable_runner.live", json.dumps(config)],
            pass_fds=[theirs.fileno()], env=environment.SQL, cwd="/", stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
    return process, ours


async def _greet(control: socket.socket, process: subprocess.Popen[bytes]) -> socket.socket:
    """The socket that the worker listens on, once it is sealed."""
    control.settimeout(_START_S)
    greeting = asyncio.create_task(asyncio.to_thread(_hello, control))
    try:
        hello, listener = await asyncio.shield(greeting)
    except asyncio.CancelledError:
        # The thread reads until the worker has ended, and may have got its socket.
        process.kill()
        await asyncio.wait({greeting})
        if greeting.exception() is None and (unused := greeting.result()[1]) is not None:
            unused.close()
        raise
    except (TimeoutError, ConnectionError):
        process.kill()
        complaint = (process.stderr.read() if process.stderr else b"").decode(errors="replace").strip()
        raise SandboxUnavailable(
            f"the worker of a database did not start: {complaint.splitlines()[-1] if complaint else 'no reason'}",
            suggestion="Run `sandtable doctor`, and check that the installation is whole.",
            complaint=complaint[-4000:],
        ) from None
    control.setblocking(False)
    if listener is not None and hello.get("ready"):
        return listener
    if listener is not None:
        listener.close()
    if "missing" in hello:
        raise SandboxUnavailable(
            f"the driver of the database is not installed: there is no module {hello['missing']!r}",
            suggestion=f"Install it: pip install 'sandtable[{EXTRAS.get(hello['missing'], 'postgres')}]'.",
        )
    raise SandboxUnavailable(
        f"this host cannot isolate the worker of a database: {hello.get('unavailable')}",
        suggestion="Allow unprivileged user namespaces; `sandtable doctor` shows each layer. Nothing was sent to the"
        " database.",
        reasons=[hello.get("unavailable")],
    )


def _hello(control: socket.socket) -> tuple[dict[str, Any], socket.socket | None]:
    """What the worker says about itself last, and its listening socket. Until it is sealed it has read nothing of the
    database, so what it says is trusted."""
    listener: socket.socket | None = None
    try:
        while True:
            head, fds, _, _ = socket.recv_fds(control, _LENGTH.size, 1, socket.MSG_WAITALL)
            if fds:
                listener = socket.socket(fileno=fds[0])
                listener.setblocking(False)
            if not head:
                raise ConnectionResetError("the worker ended")
            hello = json.loads(control.recv(_LENGTH.unpack(head)[0], socket.MSG_WAITALL))
            if "listening" not in hello:
                return hello, listener
    except BaseException:
        if listener is not None:
            listener.close()
        raise


async def _end(process: subprocess.Popen[bytes], group: ResourceGroup | None) -> None:
    process.kill()
    await asyncio.shield(asyncio.to_thread(process.wait))
    if process.stderr:
        process.stderr.close()
    if group:
        group.remove()
