"""Whether the optional Python packages are installed. Reads their metadata: nothing is imported here."""

from __future__ import annotations

import platform
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version

PACKAGES = ("pandas", "numpy", "polars", "plotly", "altair", "pyarrow", "scipy")
HOW_TO_INSTALL = "pip install 'sandtable[python]'"


def missing_packages() -> tuple[str, ...]:
    return tuple(name for name in PACKAGES if _version(name) is None)


@lru_cache(maxsize=1)
def libraries() -> str:
    """Versions that the results of code depend on, for the capsule: `python 3.11.2, pandas 3.1.0, …`."""
    found = ((name, _version(name)) for name in PACKAGES)
    named = [f"{name} {number}" for name, number in found if number is not None]
    return ", ".join([f"python {platform.python_version()}", *named])


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
