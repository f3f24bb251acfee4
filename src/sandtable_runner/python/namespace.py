"""The names that code can use: libraries, functions, builtins. `policy.python.names` lists the same as data.

Invariant: with the check on, code gets builtins that open nothing and an import that serves only preloaded modules.
With the check off it gets Python's own, and only the sandbox protects the host.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Sequence
from typing import Any

from sandtable_runner.python.libraries import IMPORTABLE, MODULES

FUNCTIONS = (
    "sql", "show", "display", "show_table", "show_plot", "show_html", "show_mermaid", "show_markdown",
)  # fmt: skip
DATA = ("df", "tables", "con")
"""Besides the dataset's tables; `df` where there is exactly one."""

WITHHELD = frozenset(
    """
    open exec eval compile input breakpoint help exit quit copyright credits license globals locals
    __import__ __loader__ __spec__ __debug__ __doc__ __package__ __name__
    """.split()
)


def builtin_names() -> frozenset[str]:
    return frozenset(vars(builtins)) - WITHHELD


def importer() -> Callable[..., Any]:
    real = builtins.__import__

    def restricted(
        name: str,
        globals: dict[str, Any] | None = None,
        locals: dict[str, Any] | None = None,
        fromlist: Sequence[str] = (),
        level: int = 0,
    ) -> Any:
        if isinstance(fromlist, list):
            # Not an import statement of the code: a library's compiled module imports its own modules.
            return real(name, globals, locals, fromlist, level)
        if level != 0 or name not in IMPORTABLE or name not in sys.modules:
            root = name.partition(".")[0]
            why = "is not one of the modules that are here" if root in IMPORTABLE else "is not available here"
            raise ImportError(f"{name!r} {why}: {', '.join(sorted(n for n in IMPORTABLE if '.' not in n))}")
        return real(name, None, None, fromlist, 0)

    return restricted


def fresh(functions: dict[str, Any], *, checked: bool) -> dict[str, Any]:
    """A namespace with everything but the tables."""
    if checked:
        own: dict[str, Any] = {name: getattr(builtins, name) for name in builtin_names()}
        own["__import__"] = importer()
        own["__name__"] = "builtins"
    else:
        own = builtins.__dict__
    return {"__name__": "__main__", "__builtins__": own, "__doc__": None, **MODULES, **functions}
