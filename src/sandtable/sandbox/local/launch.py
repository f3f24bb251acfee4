"""Launches template processes (`sandtable_runner.zygote`), also before the rest of a command is loaded.

A command that needs a sandbox loads modules for most of its time, and a template takes as long to start: `begin` lets
both happen at once. A template that is not used ends with the process that began it.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Literal, NamedTuple

from sandtable_runner import environment

TemplateKind = Literal["sql", "py", "jupyter"]

# `-I` would also ignore the hash seed; `-s -P` and our own environment do the rest of what it does.
_COMMAND: dict[TemplateKind, tuple[list[str], dict[str, str]]] = {
    "sql": (["-I"], environment.SQL),
    "py": (["-s", "-P"], environment.CODE),
    "jupyter": (["-s", "-P"], environment.CODE),
}


class Wanted(NamedTuple):
    kind: TemplateKind
    store: Path
    isolation: str
    nice: int


Launched = tuple["subprocess.Popen[bytes]", socket.socket]
_BEGUN: dict[Wanted, Launched] = {}


def begin(wanted: Wanted) -> None:
    """Launches it for a later `launched` of the same process. To be called on the thread of the event loop."""
    if sys.platform.startswith("linux") and wanted not in _BEGUN:
        _BEGUN[wanted] = _launch(wanted)


def launched(wanted: Wanted) -> Launched:
    """The process, and our end of its control socket. It ends with the calling thread, the event loop's."""
    return _BEGUN.pop(wanted, None) or _launch(wanted)


def _launch(wanted: Wanted) -> Launched:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        config = {
            "store": str(wanted.store),
            "isolation": wanted.isolation,
            "nice": wanted.nice,
            "kind": wanted.kind,
            "control_fd": theirs.fileno(),
            "server": os.getpid(),
        }
        flags, environment = _COMMAND[wanted.kind]
        process = subprocess.Popen(
            [sys.executable, *flags, "-m", "sandtable_runner", json.dumps(config)],
            pass_fds=[theirs.fileno()], env=environment, cwd="/", stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
    return process, ours
