"""The learned weights: read once from the package, checked against their recorded digest, then kept.

`weights.bin` holds one signed byte for each bucket; `weights.json` beside it says what a unit is, how scores
become probabilities, and the digest. Both are written by `scripts/train_planner.py`.
"""

from __future__ import annotations

import hashlib
import json
from array import array
from bisect import bisect_right
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from sandtable.planner.candidates.lookup.features import BUCKETS
from sandtable.planner.candidates.lookup.guesses import Scorer

FOLDER = Path(__file__).parent
WEIGHTS = "weights.bin"
HEADER = "weights.json"


@dataclass(frozen=True, slots=True)
class Model:
    scorer: Scorer
    knots: tuple[tuple[float, float], ...]
    """Score and probability, both rising; between two knots the probability is on the straight line."""

    def probability(self, score: float) -> float:
        at = bisect_right(self.knots, (score, 2.0))
        if at == 0:
            return self.knots[0][1]
        if at == len(self.knots):
            return self.knots[-1][1]
        (x0, y0), (x1, y1) = self.knots[at - 1], self.knots[at]
        return y0 + (y1 - y0) * (score - x0) / (x1 - x0)


@cache
def load_weights() -> Model:
    return read_weights(FOLDER)


def read_weights(folder: Path) -> Model:
    """Raises an error when the two files do not match: the package is broken."""
    header: dict[str, Any] = json.loads((folder / HEADER).read_text(encoding="utf-8"))
    content = (folder / WEIGHTS).read_bytes()
    if hashlib.sha256(content).hexdigest() != header["sha256"] or len(content) != BUCKETS:
        raise RuntimeError(f"{folder / WEIGHTS} is not what {HEADER} describes: install sandtable again")
    knots = tuple((float(score), float(chance)) for score, chance in header["knots"])
    return Model(Scorer(array("b", content), float(header["unit"])), knots)
