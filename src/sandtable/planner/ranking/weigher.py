"""How likely a candidate is what was meant: boosted trees over its features, calibrated.

`trees.json` is written by `training.reader.weigh`. It holds the names of the features, so that trees of another
version are not used by mistake.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

from sandtable.planner.ranking.features import NAMES


@dataclass(frozen=True, slots=True)
class Weigher:
    base: float
    trees: tuple[tuple[tuple[int, float, int, int, float], ...], ...]
    """For each tree its nodes: feature (-1 for a leaf), threshold, left, right, value."""
    slope: float
    offset: float

    @staticmethod
    def of(stored: dict[str, Any]) -> Weigher:
        if tuple(stored["features"]) != NAMES:
            raise ValueError("the trees were grown on other features: run training.reader.weigh")
        trees = tuple(
            tuple((int(f), float(t), int(left), int(right), float(v)) for f, t, left, right, v in tree)
            for tree in stored["trees"]
        )
        return Weigher(stored["base"], trees, stored["slope"], stored["offset"])

    def probability(self, numbers: list[float]) -> float:
        total = self.base
        for tree in self.trees:
            at = 0
            while tree[at][0] >= 0:
                feature, threshold, left, right, _ = tree[at]
                at = left if numbers[feature] <= threshold else right
            total += tree[at][4]
        return 1 / (1 + math.exp(-(self.slope * total + self.offset)))


@lru_cache(maxsize=1)
def the_weigher() -> Weigher:
    stored = files("sandtable.planner.ranking") / "trees.json"
    return Weigher.of(json.loads(stored.read_text(encoding="utf-8")))
