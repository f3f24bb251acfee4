"""Where code runs: one namespace, the tables, what was shown. One for a single run, or kept by a session."""

from __future__ import annotations

import contextlib
import signal
import warnings
from collections.abc import Iterator, Mapping
from types import FrameType
from typing import Any

import altair as alt
import pandas as pd
import plotly.basedatatypes
import polars as pl

from sandtable_runner.engine import Connection
from sandtable_runner.python import errors, namespace, seeds
from sandtable_runner.python.artifacts import Artifacts
from sandtable_runner.python.cell import read_cell
from sandtable_runner.python.display import Display
from sandtable_runner.python.output import Output, captured
from sandtable_runner.python.tables import Tables, fetch

Outcome = dict[str, Any]
_KEPT_SOURCES = 200


class Workspace:
    def __init__(self, connection: Connection, tables: list[str], *, checked: bool) -> None:
        self._connection = connection
        self._artifacts = Artifacts()
        self._display = Display(self._artifacts)
        self._tables = Tables(connection, tables)
        self._files: dict[str, str] = {}
        self._sources: dict[str, list[str]] = {}
        self._count = 0
        self._interruptible = False
        self._interrupted = False
        functions = {"sql": self._sql, "tables": self._tables, "con": connection, **self._display.functions()}
        self.names = namespace.fresh(functions, checked=checked)
        _showing[:] = [self._display]
        _hook_up()

    def run(self, code: str, *, seed: int, limits: dict[str, int], names: Mapping[str, str]) -> Outcome:
        """Always returns an outcome, whatever the code does; the names it defined stay."""
        self._count += 1
        self._artifacts.begin(limits["result_bytes"])
        self._display.limits = limits
        self._tables.touched = set()
        outcome: Outcome = {"status": "succeeded"}
        displayed: str | None = None
        with captured(limits["log_bytes"]) as (stdout, stderr):
            try:
                with self._interruption():
                    displayed = self._execute(code, seed, names)
            except BaseException as error:
                outcome = self._failed(error, stderr)
        output = {"artifacts": self._artifacts.shown, "displayed": displayed, "loaded": self._tables.loaded()}
        return {**outcome, "stdout": stdout.text(), "stderr": stderr.text(), "output": output}

    def interrupt(self, number: int, frame: FrameType | None) -> None:
        """The handler of SIGINT. Between two cells there is nothing to interrupt."""
        if self._interruptible:
            self._interrupted = True
            raise KeyboardInterrupt

    def listen(self) -> None:
        signal.signal(signal.SIGINT, self.interrupt)

    @contextlib.contextmanager
    def _interruption(self) -> Iterator[None]:
        self._interrupted = False
        self._interruptible = True
        try:
            yield
        finally:
            self._interruptible = False

    def _execute(self, code: str, seed: int, names: Mapping[str, str]) -> str | None:
        file = self._name_cell(code)
        cell = read_cell(code, file)
        aliases = {alias: table for alias, table in names.items() if table in self._tables}
        if len(self._tables) == 1 and "df" not in self._tables:
            aliases.setdefault("df", next(iter(self._tables)))
        self._tables.serve(cell.tree, self.names, aliases)
        seeds.sow(seed, self._connection, code)
        return self._display.last_expression(cell.execute(self.names))

    def _name_cell(self, code: str) -> str:
        file = f"<cell {self._count}>"
        self._files = {name: name for name in self._sources} | {file: "<cell>"}
        self._sources[file] = code.splitlines()
        if len(self._sources) > _KEPT_SOURCES:
            del self._sources[next(iter(self._sources))]
        return file

    def _failed(self, error: BaseException, stderr: Output) -> Outcome:
        if self._interrupted:
            stderr.write(errors.user_traceback(KeyboardInterrupt().with_traceback(error.__traceback__),
                                               self._files, self._sources))  # fmt: skip
            return errors.failure(
                "RUNNER_TIMEOUT", "Interrupted", "the code was interrupted; variables are as they were then",
                "do less at once, or give it more time",
            )  # fmt: skip
        stderr.write(errors.user_traceback(error, self._files, self._sources))
        if isinstance(error, SyntaxError) and str(error.filename or "").startswith("<cell"):
            return errors.syntax_failure(error)
        return errors.describe(error, self.names)

    def _sql(self, query: str, /, **frames: Any) -> pd.DataFrame:
        """Rows of a query as a DataFrame. Frames of your own are tables by the name they are passed under."""
        if not isinstance(query, str):
            raise TypeError(f"sql takes a query as text, not {type(query).__name__}")
        for name, frame in frames.items():
            self._connection.register(name, frame.to_arrow() if isinstance(frame, pl.DataFrame) else frame)
        try:
            return fetch(self._connection, query)
        finally:
            for name in frames:
                self._connection.unregister(name)


_showing: list[Display] = []
"""The display of the newest workspace, used by `figure.show()`."""


def _show(value: Any, *_: Any, **__: Any) -> None:
    _showing[0].show(value)


def _format_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> str:
    return f"{category.__name__}: {message}\n"


def _hook_up() -> None:
    """`figure.show()` and `chart.display()` show here, not in a browser; warnings name no file of the host.

    Done by the template: in a child, it would invalidate Python's type caches of every subclass.
    """
    for kind, names in (
        (plotly.basedatatypes.BaseFigure, ["show"]),
        (alt.TopLevelMixin, ["show", "display"]),
    ):
        for name in names:
            if vars(kind).get(name) is not _show:
                setattr(kind, name, _show)
    warnings.formatwarning = _format_warning
