"""The packaged weights: whole, small, and what their header says."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from sandtable.planner.candidates.lookup.features import BUCKETS
from sandtable.planner.candidates.lookup.weights import FOLDER, HEADER, WEIGHTS, load_weights, read_weights


def test_the_weights_are_those_that_were_recorded() -> None:
    header = json.loads((FOLDER / HEADER).read_text(encoding="utf-8"))
    content = (FOLDER / WEIGHTS).read_bytes()
    assert hashlib.sha256(content).hexdigest() == header["sha256"]
    assert len(content) == BUCKETS < 5_000_000
    assert len(content) - content.count(0) == header["nonzero"]


def test_probabilities_rise_with_the_score() -> None:
    model = load_weights()
    assert all(a[0] < b[0] and a[1] <= b[1] for a, b in pairwise(model.knots))
    chances = [model.probability(score / 10) for score in range(-200, 201)]
    assert all(0.0 < chance < 1.0 for chance in chances)
    assert chances == sorted(chances)
    middle = model.knots[len(model.knots) // 2]
    assert model.probability(middle[0]) == middle[1]


def test_a_changed_byte_is_noticed(tmp_path: Path) -> None:
    for name in (WEIGHTS, HEADER):
        shutil.copy(FOLDER / name, tmp_path / name)
    content = bytearray((tmp_path / WEIGHTS).read_bytes())
    content[1000] ^= 1
    (tmp_path / WEIGHTS).write_bytes(content)
    with pytest.raises(RuntimeError, match="install sandtable again"):
        read_weights(tmp_path)


def test_nothing_is_read_before_the_first_question() -> None:
    """Importing the planner stays cheap for those who never ask."""
    imports = "from sandtable.planner.candidates.lookup import lookup, weights"
    code = f"{imports}; print(weights.load_weights.cache_info().currsize)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "0"
