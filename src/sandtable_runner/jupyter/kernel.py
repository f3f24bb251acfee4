"""An IPython kernel for an already sealed process: it has no files, no network and no other process.

Invariant: it creates no socket. It answers on the five that it was given, which listen where only the person who
started it can connect. IPython's files (profile, history, connection file) are not written.
"""

from __future__ import annotations

import json
import logging
import signal
import time
from typing import Any

import zmq
from ipykernel.control import ControlThread
from ipykernel.heartbeat import Heartbeat
from ipykernel.iostream import IOPubThread
from ipykernel.ipkernel import IPythonKernel
from ipykernel.kernelapp import IPKernelApp
from ipykernel.shellchannel import ShellChannelThread
from ipykernel.zmqshell import ZMQInteractiveShell
from IPython.core.compilerop import CachingCompiler
from traitlets import Type, default
from traitlets.config import Config

from sandtable_runner.jupyter.display import teach
from sandtable_runner.jupyter.workspace import KernelWorkspace
from sandtable_runner.python.errors import failure

CHANNELS = ("shell", "iopub", "stdin", "control", "hb")
"""In the order of the sockets that are passed in. The number of a channel's port is its place, from 1."""
MEASURED = "sandtable"
_LINGER_MS = 1000


class _Shell(ZMQInteractiveShell):
    """A shell without a home directory."""

    def init_ipython_dir(self, ipython_dir: Any) -> None:
        self.ipython_dir = ""

    def init_profile_dir(self, profile_dir: Any) -> None:
        self.profile_dir = None

    def _ipython_dir_changed(self, change: Any) -> None:
        """Creates no folder."""


class SealedKernel(IPythonKernel):
    shell_class = Type(_Shell)
    # IPykernel's compiler would name cells after files in a temporary folder.
    compiler_class = Type(CachingCompiler)
    workspace: KernelWorkspace

    def adopt(self, workspace: KernelWorkspace) -> None:
        self.workspace = workspace
        shell = self._shell()
        teach(shell.display_formatter)
        shell.events.register("pre_run_cell", self._before_cell)

    def _shell(self) -> Any:
        assert self.shell is not None
        return self.shell

    def _before_cell(self, info: Any) -> None:
        code = info.transformed_cell or info.raw_cell
        self.workspace.bring(code)
        if "get_ipython()" in code and "get_ipython()" not in info.raw_cell:
            self.workspace.bring(info.raw_cell, whole=True)

    async def do_execute(
        self,
        code: str,
        silent: bool,
        store_history: bool = True,
        user_expressions: Any = None,
        allow_stdin: bool = False,
        *,
        cell_meta: Any = None,
        cell_id: Any = None,
    ) -> dict[str, Any]:
        cell = (cell_meta or {}).get(MEASURED)
        if cell is None:
            return await super().do_execute(
                code,
                silent,
                store_history,
                user_expressions,
                allow_stdin,
                cell_meta=cell_meta,
                cell_id=cell_id,
            )
        started = time.perf_counter()
        outcome = self._measured(code, cell)
        outcome["exec_time_ms"] = (time.perf_counter() - started) * 1e3
        # As text, so that the server can parse it with its own strict parser.
        text = json.dumps(outcome, ensure_ascii=False, allow_nan=False)
        return {"status": "ok", "execution_count": 0, "user_expressions": {}, "payload": [], MEASURED: text}

    def _measured(self, code: str, cell: dict[str, Any]) -> dict[str, Any]:
        previous = signal.signal(signal.SIGINT, self.workspace.interrupt)
        try:
            return self.workspace.measure(code, cell)
        except MemoryError:
            return failure(
                "RUNNER_RESOURCE_EXCEEDED", "MemoryError", "the code needed more memory than it may use"
            )
        finally:
            signal.signal(signal.SIGINT, previous)

    def do_complete(self, code: str, cursor_pos: int) -> Any:
        self.workspace.bring(code, whole=True)
        return super().do_complete(code, cursor_pos)

    def do_inspect(self, code: str, cursor_pos: int, detail_level: Any = 0, omit_sections: Any = ()) -> Any:
        self.workspace.bring(code, whole=True)
        return super().do_inspect(code, cursor_pos, detail_level, omit_sections)

    async def _progressively_terminate_all_children(self) -> None:
        """There are no children, and looking for them would need files."""


class _Heartbeat(Heartbeat):
    def __init__(self, context: Any, address: Any, fd: int) -> None:
        super().__init__(context, address)
        self._fd = fd

    def _try_bind_socket(self) -> Any:
        self.socket.setsockopt(zmq.USE_FD, self._fd)
        return super()._try_bind_socket()


class SealedKernelApp(IPKernelApp):
    """An application whose sockets are already listening."""

    kernel_class = Type(SealedKernel)
    listening: dict[int, int]

    def initialize(self, argv: Any = None) -> None:
        self.init_pdb()
        self.init_sockets()
        self.init_heartbeat()
        self._ports = {name: getattr(self, f"{name}_port") for name in CHANNELS}
        self.init_io()
        self.init_signal()
        self.init_kernel()
        self.init_shell()

    def _try_bind_socket(self, s: Any, port: int) -> int:
        s.setsockopt(zmq.USE_FD, self.listening[port])
        return super()._try_bind_socket(s, port)

    @default("profile_dir")
    def _no_profile(self) -> None:
        """A profile would be a folder."""

    def init_control(self, context: Any) -> None:
        """Without a debugger, which would connect to this kernel."""
        self.control_socket = context.socket(zmq.ROUTER)
        self.control_socket.linger = _LINGER_MS
        self.control_port = self._bind_socket(self.control_socket, self.control_port)
        self.control_socket.router_handover = 1
        self.debugpy_socket = context.socket(zmq.STREAM)
        self.debug_shell_socket = context.socket(zmq.DEALER)
        self.control_thread = ControlThread(daemon=True)
        self.shell_channel_thread = ShellChannelThread(context, daemon=True)

    def init_iopub(self, context: Any) -> None:
        """Without the port for forked processes of the kernel."""
        socket = context.socket(zmq.XPUB)
        socket.linger = _LINGER_MS
        self.iopub_port = self._bind_socket(socket, self.iopub_port)
        self.configure_tornado_logger()
        self.iopub_thread = IOPubThread(socket, pipe=False, session=self.session)
        self.iopub_thread.start()
        self.iopub_socket = self.iopub_thread.background_socket

    def init_heartbeat(self) -> None:
        address = (self.transport, self.ip, self.hb_port)
        self.heartbeat = _Heartbeat(zmq.Context(), address, self.listening[self.hb_port])
        self.heartbeat.start()


def make_app(workspace: KernelWorkspace, sockets: list[int], *, prefix: str, key: str) -> SealedKernelApp:
    """`prefix`: path of the sockets outside the sandbox, without their numbers; `key` signs every message."""
    config = Config()
    config.HistoryManager.enabled = False
    config.HistoryManager.hist_file = ":memory:"
    config.InteractiveShell.banner1 = (
        "Sandtable: a sealed kernel. No files, no network; the tables are here.\n"
    )
    config.Completer.use_jedi = False
    app = SealedKernelApp.instance(config=config, log_level=logging.CRITICAL)
    app.capture_fd_output = False
    app.transport, app.ip, app.user_ns = "ipc", prefix, workspace.names
    app.session.key = key.encode()
    app.listening = {}
    for port, (name, fd) in enumerate(zip(CHANNELS, sockets, strict=True), start=1):
        setattr(app, f"{name}_port", port)
        app.listening[port] = fd
    app.initialize([])
    app.kernel.adopt(workspace)
    return app
