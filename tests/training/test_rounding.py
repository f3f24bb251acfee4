"""Weights as whole numbers: small, and near enough to what they stand for."""

from __future__ import annotations

import gzip

import numpy as np

from training.reader.rounding import MOST, STEP, rounded

WEIGHTS = (
    np.random.default_rng(1).normal(size=(64, 512)).astype(np.float32) * np.linspace(0.01, 3, 64)[:, None]
)


def test_each_row_is_counted_in_steps_of_its_own_spread() -> None:
    counts, scales = rounded(WEIGHTS)
    assert counts.dtype == np.int8 and np.abs(counts).max() <= MOST
    error = np.abs(counts * scales[:, None] - WEIGHTS)
    spread = np.sqrt(np.mean(np.square(WEIGHTS), axis=1))
    assert (error <= 0.51 * STEP * spread[:, None]).all()


def test_a_weight_takes_less_than_five_bits() -> None:
    counts, _ = rounded(WEIGHTS)
    assert len(gzip.compress(counts.tobytes())) * 8 < 5 * counts.size


def test_a_row_of_nothing_stays_nothing() -> None:
    counts, scales = rounded(np.zeros((2, 8), np.float32))
    assert not counts.any() and (scales > 0).all()
