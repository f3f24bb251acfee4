"""Questions that a dataset does not answer, made of those that it does.

`lacking` takes away a column that the question needs, with every metric that is computed of it: what is asked for is
not there any more. `estranged` puts a word before the rows that nothing in the data stands for (`organic tickets`):
leaving it out would answer another question. Both mean `none`. The same seed gives the same examples.
"""

from __future__ import annotations

import json
import random
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from sandtable.catalog.model import Column, Dataset, Table
from sandtable.catalog.profile import Profile
from sandtable.planner.candidates.network.sketch import Item
from sandtable.planner.language.words import stem
from sandtable.planner.schema.columns import is_identifier, label_of
from sandtable.planner.schema.index import SchemaIndex
from training.reader.example import Example

SOURCE = "none"
NOTHING = ("none",)
_WORD = re.compile(r"[a-z]{4,12}")
_FEWEST = 3
"""Columns that the table keeps at least."""
_ARTICLES = frozenset("many the our all of most few which what more by per average total fewest".split())


def lacking(examples: Iterable[Example], share: float, seed: int = 1) -> Iterator[Example]:
    """Examples over datasets that lack a column which the question needs."""
    rng = random.Random(seed)
    indexes: dict[str, SchemaIndex] = {}
    for example in examples:
        if rng.random() >= share or example.sketch == NOTHING or example.before is not None:
            continue
        index = indexes.get(example.dataset.id)
        if index is None:
            index = indexes[example.dataset.id] = SchemaIndex.build(example.dataset, example.profile)
        needed = sorted(_needed(example, index))
        if needed:
            table, column = rng.choice(needed)
            lacks = _without(example.dataset, table, column)
            yield replace(example, source=SOURCE, dataset=lacks, sketch=NOTHING)


def _needed(example: Example, index: SchemaIndex) -> set[tuple[str, str]]:
    """The columns without which nothing answers the question: not those that only name rows, join them or date them."""
    found: set[tuple[str, str]] = set()
    for token in example.sketch:
        if not isinstance(token, Item) or token.kind not in {"column", "value"}:
            continue
        table, column = index.table(token.table), index.column(token.table, token.name)
        if table is None or column is None or is_identifier(column) or column is label_of(table):
            continue
        if column.name == table.time_column or len(table.columns) <= _FEWEST:
            continue
        if token.kind == "value" and len(index.find_value(str(token.value))) > 1:
            # The same value in another column may be what is meant then.
            continue
        if any(
            column.name in (r.many_column, r.one_column) for r in example.dataset.relationships
        ) or _has_kin(column.stems, column.name, index):
            continue
        found.add((table.name, column.name))
    return found


def _has_kin(stems: Sequence[str], name: str, index: SchemaIndex) -> bool:
    """Whether another column shares a word with it, and so could be read in its place."""
    return any(
        set(stems) & set(other.stems)
        for table in index.tables
        for other in table.columns
        if other.name != name
    )


def _without(dataset: Dataset, table: str, column: str) -> Dataset:
    def kept(each: Table) -> Table:
        columns: tuple[Column, ...] = tuple(c for c in each.columns if c.name != column)
        return each.model_copy(update={"columns": columns}) if each.name == table else each

    said = json.dumps(column)
    metrics = tuple(
        m for m in dataset.metrics if m.table != table or said not in json.dumps([m.numerator, m.denominator])
    )
    marked = f"{dataset.id}.{zlib.crc32(f'{table} {column}'.encode()):08x}"
    return dataset.model_copy(
        update={"id": marked, "tables": tuple(kept(t) for t in dataset.tables), "metrics": metrics}
    )


def estranged(examples: Iterable[Example], share: float, seed: int = 1) -> Iterator[Example]:
    """Examples with a word of another dataset before the word for the rows."""
    every = list(examples)
    rng = random.Random(seed)
    described: dict[str, tuple[frozenset[str], frozenset[str]]] = {}
    for example in every:
        if example.dataset.id not in described:
            described[example.dataset.id] = _described(example.dataset, example.profile)
    words = {name: sorted(values) for name, (values, _) in described.items() if values}
    for example in every:
        if rng.random() >= share or example.sketch == NOTHING or example.before is not None:
            continue
        name = rng.choice(sorted(words))
        word = rng.choice(words[name])
        values, known = described[example.dataset.id]
        if name == example.dataset.id or word in values or stem(word) in known:
            continue
        question = _inserted(example, word)
        if question is not None:
            yield replace(example, source=SOURCE, question=question, sketch=NOTHING)


def _described(dataset: Dataset, profile: Profile) -> tuple[frozenset[str], frozenset[str]]:
    """Values that are one plain word, and the stems of all words with which the dataset describes itself."""
    values = {
        str(each.value).lower()
        for table in profile.tables
        for column in table.columns
        for each in column.values
        if isinstance(each.value, str)
    }
    texts = [dataset.title, dataset.description, *(f"{m.name} {m.description}" for m in dataset.metrics)]
    for table in dataset.tables:
        texts += [table.name, table.description]
        texts += [f"{c.name} {c.description}" for c in table.columns]
    known = {stem(word) for text in (*texts, *values) for word in re.findall(r"[a-z]+", text.lower())}
    return frozenset(v for v in values if _WORD.fullmatch(v)), frozenset(known)


def _inserted(example: Example, word: str) -> str | None:
    tables = {stem(w) for t in example.dataset.tables for w in re.findall(r"[a-z]+", t.name.lower())}
    said = example.question.split(" ")
    for at in range(1, len(said)):
        plain = said[at].lower().strip("?.,!")
        if stem(plain) in tables and said[at - 1].lower() in _ARTICLES:
            return " ".join([*said[:at], word, *said[at:]])
    return None
