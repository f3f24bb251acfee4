"""The weigher's trees, grown on what nothing was trained on: `python -m training.reader.weigh --help`.

It takes DATA, DOMAINS, DIALOGUES and MODEL, the folder with the exported network. For the questions and messages that
were kept aside for tuning, every candidate plan is made as the product makes it, and judged (`judging.py`). Trees
are grown over datasets in turn, so that each question is weighed by trees that have not seen its dataset; the
calibration and the figures are of those. Writes `ranking/trees.json` and, with `--figures`, what precision is reached
at which coverage. Needs scikit-learn.
"""

from __future__ import annotations

import argparse
import json
import pickle
import random
import sys
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from sandtable.planner.candidates.network.reader import Reader
from sandtable.planner.dialogue import follow
from sandtable.planner.mentions.finding import look
from sandtable.planner.outcome import EarlierTurn
from sandtable.planner.planner import field_of
from sandtable.planner.ranking.candidates import Field
from sandtable.planner.ranking.choosing import answerable_account
from sandtable.planner.ranking.constructed import instead
from sandtable.planner.ranking.conversation import conversation_field
from sandtable.planner.ranking.features import NAMES, features
from sandtable.planner.ranking.tables import best_table
from sandtable.planner.schema.index import SchemaIndex
from training.reader import from_spider, from_wikisql, from_wtq
from training.reader.example import Example
from training.reader.judging import ground_of
from training.reader.prepare import dialogue_examples, own_examples
from training.reader.unanswerable import estranged, lacking

TREES = Path(__file__).parents[2] / "src/sandtable/planner/ranking/trees.json"
FOLDS = 5
_MOST_OWN = 5000
_MOST_SAID = 2000
_MOST_NONE = 600
"""Of each kind of question that is made unanswerable."""
_MOST_PUBLIC = 700
"""Of each public set."""
_ROUNDS, _DEPTH, _RATE, _LEAF = 250, 3, 0.06, 30


@dataclass(frozen=True, slots=True)
class Weighable:
    """One question with the features of its candidates, which of them are right, and which the law allows."""

    source: str
    dataset: str
    question: str
    rows: tuple[tuple[float, ...], ...]
    right: tuple[bool, ...]
    answerable: tuple[bool, ...]


@lru_cache(maxsize=1)
def _reader(folder: Path) -> Reader:
    return Reader(folder)


def _weighable(examples: list[Example], folder: Path) -> list[Weighable]:
    """Of examples that are sorted by their dataset."""
    reader = _reader(folder)
    found: list[Weighable] = []
    for _, each in groupby(examples, key=lambda e: e.dataset.id):
        some = list(each)
        ground = ground_of(some)
        for example in some:
            among = _field(example, ground.index, reader)
            if among is None:
                continue
            is_right = ground.judge(example)
            right = tuple(is_right(candidate.plan) for candidate in among.candidates)
            rows = tuple(tuple(features(candidate, among)) for candidate in among.candidates)
            answerable = tuple(answerable_account(one, ground.index) is not None for one in among.candidates)
            found.append(
                Weighable(example.source, example.dataset.id, example.question, rows, right, answerable)
            )
        ground.close()
    return found


def _field(example: Example, index: SchemaIndex, reader: Reader) -> Field | None:
    if example.before is None:
        return field_of(example.question, index, reader)
    if instead(example.question, index) is not None:
        return None
    best = best_table(example.question, index, look(example.question, index))
    followed = follow(example.question, index, EarlierTurn("", example.before), best)
    if followed is not None and followed.sure:
        return None
    return conversation_field(example.question, index, example.before, best, followed, reader)


def gathered(data: Path, domains: Path, dialogues: Path, folder: Path, processes: int) -> list[Weighable]:
    examples: list[Example] = []
    own = [example for example in own_examples(domains) if example.tune]
    for some, most in (
        (own, _MOST_OWN),
        (lacking(own, 0.2), _MOST_NONE),
        (estranged(own, 0.4), _MOST_NONE),
        (dialogue_examples(domains, dialogues), _MOST_SAID),
        (from_spider.examples(data / "spider", splits=("tune",)), _MOST_PUBLIC),
        (from_wikisql.examples(data / "wikisql"), _MOST_PUBLIC),
        (from_wtq.examples(data / "wtq", "tune"), _MOST_PUBLIC),
    ):
        kept = [example for example in some if example.tune]
        examples += random.Random(1).sample(kept, min(most, len(kept)))
    examples.sort(key=lambda e: e.dataset.id)
    by_dataset = [list(some) for _, some in groupby(examples, key=lambda e: e.dataset.id)]
    size = len(by_dataset) // (8 * processes) + 1
    parts = [
        [example for some in by_dataset[at : at + size] for example in some]
        for at in range(0, len(by_dataset), size)
    ]
    with ProcessPoolExecutor(processes) as pool:
        return [each for part in pool.map(_weighable, parts, [folder] * len(parts)) for each in part]


