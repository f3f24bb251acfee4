"""The server's end of one planner process (`worker`): start it, send data and questions, notice its end."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys

from sandtable.agent.planning.wire import (
    LENGTH,
    Data,
    Failed,
    Message,
    Planned,
    Question,
    Reply,
    UnknownData,
    packed,
    unpacked,
)
from sandtable.observing import UNOBSERVED, Tracer
from sandtable_runner import environment

_START_S = 60.0


class Ended(Exception):
    """The process has ended, or did not start."""


class PlannerProcess:
    def __init__(
        self,
        process: subprocess.Popen[bytes],
        connection: socket.socket,
        tracer: Tracer = UNOBSERVED.tracer,
    ) -> None:
        self._process = process
        self._connection = connection
        self._tracer = tracer
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self.known: set[str] = set()
        """Keys of the data that it was sent."""

    @classmethod
    def launch(cls, tracer: Tracer = UNOBSERVED.tracer) -> PlannerProcess:
        """Raises OSError."""
        return cls(*_launch(), tracer)

    async def ready(self) -> None:
        """Returns when the process has loaded its parts. Raises Ended."""
        try:
            async with asyncio.timeout(_START_S):
                reply = await self._reply()
        except TimeoutError:
            raise Ended(f"it was not ready after {_START_S:.0f} s") from None
        if isinstance(reply, Failed):
            raise Ended(reply.traceback)

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        return self._process.pid

    async def plan(self, question: Question, data: Data) -> Planned | Failed:
        """`data` are sent if it does not know them. Raises Ended."""
        reply = await self._ask(question)
        if isinstance(reply, UnknownData):
            with self._tracer.span("plan.index"):
                reply = await self.learn(data)
            reply = reply if isinstance(reply, Failed) else await self._ask(question)
        assert isinstance(reply, Planned | Failed)
        return reply

    async def learn(self, data: Data) -> Reply:
        """Raises Ended."""
        self.known.add(data.key)
        return await self._ask(data)

    async def _ask(self, message: Message) -> Reply:
        # A profile may take megabytes.
        body = await asyncio.to_thread(packed, message) if isinstance(message, Data) else packed(message)
        _, writer = await self._open()
        try:
            writer.write(body)
            await writer.drain()
        except OSError as error:
            raise Ended(str(error)) from error
        return await self._reply()

    async def _reply(self) -> Reply:
        reader, _ = await self._open()
        try:
            (length,) = LENGTH.unpack(await reader.readexactly(LENGTH.size))
            return unpacked(await reader.readexactly(length))
        except (OSError, EOFError) as error:
            raise Ended(str(error)) from error

    async def _open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._streams is None:
            self._streams = await asyncio.open_connection(sock=self._connection)
        return self._streams

    async def aclose(self) -> int:
        """Kills the process and returns its status: it has no state to save."""
        if self._streams is None:
            self._connection.close()
        else:
            self._streams[1].close()
        self._process.kill()
        return await asyncio.to_thread(self._process.wait)


def _launch() -> tuple[subprocess.Popen[bytes], socket.socket]:
    """The process, and our end of its socket. It ends with the thread that calls this: the event loop's."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    command = (sys.executable, "-s", "-P", "-m", "sandtable.agent.planning")
    with theirs:
        process = subprocess.Popen(
            [*command, str(theirs.fileno()), str(os.getpid())],
            pass_fds=[theirs.fileno()], env=_environment(), cwd="/", stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
    return process, ours


def _environment() -> dict[str, str]:
    """Only the module path of the server: both must plan with the same modules."""
    return {
        **environment.SQL,
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
    }
