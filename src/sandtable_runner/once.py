"""The single-use program of a container: start the engine, take one order, run it in one sealed child, report, end.

python -m sandtable_runner.once '{"store": "/data", "kind": "sql", "input": "stdin", "nonce": "…", "wait_s": 60}'

Standard output carries lines of JSON, each with a `kind`: `ready`, or `unavailable` and why; then a `report` with the
nonce. The container is one layer of isolation, the child's seal another. Invariant: only this supervisor writes to
standard output, and it runs no untrusted code.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sandtable_runner import environment
from sandtable_runner.frames import write_frame
from sandtable_runner.host import probe_host
from sandtable_runner.once_child import Child, ChildReport, OutOfMemory
from sandtable_runner.once_order import Abandoned, BadOrder, Inlet, check, open_inlet
from sandtable_runner.template import close_in, load_interpreter, start_engines, version_of

_UNAVAILABLE = 1
_WAIT_S = 3600.0


class _Unavailable(Exception):
    """This container cannot do the work; the reason is reported as `unavailable`."""

    def __init__(self, message: str, reasons: list[str] | None = None) -> None:
        super().__init__(message)
        self.reasons = reasons or []


@dataclass(frozen=True, slots=True)
class Config:
    store: str
    kind: str = "sql"
    input: str = "stdin"
    """`stdin`, `file:/path` or `tcp:port`."""
    nonce: str = ""
    wait_s: float = _WAIT_S
    """How long to wait for the order."""
    token_sha256: str = ""
    """Digest of the token that a connection must begin with (`tcp`)."""
    leash: bool | None = None
    """Whether the run ends when its input does. By default, only for a connection."""
    namespaces: bool = True
    ready: dict[str, Any] = field(default_factory=dict)
    """How the child gets ready before the order is known: bound to a dataset and sealed, or warm. See `child`."""

    @property
    def leashed(self) -> bool:
        return self.input.startswith("tcp:") if self.leash is None else self.leash


def main() -> None:
    try:
        config = Config(**json.loads(sys.argv[1]))
    except (IndexError, TypeError, ValueError) as error:
        sys.exit(f"once takes one argument, its configuration as a JSON object: {error}")
    _salt_no_hashes(config)
    signal.signal(signal.SIGTERM, lambda *_: os._exit(128 + signal.SIGTERM))
    try:
        code = _serve(config)
    except _Unavailable as error:
        _say({"kind": "unavailable", "message": str(error), "reasons": error.reasons})
        code = _UNAVAILABLE
    # The process is done: skip Python's clean-up.
    os._exit(code)


def _salt_no_hashes(config: Config) -> None:
    """Restart with the environment that code needs. `-s -P` replace `-I`, which would ignore the environment."""
    if config.kind != "sql" and sys.flags.hash_randomization:
        command = [sys.executable, "-s", "-P", "-m", "sandtable_runner.once", *sys.argv[1:]]
        os.execve(sys.executable, command, environment.CODE)  # noqa: S606 - itself, no shell wanted


def _serve(config: Config) -> int:
    if config.kind not in ("sql", "py"):
        raise _Unavailable(f"there is no kind {config.kind!r}: `sql` or `py`")
    out_of_memory = OutOfMemory()
    try:
        interpreter = load_interpreter(config.kind)
    except ModuleNotFoundError as error:
        raise _Unavailable(f"Python code cannot run here: there is no module {error.name!r}") from error
    engines = start_engines(interpreter)
    if not Path(config.store).is_dir():
        raise _Unavailable(f"there is no folder {config.store} in this container")
    isolation, reasons = probe_host(config.store, allow_namespaces=config.namespaces, contained=True)
    if isolation is None:
        raise _Unavailable("this container does not let the runner isolate: " + "; ".join(reasons), reasons)
    try:
        # Before the seal: the input is outside the sandbox.
        inlet = open_inlet(config.input, config.token_sha256)
    except (OSError, ValueError) as error:
        raise _Unavailable(f"no order can come in by {config.input!r}: {error}") from error
    version = version_of(interpreter)
    template = close_in(isolation, config.store, engines, interpreter)

    def fork(ready: dict[str, Any]) -> Child:
        return Child.fork(template, ready, out_of_memory)

    child = _prepare(fork, config.ready)
    _say({"kind": "ready", "engine": version, "layers": isolation.layers, "reasons": reasons})
    return _take_one(config, inlet, child, fork)


def _prepare(fork: Callable[[dict[str, Any]], Child], ready: dict[str, Any]) -> Child | None:
    """A child that waits for the order."""
    if not ready:
        return None
    child = fork(ready)
    if trouble := child.await_ready():
        child.end()
        raise _Unavailable(f"the sandbox does not get ready: {trouble} {child.output}".strip())
    return child


def _take_one(
    config: Config, inlet: Inlet, child: Child | None, fork: Callable[[dict[str, Any]], Child]
) -> int:
    try:
        order = inlet.take(time.monotonic() + config.wait_s)
        check(order, config.kind, config.ready)
    except Abandoned:
        return 0
    except BadOrder as error:
        _report(config, inlet, ChildReport(trouble=str(error)))
        return 0
    deadline = time.monotonic() + order["limits"]["wall_ms"] / 1e3
    is_ready = child is not None
    if child is None:
        cell = {name: order["cell"][name] for name in ("tmp_mb", "memory_mb")}
        child = fork({"presealed": False, "warm": False, "cell": cell})
    order["presealed"] = bool(config.ready.get("presealed"))
    try:
        report = child.serve(order, deadline, inlet.fd if config.leashed else None, is_ready=is_ready)
    except Abandoned:
        child.end()
        return 0
    _report(config, inlet, report)
    child.end()
    return 0


def _report(config: Config, inlet: Inlet, report: ChildReport) -> None:
    message = {"kind": "report", "nonce": config.nonce, **report.message()}
    if inlet.answers:
        with contextlib.suppress(ConnectionError):
            write_frame(inlet.fd, message)
    else:
        _say(message)


def _say(message: dict[str, Any]) -> None:
    """One line, ASCII only, so that no log on the way splits or changes it."""
    view = memoryview(json.dumps(message, separators=(",", ":")).encode() + b"\n")
    while view:
        view = view[os.write(1, view) :]


if __name__ == "__main__":
    main()
