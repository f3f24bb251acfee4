"""The `jupyter` template's part: what the `py` template has, and an IPython kernel ready to start."""

from __future__ import annotations

import gc
import importlib
import sys
import threading
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from IPython.utils.PyColorize import theme_table

from sandtable_runner.child import Interpreter
from sandtable_runner.engine import Connection
from sandtable_runner.frames import write_frame
from sandtable_runner.jupyter.kernel import make_app
from sandtable_runner.jupyter.workspace import KernelWorkspace
from sandtable_runner.python import shelf, template

_PACKAGES = (
    "IPython ipykernel jupyter_client jupyter_core tornado traitlets zmq asttokens comm executing pure_eval pygments "
    "pexpect ptyprocess stack_data"
).split()
_ON_FIRST_USE = """
bdb cProfile cmd code faulthandler pdb profile pstats readline resource sqlite3 timeit ipykernel.debugger
IPython.core.completerlib IPython.core.debugger IPython.core.guarded_eval IPython.core.latex_symbols
IPython.core.logger IPython.core.magic_arguments IPython.core.magics.ast_mod IPython.core.magics.basic
IPython.core.magics.execution IPython.core.magics.history IPython.core.magics.namespace
IPython.core.magics.osm IPython.core.oinspect IPython.external.pickleshare IPython.utils.module_paths
IPython.utils.timing IPython.utils.wildcard pygments.console pygments.formatters.html
pygments.formatters.terminal256 pygments.lexers.python pygments.styles.default stack_data tornado.locks
tornado.queues xml.dom.expatbuilder xml.dom.minidom
""".split()
"""What a kernel loads when it starts or when a cell first needs it."""
_END_S = 1.0
_THEMES = ("neutral", "nocolor", "linux", "lightbg")


class _Jupyter:
    """Implements `child.Interpreter`."""

    def __init__(self, python: Interpreter) -> None:
        self._python = python
        self.version = f"{python.version}, ipykernel {version('ipykernel')}"
        self.environment = {**python.environment, "HOME": "/scratch", "TMPDIR": "/scratch"}

    def run(self, connection: Connection, job: dict[str, Any]) -> dict[str, Any]:
        return self._python.run(connection, job)

    def warm_up(self, connection: Connection, sample: str | None, tables: Sequence[str] = ()) -> None:
        self._python.warm_up(connection, sample, tables)

    def rehearse(self, connection: Connection) -> None:
        self._python.rehearse(connection)

    def serve(self, connection: Connection, job: dict[str, Any], channel: int) -> None:
        """Ends when a client shuts the kernel down."""
        gc.enable()
        options = job["options"]
        workspace = KernelWorkspace(
            connection,
            [entry["table"] for entry in job["data"]],
            options.get("names") or {},
            checked=options.get("check", True) is not False,
        )
        app = make_app(workspace, job["sockets"], **job["kernel"])
        write_frame(channel, {"ready": True})
        app.start()
        # Flush the last messages, but not for longer than the timeout.
        ending = threading.Thread(target=app.close, daemon=True)
        ending.start()
        ending.join(_END_S)


def prepare() -> _Jupyter:
    # Its debugger listens on a port and traces every thread.
    sys.modules["debugpy"] = None  # pyright: ignore[reportArgumentType] - so Python marks what is not to be found
    for name in (*_PACKAGES, *_ON_FIRST_USE):
        importlib.import_module(name)
    for theme in _THEMES:
        # Each theme is a file.
        theme_table[theme].as_pygments_style()
    shelf.stock(_PACKAGES)
    return _Jupyter(template.prepare())
