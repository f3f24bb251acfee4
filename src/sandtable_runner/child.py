"""One sandbox: forked from the template, sealed, serves one job, exits. (A parser may serve one person's texts.)

It becomes ready in one of two ways. *Presealed*: bound to a dataset and sealed before the job is known. *Standby*: only
warmed up, sealed when the job names its data. In both cases the engine reads the job's text only after the seal.
"""

from __future__ import annotations

import json
import os
import socket
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from sandtable_runner import engine, kernel, root
from sandtable_runner.frames import read_frame, write_frame
from sandtable_runner.modes import MODES
from sandtable_runner.outcomes import Outcome, bad_unicode, out_of_memory
from sandtable_runner.seal import Baseline, Cell, Isolation, seal

JOB_FD = 3
STORE_FD = 4
EXIT_SETUP = 70
REHEARSAL = (
    "SELECT a, sum(b) AS s FROM (VALUES (1, 2.5)) AS t(a, b) WHERE a > 0 GROUP BY a ORDER BY s DESC LIMIT 5"
)


class Interpreter(Protocol):
    """What a `py` template adds: see `sandtable_runner.python.template`."""

    version: str
    environment: dict[str, str]

    def run(self, connection: engine.Connection, job: dict[str, Any]) -> Outcome: ...

    def serve(self, connection: engine.Connection, job: dict[str, Any], channel: int) -> None: ...

    def warm_up(
        self, connection: engine.Connection, sample: str | None, tables: Sequence[str] = ()
    ) -> None: ...

    def rehearse(self, connection: engine.Connection) -> None:
        """In the template, once for all of its children."""
        ...


@dataclass(frozen=True, slots=True)
class Template:
    """What every child inherits."""

    connection: engine.Connection
    parser: engine.Connection
    """A separate engine, which never has data."""
    isolation: Isolation
    baseline: Baseline
    store_fd: int
    interpreter: Interpreter | None = None


def live(template: Template, order: dict[str, Any]) -> None:
    """Runs the child from fork to exit. `order` comes from the server: how to get ready. Never returns."""
    code = EXIT_SETUP
    try:
        code = _serve(template, order)
    except BaseException:
        # The server keeps this output and shows it to the operator.
        os.write(2, traceback.format_exc().encode(errors="replace"))
    finally:
        kernel.close_everything()
        os._exit(code)


def _serve(template: Template, order: dict[str, Any]) -> int:
    _keep_only_the_job(template)
    kernel.die_with_parent()
    if template.isolation.namespaces:
        kernel.unshare(kernel.CLONE_NEWNS)
        root.add_scratch(order["cell"]["tmp_mb"])
    _get_ready(template, order)
    write_frame(JOB_FD, {"ready": True})
    job = read_frame(JOB_FD)
    if job is None:
        return 0
    started = time.perf_counter()
    if job["cell"].get("sockets"):
        job["sockets"] = _receive_sockets(JOB_FD, job["cell"]["sockets"])
    if not order["presealed"]:
        if job["cell"]["memory_mb"] != order["cell"]["memory_mb"]:
            engine.set_budget(template.connection, *budget_of(template, job))
        if not order["warm"] and engine.draws_lots(job["text"]):
            engine.reseed(template.connection)
        _close(template, job)
    seal_ms = (time.perf_counter() - started) * 1e3
    if job["mode"] == "session":
        _interpreter(template).serve(template.connection, job, JOB_FD)
        return 0
    while job is not None:
        outcome = _run(template, job)
        outcome["metrics"] = {**outcome.get("metrics", {}), "seal_ms": seal_ms}
        write_frame(JOB_FD, outcome)
        job = read_frame(JOB_FD) if _goes_on(job) else None
        seal_ms = 0.0
    return 0


def _receive_sockets(fd: int, count: int) -> list[int]:
    """They arrive after a message, attached to one byte."""
    with socket.socket(fileno=os.dup(fd)) as channel:
        _, received, _, _ = socket.recv_fds(channel, 1, count)
    if len(received) != count:
        raise ValueError(f"{len(received)} sockets came, {count} were announced")
    return received


