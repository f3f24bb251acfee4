"""Weights as whole numbers, so that the shipped file is small.

A row is counted in steps of a part of its own spread. Most of the counts are small then, and a common compression
(`gzip`) keeps them in about four and a half bits each; none is over 63, so that processors without VNNI compute the
same. The last epochs of training see the rounded weights, so that the network learns to do with them.
"""

from __future__ import annotations

import numpy as np

STEP = 0.22
"""One step of the encoder's matrices, as a part of the spread of their row."""
MOST = 63


def rounded(value: np.ndarray, step: float = STEP) -> tuple[np.ndarray, np.ndarray]:
    """Each row as whole numbers, and the number that one of them stands for."""
    scale = step * np.sqrt(np.mean(np.square(value), axis=1))
    scale[scale == 0] = 1
    counts = np.clip(np.round(value / scale[:, None]), -MOST, MOST)
    return counts.astype(np.int8), scale.astype(np.float32)
