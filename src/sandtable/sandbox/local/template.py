"""The server's end of a template process (`sandtable_runner.zygote`): start it, order sandboxes, read their ends."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from sandtable.errors import SandboxUnavailable
from sandtable.sandbox.executor import Hello, Kind
from sandtable.sandbox.local.cgroups import ResourceGroup, enclose
from sandtable.sandbox.local.launch import Wanted, launched
from sandtable.sandbox.local.sandbox import Sandbox
from sandtable.sandbox.outcome import Ended

_START_S: dict[Kind, float] = {"sql": 30.0, "py": 90.0, "jupyter": 90.0}
_MAX_MESSAGE = 64 << 10
_NEEDS: dict[Kind, str] = {
    "sql": "check that the installation is whole",
    "py": "Python needs: pip install 'sandtable[python]'",
    "jupyter": "a Jupyter kernel needs: pip install 'sandtable[jupyter]'",
}


class TemplateProcess:
    def __init__(
        self,
        process: subprocess.Popen[bytes],
        control: socket.socket,
        hello: Hello,
        group: ResourceGroup | None,
    ) -> None:
        self._process = process
        self._group = group
        self._control = control
        self._sandboxes: dict[int, Sandbox] = {}
        self._count = 0
        self._loop = asyncio.get_running_loop()
        self.hello = hello
        self.alive = True
        control.setblocking(False)
        self._loop.add_reader(control.fileno(), self._read_control)

    @classmethod
    async def start(
        cls,
        store: Path,
        *,
        kind: Kind = "sql",
        isolation: str = "auto",
        nice: int = 0,
        memory_bytes: int = 8 << 30,
        pids: int = 1024,
    ) -> TemplateProcess:
        """`memory_bytes` and `pids` cap all its sandboxes together, where the host allows it.

        Raises SandboxUnavailable, with the host's reasons, where this host cannot isolate.
        """
        if not sys.platform.startswith("linux"):
            raise SandboxUnavailable(
                f"the local sandbox needs Linux; this is {sys.platform}",
                suggestion="Use the Docker back end here, or run Sandtable on a Linux machine",
            )
        process, ours = launched(Wanted(kind, store, isolation, nice))
        # It still imports the engine and has forked nothing: the group will hold all its children.
        group = enclose(process.pid, memory_bytes=memory_bytes, pids=pids)
        try:
            hello = await _greet(ours, process, kind)
        except BaseException:
            ours.close()
            process.kill()
            process.wait()
            if process.stderr:
                process.stderr.close()
            raise
        if group:
            hello = replace(hello, layers=(*hello.layers, "cgroup"))
        return cls(process, ours, hello, group)

    def spawn(self, order: dict[str, Any]) -> Sandbox:
        """Ask for one child. It is usable at once: messages are buffered until the child is ready."""
        self._count += 1
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        read, write = os.pipe2(os.O_CLOEXEC)
        sandbox = Sandbox(ours, read)
        self._sandboxes[self._count] = sandbox
        try:
            message = json.dumps({**order, "id": self._count}).encode()
            socket.send_fds(self._control, [message], [theirs.fileno(), write])
        except BlockingIOError:
            # Its queue of orders is full: this sandbox will never start.
            self._sandboxes.pop(self._count).has_ended(Ended(None))
        except OSError:
            # The template is gone. The next job must not use it before its end was read.
            self._lost()
        finally:
            theirs.close()
            os.close(write)
        return sandbox

    def _read_control(self) -> None:
        while True:
            try:
                message, fds, _, _ = socket.recv_fds(self._control, _MAX_MESSAGE, 1)
            except BlockingIOError:
                return
            except OSError:
                message, fds = b"", []
            if not message:
                self._lost()
                return
            self._note(json.loads(message), fds)

    def _note(self, news: dict[str, Any], fds: list[int]) -> None:
        if "started" in news:
            sandbox = self._sandboxes.get(news["started"])
            if sandbox is None:
                os.close(fds[0])
            else:
                sandbox.has_started(fds[0])
        elif "ended" in news and (sandbox := self._sandboxes.pop(news["ended"], None)):
            sandbox.has_ended(Ended(news["status"], news["peak_kb"], news["cpu_ms"]))
        elif "failed" in news and (sandbox := self._sandboxes.pop(news["failed"], None)):
            sandbox.has_ended(Ended(None))

    def _lost(self) -> None:
        if self.alive:
            self.alive = False
            self._loop.remove_reader(self._control.fileno())
            self._control.close()
            for sandbox in self._sandboxes.values():
                sandbox.has_ended(Ended(None))
            self._sandboxes.clear()

    async def aclose(self) -> None:
        """Closing the control socket ends the template and all its children."""
        self._lost()
        with contextlib.suppress(subprocess.TimeoutExpired):
            await asyncio.to_thread(self._process.wait, 5)
        if self._process.poll() is None:
            self._process.kill()
            await asyncio.to_thread(self._process.wait)
        if self._process.stderr:
            self._process.stderr.close()
        if self._group:
            self._group.remove()


async def _greet(control: socket.socket, process: subprocess.Popen[bytes], kind: Kind) -> Hello:
    control.settimeout(_START_S[kind])
    try:
        message = await asyncio.to_thread(control.recv, _MAX_MESSAGE)
    except TimeoutError:
        message = b""
    if not message:
        process.kill()
        complaint = (process.stderr.read() if process.stderr else b"").decode(errors="replace").strip()
        reason = complaint.splitlines()[-1] if complaint else "it gave no reason"
        raise SandboxUnavailable(
            f"the sandbox template did not start: {reason}",
            suggestion="Run `sandtable doctor`, and check that the installation is whole",
            complaint=complaint[-4000:],
        )
    hello = json.loads(message)
    if "missing" in hello:
        raise SandboxUnavailable(
            f"Python code cannot run here: the module {hello['missing']!r} is not installed",
            suggestion=_NEEDS[kind],
        )
    if hello.get("unavailable"):
        raise SandboxUnavailable(
            "this host cannot isolate: " + "; ".join(hello["reasons"]),
            suggestion="Allow unprivileged user namespaces or use a kernel with Landlock (6.2 or newer); "
            "`sandtable doctor` shows each layer",
            reasons=hello["reasons"],
        )
    return Hello(hello["engine"], tuple(hello["layers"]), tuple(hello["reasons"]), process.pid)
