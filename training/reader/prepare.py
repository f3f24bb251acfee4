"""Examples as arrays for the network's training: `python -m training.reader.prepare DATA DOMAINS DIALOGUES OUT`.

DATA holds the folders `wikisql` and `spider`, DOMAINS our own domains, DIALOGUES follow-ups over them. Needs a CPU and
some minutes. Writes `NAME.npz.xz` for each set of examples (`--only` some of them), which is all that
`training.reader.train` reads apart from the weights it starts from: the examples end to end, with where each one ends,
and which words and kinds of items the grammar allows at each token.
"""

from __future__ import annotations

import argparse
import io
import json
import lzma
import random
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sandtable.catalog.model import Dataset, Metric, Table
from sandtable.catalog.profile import Profile
from sandtable.planner.candidates.network.fitting import plan_for
from sandtable.planner.candidates.network.inputs import SIZE, Inputs, inputs_of
from sandtable.planner.candidates.network.pieces import Pieces
from sandtable.planner.candidates.network.sketch import KINDS, LONGEST, SMALL, WORDS, Item, Token, Writer
from sandtable.planner.language.words import value_key
from sandtable.planner.schema.entries import Json
from sandtable.planner.schema.index import SchemaIndex
from training.reader import from_spider, from_wikisql
from training.reader.dialogues import leaning, plainer, read_dialogues
from training.reader.domains import read_domain
from training.reader.example import Example
from training.reader.follow_ups import continued
from training.reader.templates import templated
from training.reader.unanswerable import estranged, lacking

HERE = Path(__file__).parent
VOCABULARY = HERE / "vocabulary.txt"
SOURCES = ("own", "spider", "wikisql", "template", "dialogue", "none")
TUNE_EVERY = 6
"""About every sixth of our own domains, by its name, is kept aside for tuning."""
_SPIDER_ORDERS = 4
_LEFT_OUT = 0.2
_LACKING, _ESTRANGED = 0.12, 0.25
"""How many questions of our own are asked once more of a dataset that does not answer them."""
_WHOLE = 80
"""Whole questions of each domain that are asked after an answer, too."""
_LEANING = 0.5
"""How many of them go on with `and`, where they can."""
_NUMBERS = {word: number for number, word in enumerate(WORDS)}


@dataclass(frozen=True, slots=True)
class Row:
    """One example as numbers."""

    inputs: Inputs
    targets: tuple[int, ...]
    """A word's number, or the number of words and the item's place."""
    allowed: tuple[frozenset[str], ...]
    source: int
    tune: bool


def own_examples(folder: Path) -> Iterator[Example]:
    for path in sorted(folder.glob("*.txt")):
        domain = read_domain(path)
        tune = zlib.crc32(domain.name.encode()) % TUNE_EVERY == 0
        for asked in domain.asked:
            for wording in asked.wordings:
                yield Example("own", domain.dataset, domain.profile, wording, asked.sketch, tune)


def dialogue_examples(domains: Path, folder: Path, seed: int = 1) -> Iterator[Example]:
    """Follow-ups, and whole questions after an answer that has nothing to do with them."""
    rng = random.Random(seed)
    for path in sorted(folder.glob("*.txt")):
        domain = read_domain(domains / path.name)
        tune = zlib.crc32(domain.name.encode()) % TUNE_EVERY == 0
        index = SchemaIndex.build(domain.dataset, domain.profile)
        befores: list[tuple[Json, tuple[Token, ...]]] = []
        for each in read_dialogues(path, domain.dataset).found:
            before = plan_for(each.before, index)
            if before is None:
                continue
            befores.append((before, each.before))
            for wording in (*each.wordings, *plainer(each)):
                yield Example("dialogue", domain.dataset, domain.profile, wording, each.sketch, tune, before)
        whole = [(wording, asked.sketch) for asked in domain.asked for wording in asked.wordings]
        for question, sketch in rng.sample(whole, min(_WHOLE, len(whole))) if befores else ():
            before, said = rng.choice(befores)
            if rng.random() < _LEANING and (found := leaning(question, sketch, said)) is not None:
                question, sketch = found
            yield Example("dialogue", domain.dataset, domain.profile, question, sketch, tune, before)


