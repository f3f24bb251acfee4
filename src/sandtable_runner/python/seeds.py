"""Random numbers that are the same for the same code and data."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import polars as pl

from sandtable_runner import engine

_default_rng = np.random.default_rng


def sow(seed: int, connection: engine.Connection, code: str) -> None:
    """Seed every generator that code can use without a seed."""
    random.seed(seed)
    np.random.seed(seed & 0xFFFFFFFF)
    pl.set_random_seed(seed & 0xFFFFFFFFFFFFFFFF)
    sequence = np.random.SeedSequence(seed)

    def default_rng(seed: Any = None) -> np.random.Generator:
        return _default_rng(sequence.spawn(1)[0] if seed is None else seed)

    np.random.default_rng = default_rng
    if engine.draws_lots(code):
        connection.execute(f"SELECT setseed({(seed & 0xFFFFFFFF) / 2**32!r})").fetchall()
