"""The two modes of a `py` template's children: one run, or a session that serves cells until it is closed."""

from __future__ import annotations

import gc
import time
from typing import Any

from sandtable_runner.engine import Connection
from sandtable_runner.frames import read_frame, write_frame
from sandtable_runner.python.errors import failure
from sandtable_runner.python.workspace import Workspace

Outcome = dict[str, Any]


def _open(connection: Connection, job: dict[str, Any]) -> Workspace:
    # The template disables collection so that its pages stay shared; code creates garbage.
    gc.enable()
    tables = [entry["table"] for entry in job["data"]]
    return Workspace(connection, tables, checked=job["options"].get("check", True) is not False)


def run_python(connection: Connection, job: dict[str, Any]) -> Outcome:
    """With `options.before`, runs those cells of a session first; their outcomes are discarded."""
    options = job["options"]
    limits, names = job["limits"], options.get("names") or {}
    workspace = _open(connection, job)
    for cell in options.get("before") or ():
        workspace.run(cell["code"], seed=int(cell["seed"]), limits=limits, names=names)
    return workspace.run(job["text"], seed=int(options.get("seed", 0)), limits=limits, names=names)


def serve_session(connection: Connection, job: dict[str, Any], channel: int) -> None:
    """Ends when the other side closes the channel."""
    workspace = _open(connection, job)
    workspace.listen()
    write_frame(channel, {"ready": True})
    while (message := read_frame(channel)) is not None:
        cell = message["cell"]
        started = time.perf_counter()
        try:
            cell["code"].encode()
            outcome = workspace.run(
                cell["code"], seed=int(cell["seed"]), limits=cell["limits"], names=cell["names"] or {}
            )
        except UnicodeEncodeError as error:
            message = f"the text has a lone surrogate at position {error.start}: it is not valid Unicode"
            outcome = failure("VALIDATION_ERROR", "BadText", message, "send the text as valid UTF-8")
        except MemoryError:
            outcome = failure(
                "RUNNER_RESOURCE_EXCEEDED", "MemoryError", "the code needed more memory than it may use"
            )
        outcome["exec_time_ms"] = (time.perf_counter() - started) * 1e3
        write_frame(channel, outcome)