def row_of(example: Example, index: SchemaIndex, pieces: Pieces) -> Row | str:
    """The example as numbers, or the kind of thing in its sketch that the question's words do not reach."""
    made = inputs_of(example.question, index, pieces, example.before)
    if len(made.pieces) > SIZE or len(example.sketch) > LONGEST:
        return "too long"
    writer = Writer()
    targets: list[int] = []
    allowed: list[frozenset[str]] = []
    for token in example.sketch:
        number = _target(token, made)
        if number is None:
            return token.kind if isinstance(token, Item) else "word"
        allowed.append(writer.allowed())
        writer = writer.after(token if number >= len(WORDS) else WORDS[number])
        targets.append(number)
    return Row(made, tuple(targets), tuple(allowed), SOURCES.index(example.source), example.tune)


def _target(token: Token, made: Inputs) -> int | None:
    if isinstance(token, str):
        return _NUMBERS[token]
    for place, placed in enumerate(made.items):
        if same_item(token, placed.item):
            return len(WORDS) + place
    if token.kind == "number" and str(int(token.value)) in SMALL and float(token.value).is_integer():
        return _NUMBERS[str(int(token.value))]
    return None


def same_item(gold: Item, found: Item) -> bool:
    if gold.kind != found.kind:
        return False
    if gold.kind == "number":
        near = abs(float(gold.value) - float(found.value)) < 1e-9
        return near or (found.name == "%" and abs(float(gold.value) - float(found.value) / 100) < 1e-9)
    if gold.kind in {"value", "text"}:
        where = (gold.table, gold.name) == (found.table, found.name)
        return where and value_key(str(gold.value)) == value_key(str(found.value))
    return gold == found


def shuffled(dataset: Dataset, profile: Profile, seed: int) -> tuple[Dataset, Profile]:
    """The same dataset in another order, which means nothing, and without some columns.

    A question that needs one of those is not shown then.
    """
    rng = random.Random(f"{dataset.id}{seed}")
    tables: list[Table] = []
    for table in dataset.tables:
        keys = {c for r in dataset.relationships for c in (r.many_column, r.one_column)}
        keys |= {table.time_column or "", *_said_by(dataset.metrics)}
        kept = [c for c in table.columns if c.name in keys or rng.random() >= _LEFT_OUT]
        columns = kept if len(kept) > 1 else table.columns
        tables.append(table.model_copy(update={"columns": tuple(rng.sample(columns, len(columns)))}))
    rng.shuffle(tables)
    return dataset.model_copy(update={"tables": tuple(tables)}), profile


def _said_by(metrics: Iterable[Metric]) -> set[str]:
    """The columns that metrics are computed of."""
    return set(
        re.findall(r'"column": "([^"]+)"', json.dumps([[m.numerator, m.denominator] for m in metrics]))
    )


def _rows(examples: list[Example], orders: int) -> list[Row | str]:
    pieces = Pieces.load(VOCABULARY)
    indexes: dict[tuple[str, int], SchemaIndex] = {}
    found: list[Row | str] = []
    for example in examples:
        for order in range(1 if example.tune else orders):
            key = (example.dataset.id, order)
            if key not in indexes:
                if len(indexes) > 200:
                    indexes.clear()
                dataset, profile = example.dataset, example.profile
                if order:
                    dataset, profile = shuffled(dataset, profile, order)
                indexes[key] = SchemaIndex.build(dataset, profile)
            found.append(row_of(example, indexes[key], pieces))
    return found


