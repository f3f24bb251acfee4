"""Jupyter kernels in sandboxes: each answers on five sockets that were created for it here, and on nothing else.

Invariant: the sockets and the connection file lie in a folder that only this user may enter. The folder is removed with
the kernel, even when this process is killed.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sandtable.errors import InvalidInput, RunnerBroken, SandboxUnavailable
from sandtable.sandbox.job import Job
from sandtable.sandbox.local.pool import PoolPlan, RestartingPool
from sandtable.sandbox.local.sandbox import Garbled, Sandbox
from sandtable.sandbox.outcome import Ended, explain_end
from sandtable.sandbox.wire import order_of

CHANNELS = ("shell", "iopub", "stdin", "control", "hb")
"""In the order in which the kernel takes their sockets; a port's number is its place, from 1."""
_OPEN_S = 30.0
_READY_BYTES = 4096
_END_GRACE_S = 1.0
_TEMPLATE_MB = 1024
_PIDS = 4096
_BACKLOG = 64
_LONGEST = 80
"""Of the folder's path: the operating system's limit for a socket is 107 bytes."""
# Survives when this process is killed, and then removes the folder.
_JANITOR = ("/bin/sh", "-c", 'read -r _; rm -rf -- "$1"', "sandtable-janitor")


class SandboxedKernel:
    def __init__(
        self, job: Job, sandbox: Sandbox, folder: Path, forget: Callable[[SandboxedKernel], None]
    ) -> None:
        self._job = job
        self.sandbox = sandbox
        self.folder = folder
        self._forget = forget
        self.connection: dict[str, Any] = {
            "transport": "ipc",
            "ip": str(folder / "kernel"),
            **{f"{name}_port": port for port, name in enumerate(CHANNELS, start=1)},
            "key": secrets.token_hex(32),
            "signature_scheme": "hmac-sha256",
            "kernel_name": "sandtable",
        }

    async def open(self, *, fresh: bool) -> None:
        """Seal it and wait until it listens. Raises RunnerBroken."""
        listening = [_listen(f"{self.connection['ip']}-{port}") for port in range(1, len(CHANNELS) + 1)]
        order = order_of(self._job)
        order["cell"]["sockets"] = len(listening)
        order["kernel"] = {"prefix": self.connection["ip"], "key": self.connection["key"]}
        try:
            async with asyncio.timeout(_OPEN_S):
                await self.sandbox.send(order)
                self.sandbox.hand_over(listening)
                for _ in range(2 if fresh else 1):
                    await self.sandbox.receive(_READY_BYTES)
        except (Garbled, TimeoutError) as trouble:
            await self._see_end()
            raise RunnerBroken(
                f"the Jupyter kernel did not start: {trouble or 'it took too long'}",
                suggestion="Try again; if it fails again, run `sandtable doctor`",
                stderr=self.sandbox.output[-4000:],
            ) from trouble
        finally:
            for each in listening:
                each.close()

    def write_connection(self, path: Path) -> None:
        """For clients of the same user. Raises InvalidInput where it cannot be written, or exists already."""
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError as error:
            raise InvalidInput(
                f"cannot write {path}: {error.strerror or error}",
                suggestion="Name a file that is not there yet, in a folder that is",
            ) from error
        with os.fdopen(descriptor, "w") as file:
            json.dump(self.connection, file, indent=2)

    @property
    def alive(self) -> bool:
        return self.sandbox.alive

    async def wait(self) -> Ended:
        """Until it is shut down through its protocol, or ends otherwise."""
        return await asyncio.shield(self.sandbox.ended)

    def explain(self) -> str:
        """Why it ended without a shutdown request."""
        error = explain_end(self._job, self.sandbox.end, self.sandbox.output, "it ended by itself").error
        return error.message if error else "it ended by itself"

    def interrupt(self) -> None:
        self.sandbox.interrupt()

    async def aclose(self) -> None:
        """May be called more than once."""
        self.sandbox.kill()
        await self._see_end()
        self.discard()

    def discard(self) -> None:
        """At once, without waiting for its end."""
        self.sandbox.dispose()
        shutil.rmtree(self.folder, ignore_errors=True)
        self._forget(self)

    async def _see_end(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_END_GRACE_S):
                await self.wait()


class Kernels:
    """Opens kernels on data of one store. Their template is started with the first."""

    def __init__(
        self, store: Path, *, isolation: str = "auto", parallel: int = 8, memory_mb: int = 1024
    ) -> None:
        memory_bytes = (parallel * memory_mb + _TEMPLATE_MB) << 20
        self._pool = RestartingPool(PoolPlan("jupyter", store, isolation, 0, memory_bytes, _PIDS, 0, 0))
        self._open: set[SandboxedKernel] = set()
        self._rooms: _Rooms | None = None

    async def open(self, job: Job) -> SandboxedKernel:
        """`job` has mode `session`. Raises SandboxUnavailable where no kernel can run, and RunnerBroken."""
        if job.mode != "session":
            raise InvalidInput(f"a kernel is opened with a job of mode `session`, not {job.mode!r}")
        require_jupyter()
        _, pool = await self._pool.ready()
        if self._rooms is None:
            self._rooms = _Rooms()
        sandbox, origin = pool.take(job)
        kernel = SandboxedKernel(job, sandbox, self._rooms.another(), self._open.discard)
        self._open.add(kernel)
        try:
            await kernel.open(fresh=origin == "fresh")
        except BaseException:
            kernel.discard()
            raise
        return kernel

    async def aclose(self) -> None:
        await asyncio.gather(*(kernel.aclose() for kernel in list(self._open)))
        await self._pool.aclose()
        if self._rooms is not None:
            await asyncio.to_thread(self._rooms.close)
            self._rooms = None


class _Rooms:
    """One folder for all kernels of this process, with a guard process that removes it when this process is gone."""

    def __init__(self) -> None:
        self._root = _private_folder()
        self._count = 0
        self._janitor = subprocess.Popen(
            [*_JANITOR, str(self._root)], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, cwd="/", env={"PATH": "/usr/bin:/bin"}, start_new_session=True,
        )  # fmt: skip

    def another(self) -> Path:
        self._count += 1
        folder = self._root / str(self._count)
        folder.mkdir(mode=0o700)
        return folder

    def close(self) -> None:
        assert self._janitor.stdin is not None
        self._janitor.stdin.close()
        self._janitor.wait()


def require_jupyter() -> None:
    """Raises SandboxUnavailable without the extra. Nothing is imported."""
    for name in ("ipykernel", "jupyter_client"):
        if find_spec(name) is None:
            raise SandboxUnavailable(
                f"a Jupyter kernel cannot run here: {name!r} is not installed",
                suggestion="Install what a Jupyter kernel needs: pip install 'sandtable[jupyter]'",
            )


def _private_folder() -> Path:
    made = Path(tempfile.mkdtemp(prefix="sandtable-"))
    if len(os.fsencode(made)) > _LONGEST:
        made.rmdir()
        made = Path(tempfile.mkdtemp(prefix="sandtable-", dir="/tmp"))
    return made


def _listen(path: str) -> socket.socket:
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    made.setblocking(False)
    made.bind(path)
    made.listen(_BACKLOG)
    return made