def _goes_on(job: dict[str, Any]) -> bool:
    """A parser without data may get another text of the same person; a held one gets its text again in canonical form,
    and runs it."""
    return job["mode"] == "parse" and bool(job["options"].get("keep") or job["options"].get("hold"))


def _get_ready(template: Template, order: dict[str, Any]) -> None:
    """Everything that can be done before the job is known."""
    if order["warm"]:
        engine.reseed(template.connection)
    if order["presealed"]:
        _close(template, order)
    if order["warm"]:
        _rehearse(template, order)


def budget_of(template: Template, order: dict[str, Any]) -> tuple[int, str | None]:
    """Memory in MiB, and where to spill.

    The engine lets SQL read and write the folder that it spills to. SQL sent by code is not checked by the gate, so the
    engine of a template for code spills nowhere, and SQL from code can write no file.
    """
    cell = order["cell"]
    spills = template.isolation.spills and template.interpreter is None and cell["tmp_mb"]
    return cell["memory_mb"], "/scratch" if spills else None


def _rehearse(template: Template, order: dict[str, Any]) -> None:
    """Touch the code and memory that a job needs."""
    mode = order.get("mode", "sql")
    if mode != "parse":
        engine.warm_up(template.connection)
    sample = _sample(template) if not order["presealed"] else None
    tables = [table["table"] for table in order.get("data", ())]
    if template.interpreter is not None:
        template.interpreter.warm_up(template.connection, sample, tables)
        return
    if sample is not None:
        engine.read_sample(template.connection, sample)
    for table in tables:
        template.connection.execute(f"SELECT * FROM {engine.quote(table)} LIMIT 1").fetchall()
    limits = {"rows": 10, "cell_bytes": 64, "result_bytes": 1024}
    job = {"mode": mode, "text": REHEARSAL, "limits": limits, "options": {"float_columns": ["b"]}}
    json.dumps(_run(template, job))
    if mode == "sql":
        json.dumps(_run(template, {**job, "mode": "parse"}))


def _sample(template: Template) -> str | None:
    """The store is still visible: it is hidden when the job's data is bound."""
    if template.isolation.namespaces:
        path = f"/store/{engine.SAMPLE}"
    else:
        os.fchdir(STORE_FD)
        path = engine.SAMPLE
    return path if Path(path).exists() else None


def _keep_only_the_job(template: Template) -> None:
    """Descriptors 0–3 were set up by the template; of the rest only the store's folder stays open."""
    if template.store_fd < 0:
        kernel.close_all_from(STORE_FD)
        return
    os.dup2(template.store_fd, STORE_FD)
    kernel.close_all_from(STORE_FD + 1)


def _close(template: Template, order: dict[str, Any]) -> None:
    """Seal, open the tables, lock the engine."""
    cell = Cell(**order["cell"])
    seal(cell, template.isolation, template.baseline, STORE_FD if template.store_fd >= 0 else -1)
    if order["mode"] in ("ingest", "export"):
        # These modes read and write files, inside the sealed sandbox.
        order["out"] = "/out" if template.isolation.namespaces else cell.out
        return
    if order["mode"] != "parse" or order.get("options", {}).get("hold"):
        engine.open_tables(template.connection, order["data"], order["threads"])


def _run(template: Template, job: dict[str, Any]) -> Outcome:
    started = time.perf_counter()
    try:
        job["text"].encode()
        if job["mode"] == "python":
            outcome = _interpreter(template).run(template.connection, job)
        else:
            connection = template.parser if job["mode"] == "parse" else template.connection
            outcome = MODES[job["mode"]](connection, job)
    except UnicodeEncodeError as error:
        outcome = bad_unicode(error)
    except MemoryError:
        outcome = out_of_memory()
    outcome["exec_time_ms"] = (time.perf_counter() - started) * 1e3
    return outcome


def _interpreter(template: Template) -> Interpreter:
    if template.interpreter is None:
        raise RuntimeError("this template has no libraries: code was sent to the wrong one")
    return template.interpreter