def _grown(questions: list[Weighable]) -> GradientBoostingClassifier:
    rows = np.array([row for q in questions for row in q.rows])
    right = np.array([is_right for q in questions for is_right in q.right])
    # Every set counts alike, whatever its size; our own questions are nearest to what people ask.
    share = {"own": 3.0, "none": 0.7, "dialogue": 2.0, "spider": 1.0, "wikisql": 1.0, "wtq": 1.0}
    counts: dict[str, int] = defaultdict(int)
    for q in questions:
        counts[q.source] += len(q.rows)
    weights = np.array([share[q.source] / counts[q.source] for q in questions for _ in q.rows])
    model = GradientBoostingClassifier(
        n_estimators=_ROUNDS,
        max_depth=_DEPTH,
        learning_rate=_RATE,
        min_samples_leaf=_LEAF,
        subsample=0.7,
        random_state=1,
    )
    return model.fit(rows, right, sample_weight=weights * len(rows))


def _scores(model: GradientBoostingClassifier, rows: list[tuple[float, ...]]) -> np.ndarray:
    return model.decision_function(np.array(rows)) if rows else np.zeros(0)


def crossed(questions: list[Weighable]) -> list[np.ndarray]:
    """The score of every candidate by trees that have not seen its dataset."""
    datasets = sorted({q.dataset for q in questions})
    random.Random(7).shuffle(datasets)
    fold = {name: number % FOLDS for number, name in enumerate(datasets)}
    scores: list[np.ndarray] = [np.zeros(0)] * len(questions)
    for number in range(FOLDS):
        model = _grown([q for q in questions if fold[q.dataset] != number])
        for at, q in enumerate(questions):
            if fold[q.dataset] == number:
                scores[at] = _scores(model, list(q.rows))
    return scores


def _stored(model: GradientBoostingClassifier, slope: float, offset: float) -> dict[str, Any]:
    trees: list[list[list[float]]] = []
    for (tree,) in model.estimators_:
        t = tree.tree_
        nodes = [
            [
                int(t.feature[n]) if t.children_left[n] >= 0 else -1,
                round(float(t.threshold[n]), 6),
                int(t.children_left[n]),
                int(t.children_right[n]),
                round(float(t.value[n][0][0]) * _RATE, 6),
            ]
            for n in range(t.node_count)
        ]
        trees.append(nodes)
    base = float(model.decision_function(np.zeros((1, len(NAMES))))[0])
    base -= sum(_leaf(nodes, [0.0] * len(NAMES)) for nodes in trees)
    return {"features": list(NAMES), "base": round(base, 6), "slope": slope, "offset": offset, "trees": trees}


def _leaf(nodes: list[list[float]], row: list[float]) -> float:
    at = 0
    while nodes[at][0] >= 0:
        at = int(nodes[at][2] if row[int(nodes[at][0])] <= nodes[at][1] else nodes[at][3])
    return nodes[at][4]


def curve(questions: list[Weighable], chances: list[np.ndarray]) -> list[dict[str, float]]:
    """For each threshold: the share of questions answered rightly and wrongly."""
    found: list[dict[str, float]] = []
    for threshold in (0.0, 0.3, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95):
        right = wrong = 0
        for q, chance in zip(questions, chances, strict=True):
            allowed = [at for at in range(len(q.rows)) if q.answerable[at]]
            best = max(allowed, key=lambda at: chance[at], default=None)
            if best is not None and chance[best] >= threshold:
                right, wrong = right + q.right[best], wrong + (not q.right[best])
        count = len(questions)
        precision = right / (right + wrong) if right + wrong else 1.0
        found.append(
            {
                "threshold": threshold,
                "right": round(right / count, 4),
                "wrong": round(wrong / count, 4),
                "precision": round(precision, 4),
            }
        )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("domains", type=Path)
    parser.add_argument("dialogues", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument(
        "--kept", type=Path, help="keeps the candidates, so that only the trees are grown again"
    )
    parser.add_argument("--figures", type=Path)
    args = parser.parse_args()
    if args.kept and args.kept.exists():
        questions: list[Weighable] = pickle.loads(args.kept.read_bytes())
    else:
        questions = gathered(args.data, args.domains, args.dialogues, args.model, args.processes)
        if args.kept:
            args.kept.write_bytes(pickle.dumps(questions))
    scores = crossed(questions)
    flat = np.concatenate(scores)[:, None]
    right = np.array([is_right for q in questions for is_right in q.right])
    platt = LogisticRegression(C=1e6).fit(flat, right)
    slope, offset = float(platt.coef_[0][0]), float(platt.intercept_[0])
    chances = [1 / (1 + np.exp(-(slope * each + offset))) for each in scores]
    figures: dict[str, Any] = {}
    for source in ("own", "none", "dialogue", "spider", "wikisql", "wtq"):
        chosen = [at for at, q in enumerate(questions) if q.source == source]
        some = [questions[at] for at in chosen]
        reached = sum(any(q.right) for q in some) / max(1, len(some))
        figures[source] = {
            "questions": len(some),
            "among_candidates": round(reached, 4),
            "curve": curve(some, [chances[at] for at in chosen]),
        }
    TREES.write_text(
        json.dumps(_stored(_grown(questions), round(slope, 6), round(offset, 6))), encoding="utf-8"
    )
    text = json.dumps(figures, indent=1)
    if args.figures:
        args.figures.write_text(text, encoding="utf-8")
    sys.stdout.write(text + "\n")


if __name__ == "__main__":
    main()