def _packed(rows: list[Row]) -> dict[str, np.ndarray]:
    sets: dict[frozenset[str], int] = {}
    for row in rows:
        for allowed in row.allowed:
            sets.setdefault(allowed, len(sets))
    columns = [*WORDS, *(f"<{kind}>" for kind in KINDS)]
    kinds = {kind: number for number, kind in enumerate(KINDS)}

    def flat(values: Iterable[Iterable[int]], kind: str) -> np.ndarray:
        return np.array([value for each in values for value in each], dtype=kind)

    items = [row.inputs.items for row in rows]
    return {
        "pieces": flat((r.inputs.pieces for r in rows), "uint16"),
        "parts": flat((r.inputs.parts for r in rows), "uint8"),
        "types": flat((r.inputs.types for r in rows), "uint8"),
        "marks": flat((r.inputs.marks for r in rows), "uint8"),
        "piece_ends": np.cumsum([len(r.inputs.pieces) for r in rows]),
        "item_kinds": flat(([kinds[p.item.kind] for p in each] for each in items), "uint8"),
        "item_starts": flat(([p.start for p in each] for each in items), "uint8"),
        "item_stops": flat(([p.end for p in each] for each in items), "uint8"),
        "item_columns": flat(([p.column for p in each] for each in items), "int16"),
        "item_ends": np.cumsum([len(each) for each in items]),
        "targets": flat((r.targets for r in rows), "uint16"),
        "states": flat(([sets[a] for a in r.allowed] for r in rows), "uint16"),
        "target_ends": np.cumsum([len(r.targets) for r in rows]),
        "sources": np.array([r.source for r in rows], dtype="uint8"),
        "tune": np.array([r.tune for r in rows], dtype=bool),
        "allowed": np.array([[column in allowed for column in columns] for allowed in sets]),
        "words": np.array(WORDS),
    }


def _own(args: argparse.Namespace) -> tuple[list[Example], int]:
    own = list(own_examples(args.domains))
    without = [*lacking(own, _LACKING, args.seed), *estranged(own, _ESTRANGED, args.seed)]
    return [*own, *without], args.orders


def _dialogue(args: argparse.Namespace) -> tuple[list[Example], int]:
    return list(dialogue_examples(args.domains, args.dialogues, args.seed)), args.orders


def _spider(args: argparse.Namespace) -> tuple[list[Example], int]:
    return list(from_spider.examples(args.data / "spider")), _SPIDER_ORDERS


def _wikisql(args: argparse.Namespace) -> tuple[list[Example], int]:
    return list(from_wikisql.examples(args.data / "wikisql")), 1


def _template(args: argparse.Namespace) -> tuple[list[Example], int]:
    """Questions and follow-ups that are made, over the schemas of all sources."""
    told = [*own_examples(args.domains), *from_spider.examples(args.data / "spider")]
    schemas = {e.dataset.id: (e.dataset, e.profile) for e in told if not e.tune}
    wikisql = list(from_wikisql.examples(args.data / "wikisql"))
    few = {e.dataset.id: (e.dataset, e.profile) for e in wikisql[::40] if not e.tune}
    views = [*schemas.values(), *list(few.values())[:300]]
    follow_ups = continued(views, args.follow_ups, args.seed)
    return [*templated(views, args.templates, args.seed), *follow_ups], 1


_SETS: dict[str, Callable[[argparse.Namespace], tuple[list[Example], int]]] = {
    "own": _own,
    "dialogue": _dialogue,
    "spider": _spider,
    "wikisql": _wikisql,
    "template": _template,
}
"""The examples of each set, and in how many orders of its columns a dataset is shown."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("domains", type=Path)
    parser.add_argument("dialogues", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--templates", type=int, default=40_000)
    parser.add_argument("--follow-ups", type=int, default=25_000, help="follow-ups made of phrases")
    parser.add_argument(
        "--orders", type=int, default=2, help="in how many orders of its columns one of our datasets is shown"
    )
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="+", choices=tuple(_SETS), default=tuple(_SETS))
    args = parser.parse_args()
    made = {name: _SETS[name](args) for name in args.only}
    args.out.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(args.processes) as pool:
        for name, (examples, orders) in made.items():
            examples.sort(key=lambda e: e.dataset.id)
            size = len(examples) // (4 * args.processes) + 1
            parts = [examples[at : at + size] for at in range(0, len(examples), size)]
            found = [row for part in pool.map(_rows, parts, [orders] * len(parts)) for row in part]
            missing = Counter(row for row in found if isinstance(row, str))
            rows = [row for row in found if isinstance(row, Row)]
            tuning = sum(row.tune for row in rows)
            print(f"{name}: {len(rows)} of {len(found)} examples, {tuning} of them for tuning", flush=True)
            print(f"{name}: not reached: {dict(missing)}", flush=True)
            packed = io.BytesIO()
            np.savez(packed, **_packed(rows))
            (args.out / f"{name}.npz.xz").write_bytes(lzma.compress(packed.getvalue()))


if __name__ == "__main__":
    main()
