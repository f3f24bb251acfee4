"""Sessions whose state lives in a Jupyter kernel, reached through jupyter_client from this process.

Invariant: the kernel's output is untrusted. It passes a relay that bounds it before the library reads it (`relay`), and
the answer is the same text that any other session gives, parsed and checked in the same way. Imported only where it is
used: it imports jupyter_client, which is optional.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import zmq
import zmq.asyncio
from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.connect import KernelConnectionInfo

from sandtable.errors import ErrorCode, InvalidInput
from sandtable.sandbox.job import Job
from sandtable.sandbox.local.kernels import CHANNELS, Kernels, SandboxedKernel
from sandtable.sandbox.local.relay import Relay
from sandtable.sandbox.local.sandbox import Garbled
from sandtable.sandbox.local.session import LocalSession
from sandtable.sandbox.wire import parse_strictly

SHELL = CHANNELS.index("shell") + 1
_MEASURED = "sandtable"
_SLACK = 2 << 20
_MOST_WAITING = 4
"""Receive queue limit: the library stops reading from a kernel that sends unrequested messages."""


class JupyterSession(LocalSession):
    """Implements `sandbox.session.Session`."""

    def __init__(
        self,
        job: Job,
        kernel: SandboxedKernel,
        slots: asyncio.Semaphore,
        forget: Callable[[LocalSession], None],
    ) -> None:
        super().__init__(job, kernel.sandbox, slots, forget)
        self._kernel = kernel
        limit = 2 * job.limits.result_bytes + 2 * job.limits.log_bytes + _SLACK
        self._relay = Relay(Path(f"{kernel.connection['ip']}-{SHELL}"), limit)
        self._context = zmq.asyncio.Context()
        self._context.setsockopt(zmq.MAXMSGSIZE, limit)
        self._context.setsockopt(zmq.RCVHWM, _MOST_WAITING)
        self._client = AsyncKernelClient(context=self._context)

    async def connect(self) -> None:
        relayed = str(self._kernel.folder / "relay")
        await self._relay.listen(Path(f"{relayed}-{SHELL}"))
        connection = {**self._kernel.connection, "ip": relayed}
        self._client.load_connection_info(cast("KernelConnectionInfo", connection))
        self._client.start_channels(iopub=False, stdin=False, hb=False, control=False)

    async def _ask(self, job: Job, message: dict[str, Any]) -> dict[str, Any]:
        """Raises Garbled."""
        if bad := _bad_text(message["code"]):
            return bad
        reply = asyncio.ensure_future(self._execute(message))
        ended = asyncio.ensure_future(self._kernel.wait())
        try:
            broken = self._relay.breach
            await asyncio.wait({reply, ended, broken}, return_when=asyncio.FIRST_COMPLETED)
            if not reply.done():
                told = broken.done() and not broken.cancelled()
                raise Garbled(broken.result() if told else "the sandbox ended before it answered")
            return _outcome(reply.result(), job.limits.result_bytes + _SLACK)
        finally:
            for task in (reply, ended):
                task.cancel()
            await asyncio.gather(reply, ended, return_exceptions=True)

    async def _execute(self, message: dict[str, Any]) -> Any:
        cell = {name: value for name, value in message.items() if name != "code"}
        content = {
            "code": message["code"],
            "silent": False,
            "store_history": False,
            "user_expressions": {},
            "allow_stdin": False,
            "stop_on_error": False,
        }
        request = self._client.session.msg("execute_request", content, metadata={_MEASURED: cell})
        self._client.shell_channel.send(request)
        try:
            while True:
                reply = await self._client.get_shell_msg()
                if reply["parent_header"].get("msg_id") == request["header"]["msg_id"]:
                    return reply["content"][_MEASURED]
        except Exception as error:
            # jupyter_client may raise anything for untrusted bytes.
            raise Garbled(f"the kernel's answer cannot be read: {type(error).__name__}") from error

    def _die(self) -> None:
        if not self._context.closed:
            self._context.destroy(linger=0)
        self._relay.close()
        self._kernel.discard()
        super()._die()


def _bad_text(code: str) -> dict[str, Any] | None:
    """The error that other sessions' runners give for such a text; jupyter_client could not send it."""
    try:
        code.encode()
    except UnicodeEncodeError as error:
        message = f"the text has a lone surrogate at position {error.start}: it is not valid Unicode"
        suggestion = "Send the text as valid UTF-8"
        said = {
            "code": ErrorCode.VALIDATION_ERROR,
            "type": "BadText",
            "message": message,
            "suggestion": suggestion,
        }
        return {"status": "failed", "error": said}
    return None


def _outcome(text: Any, limit: int) -> dict[str, Any]:
    if not isinstance(text, str):
        raise Garbled("the kernel's answer is not as agreed")
    if len(text) > limit:
        raise Garbled(f"an answer of {len(text)} characters is over the limit of {limit}")
    try:
        body = text.encode()
        answer = parse_strictly(body)
    except (ValueError, RecursionError) as error:
        raise Garbled(f"the answer is not JSON: {error}") from error
    if not isinstance(answer, dict):
        raise Garbled("the answer is not a JSON object")
    return answer


class JupyterHost:
    """Implements `sandbox.session.SessionHost`."""

    def __init__(self, kernels: Kernels, *, parallel: int = 8) -> None:
        self._kernels = kernels
        self._slots = asyncio.Semaphore(parallel)
        self._sessions: set[LocalSession] = set()

    async def open_session(self, job: Job) -> JupyterSession:
        if job.mode != "session":
            raise InvalidInput(f"a session is opened with a job of mode `session`, not {job.mode!r}")
        kernel = await self._kernels.open(job)
        session = JupyterSession(job, kernel, self._slots, self._sessions.discard)
        self._sessions.add(session)
        try:
            await session.connect()
        except BaseException:
            await session.aclose()
            raise
        return session

    async def aclose(self) -> None:
        await asyncio.gather(*(session.aclose() for session in list(self._sessions)))
        await self._kernels.aclose()
