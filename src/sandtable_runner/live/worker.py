"""A worker: seals itself, then serves one server's requests to one database until its channel closes.

Invariant: it is sealed before it is given the address's credential, and before it exchanges a byte with the database.
It sees no file, no environment and no other process. Its network is a loopback of its own with one listening socket,
which the server accepts connections on and passes to the declared address.
"""

from __future__ import annotations

import importlib
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from sandtable_runner import kernel, landlock, root, seal
from sandtable_runner.frames import encode_frame, read_frame, write_frame
from sandtable_runner.namespaces import bring_up_loopback, enter_namespaces
from sandtable_runner.syscalls import MACHINE, SUPPORTED

ROOTS = "/scratch/roots.pem"
"""Where the certificates that the server sends are put for the driver to read."""
_DRIVERS = {
    "postgresql": "sandtable_runner.live.postgres.session",
    "mysql": "sandtable_runner.live.mysql.session",
    "probe": "sandtable_runner.live.probe",
}
"""Imported by name, because each needs a driver that need not be installed."""
_PIDS = 16
_TMP_MB = 4

Send = Callable[[bytes], None]


class Failure(Exception):
    """An expected failure: `kind` says what the server makes of it, `message` is the database's own text."""

    def __init__(self, kind: str, message: str = "", state: str = "") -> None:
        super().__init__(kind)
        self.answer = {"kind": kind, "message": message[:1000], "state": state[:5]}


class Session(Protocol):
    """What a driver offers: one connection, and an answer for each request."""

    def serve(self, request: dict[str, Any], send: Send) -> dict[str, Any]:
        """`send` passes raw bytes to the server before the answer. Raises Failure."""
        ...


def main(config: dict[str, Any]) -> None:
    control = config["control_fd"]
    try:
        driver = importlib.import_module(_DRIVERS[config["kind"]])
    except ModuleNotFoundError as error:
        write_frame(control, {"missing": error.name or str(error)})
        return
    try:
        port = _seal(config)
    except OSError as error:
        write_frame(control, {"unavailable": str(error)})
        return
    write_frame(control, {"ready": True})
    _serve(control, driver.open_session(port))
    os._exit(0)


def _seal(config: dict[str, Any]) -> int:
    """Returns the port that leads to the database. Raises OSError where this host cannot isolate: there is no weaker
    way."""
    if MACHINE not in SUPPORTED:
        raise OSError(f"no system call filter for {MACHINE}")
    isolation = seal.Isolation(namespaces=True, landlock=landlock.abi(), root=os.geteuid() == 0)
    enter_namespaces(None, isolation.root)
    bring_up_loopback()
    port = _hand_over_listener(config["control_fd"])
    # From here on, nothing that this process writes is kept: a driver's complaint might hold a credential.
    nothing = os.open("/dev/null", os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    os.close(nothing)
    if isolation.root:
        kernel.drop_bounding_set()
    os.environ.clear()
    root.add_scratch(_TMP_MB)
    cell = seal.Cell(
        folder=None,
        staging=None,
        memory_mb=config["memory_mb"],
        tmp_mb=_TMP_MB,
        file_mb=_TMP_MB,
        cpu_s=config["cpu_s"],
        pids=_PIDS,
        port=port,
    )
    seal.seal(cell, isolation, seal.Baseline.measure(), -1)
    return port


def _hand_over_listener(control: int) -> int:
    """The server accepts on it: its socket stays in this network namespace."""
    with (
        socket.create_server(("127.0.0.1", 0), backlog=4) as listener,
        socket.socket(fileno=os.dup(control)) as channel,
    ):
        socket.send_fds(channel, [encode_frame({"listening": True})], [listener.fileno()])
        return listener.getsockname()[1]


def _serve(control: int, session: Session) -> None:
    def send(block: bytes) -> None:
        write_frame(control, {"data": len(block)})
        view = memoryview(block)
        while view:
            view = view[os.write(control, view) :]

    while (request := read_frame(control)) is not None:
        if roots := request.pop("roots", ""):
            Path(ROOTS).write_bytes(roots.encode())
        try:
            answer = {"ok": session.serve(request, send)}
        except Failure as failure:
            answer = {"failed": failure.answer}
        except MemoryError:
            answer = {"failed": {"kind": "memory", "message": "", "state": ""}}
        write_frame(control, answer)
