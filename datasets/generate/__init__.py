"""Writes the CSV files of the built-in datasets: the same bytes on every machine and Python.

Invariant: pure standard library, integer arithmetic and this package's own generator of random
numbers. Nothing here may depend on libm, the locale, the clock or the order of a set.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from . import ecommerce, sensors, support
from .table import CsvTable

DATASETS: dict[str, Callable[[], list[CsvTable]]] = {
    "ecommerce": ecommerce.tables,
    "support": support.tables,
    "sensors": sensors.tables,
}


def generate(out: Path, only: Sequence[str] = ()) -> list[Path]:
    """Write `<out>/<dataset>/<table>.csv` and return the paths."""
    written: list[Path] = []
    for dataset in only or DATASETS:
        folder = out / dataset
        folder.mkdir(parents=True, exist_ok=True)
        for table in DATASETS[dataset]():
            path = folder / table.file
            path.write_bytes(table.to_bytes())
            written.append(path)
    return written
