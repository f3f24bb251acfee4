"""SBIR awards for agents: the data on this machine, and Python code that can read it and nothing else.

    >>> import sbirtools
    >>> sbirtools.run("print(award_data.shape)").stdout

`award_data` is a pandas DataFrame with one row per award. The code runs in a sealed sandbox without network
or files; its output is `stdout`. See `run` for what the code can use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sbirtools.data import download_csv, download_csv_if_missing, get_cache_path, get_csv_url
from sbirtools.errors import DownloadError

if TYPE_CHECKING:
    from sbirtools.frame import load_sbir_dataframe
    from sbirtools.sandbox import RunResult, SandboxSession, run

__all__ = [
    "DownloadError",
    "RunResult",
    "SandboxSession",
    "download_csv",
    "download_csv_if_missing",
    "get_cache_path",
    "get_csv_url",
    "load_sbir_dataframe",
    "run",
]

# Imported by name on first access: pandas alone takes longer to import than all the rest.
_LATER = {
    "load_sbir_dataframe": "sbirtools.frame",
    "RunResult": "sbirtools.sandbox",
    "SandboxSession": "sbirtools.sandbox",
    "run": "sbirtools.sandbox",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
