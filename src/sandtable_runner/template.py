"""How a template is made: engine and libraries in memory, isolated, one thread.

Invariant: a template has never read a dataset, a query, or any message of a child. Children are forked from it, many by
`zygote` for a server on the same machine, one by `once` in a container.
"""

from __future__ import annotations

import fcntl
import gc
import importlib
import os
import sys
from pathlib import Path

from sandtable_runner import engine, kernel, parse, seal, seccomp
from sandtable_runner.child import REHEARSAL, Interpreter, Template
from sandtable_runner.namespaces import enter_namespaces

_INTERPRETERS = {
    "py": "sandtable_runner.python.template",
    "jupyter": "sandtable_runner.jupyter.template",
}
"""Imported by name, because only these kinds of templates have the libraries."""


def load_interpreter(kind: str) -> Interpreter | None:
    """None for a template for SQL only. Raises ModuleNotFoundError. May return in a fork of this process."""
    if kind not in _INTERPRETERS:
        return None
    if kind == "py":
        # If it is installed, chart libraries would load all of it to check whether they are in a notebook.
        sys.modules["IPython"] = None  # pyright: ignore[reportArgumentType] - so Python marks what is not to be found
    # While libraries load, a collection scans everything and finds nothing.
    gc.disable()
    return importlib.import_module(_INTERPRETERS[kind]).prepare()


def start_engines(interpreter: Interpreter | None) -> tuple[engine.Connection, engine.Connection]:
    """The connection that will run queries, and the one that only parses."""
    connection = engine.connect()
    parser = engine.connect_parser()
    if interpreter is None:
        parse.prepare(parser)
        parse.parse(parser, REHEARSAL, ["b"])
    else:
        interpreter.rehearse(connection)
    return connection, parser


def version_of(interpreter: Interpreter | None) -> str:
    return engine.version() if interpreter is None else f"{engine.version()}, {interpreter.version}"


def close_in(
    isolation: seal.Isolation,
    store: str,
    engines: tuple[engine.Connection, engine.Connection],
    interpreter: Interpreter | None,
) -> Template:
    """Clear the environment, isolate the template, and settle the memory that children share."""
    os.environ.clear()
    if interpreter is not None:
        os.environ.update(interpreter.environment)
    store_fd = _isolate(isolation, store)
    gc.collect()
    gc.freeze()
    gc.disable()
    kernel.give_back_free_memory()
    connection, parser = engines
    return Template(connection, parser, isolation, seal.Baseline.measure(), store_fd, interpreter)


def _isolate(isolation: seal.Isolation, store: str) -> int:
    """Isolate the template. Returns the data store's folder as a descriptor, where there is no private root."""
    store_fd = -1
    if isolation.namespaces:
        enter_namespaces(store, isolation.root)
        # Built once for all: every child is process 1 of its pid namespace.
        seccomp.build_filter(1, private_files=True, answering=False)
    else:
        opened = os.open(store, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        # Above the low numbers, which a child's channels use.
        store_fd = fcntl.fcntl(opened, fcntl.F_DUPFD_CLOEXEC, 64)
        os.close(opened)
    if isolation.root:
        kernel.drop_bounding_set()
    threads = len(list(Path("/proc/self/task").iterdir()))
    if threads != 1:
        raise RuntimeError(f"the template must have one thread to fork safely, it has {threads}")
    return store_fd
