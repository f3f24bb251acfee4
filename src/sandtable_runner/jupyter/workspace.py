"""The workspace of a Jupyter kernel: cells that a person's client sends, and cells that are measured.

A *measured* cell is run as in any other session, with limits, a seed and artifacts; the others are run by IPython. Both
share one namespace.
"""

from __future__ import annotations

import ast
import re
from typing import Any

from sandtable_runner.engine import Connection
from sandtable_runner.jupyter.display import Screen
from sandtable_runner.python.workspace import Outcome, Workspace, _showing

_WORD = re.compile(r"[^\W\d]\w*")


class KernelWorkspace(Workspace):
    def __init__(
        self, connection: Connection, tables: list[str], aliases: dict[str, str], *, checked: bool
    ) -> None:
        super().__init__(connection, tables, checked=checked)
        self._screen = self._display = Screen(self._artifacts)
        self._aliases = {alias: table for alias, table in aliases.items() if table in self._tables}
        if len(tables) == 1 and "df" not in self._tables:
            self._aliases.setdefault("df", tables[0])
        self.names.update(self._screen.functions())
        # `figure.show()` reads the display to use from here.
        _showing[:] = [self._screen]

    def measure(self, code: str, cell: dict[str, Any]) -> Outcome:
        self._screen.measured = True
        try:
            return self.run(code, seed=int(cell["seed"]), limits=cell["limits"], names=cell["names"] or {})
        finally:
            self._screen.measured = False

    def bring(self, code: str, *, whole: bool = False) -> None:
        """Load the tables that the code names into the namespace; `whole` where it is not plain Python."""
        if whole:
            words = set(_WORD.findall(code)) & {*self._tables, *self._aliases}
            code = "\n".join(sorted(words))
        try:
            tree = ast.parse(code)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            # Running the code will report what is wrong with it.
            return
        self._tables.serve(tree, self.names, self._aliases)
