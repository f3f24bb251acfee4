"""Sandtable: questions about tabular data, judged by a gate, run in a sealed sandbox, proven by a capsule.

    >>> import sandtable
    >>> sandtable.run("print(df.groupby('city').amount.sum())", data="sales.csv").stdout
    >>> sandtable.ask("What was revenue by month in 2024?", data="ecommerce").text

`run` takes Python, `ask` a question in plain language, `Session` Python in several pieces that share their variables.
They return values; runs and answers leave a signed record. `sandtable.aio` has the same functions as coroutines.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sandtable.errors import InvalidInput, NotFound, QueueFull, SandboxUnavailable, SandtableError
    from sandtable.library import Answer, RunResult, Session, Table, aio, ask, close, run

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "InvalidInput",
    "NotFound",
    "QueueFull",
    "RunResult",
    "SandboxUnavailable",
    "SandtableError",
    "Session",
    "Table",
    "__version__",
    "aio",
    "ask",
    "close",
    "run",
]

# Imported lazily: `sandtable --help` and every import of a submodule execute this file first.
_ERRORS = ("InvalidInput", "NotFound", "QueueFull", "SandboxUnavailable", "SandtableError")


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module("sandtable.errors" if name in _ERRORS else "sandtable.library"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
