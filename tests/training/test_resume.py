"""A training can go on from the weights of the shipped reader."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from training.reader.resume import earlier_weights

MODEL = Path(__file__).resolve().parents[2] / "src/sandtable/planner/candidates/network/model"


def test_the_shipped_files_hold_every_weight_of_the_network() -> None:
    weights = earlier_weights(MODEL)
    pieces = len((MODEL / "vocabulary.txt").read_text(encoding="utf-8").splitlines())
    assert weights["piece.weight"].shape == (pieces, 384)
    assert weights["place.weight"].shape == (256, 384)
    for layer in range(12):
        shapes = {
            part: weights[f"layers.{layer}.{part}.weight"].shape
            for part in ("q", "k", "v", "o", "up", "down")
        }
        square = (384, 384)
        assert shapes == {
            "q": square,
            "k": square,
            "v": square,
            "o": square,
            "up": (1536, 384),
            "down": (384, 1536),
        }
    assert {"deep.0.q.weight", "deep.1.down.bias", "word.weight", "pointed.weight"} <= weights.keys()
    assert all(np.isfinite(value).all() for value in weights.values())


def test_weights_of_a_training_come_before_the_shipped_ones(tmp_path: Path) -> None:
    np.savez(tmp_path / "weights-0.npz", a=np.ones(3, np.float16))
    np.savez(tmp_path / "weights-1.npz", b=np.zeros(2, np.float16))
    assert {name: value.tolist() for name, value in earlier_weights(tmp_path).items()} == {
        "a": [1] * 3,
        "b": [0] * 2,
    }
