"""WikiTableQuestions as examples: answers only, so sketches are found by executing what a network writes.

`python -m training.reader.from_wtq FOLDER OUT` reads the training questions with the network of the product, executes
what it writes, and keeps the likeliest sketch whose result is the answer and which the conscience finds to account for
every word; the law is what tells a right sketch from one that hits the answer by chance. OUT is read by
`training.reader.prepare`. Needs a CPU and about 40 minutes.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from evals.public.wtq import WtqWork, works
from sandtable.planner.candidates.network.reader import Reader, the_reader
from sandtable.planner.candidates.network.sketch import Item, Token
from sandtable.planner.conscience import account
from sandtable.planner.ranking.candidates import Candidate
from sandtable.planner.ranking.choosing import answerable_account
from sandtable.planner.schema.index import SchemaIndex
from training.reader.example import Example
from training.reader.judging import ground_of

SOURCE = "wtq"
_AT_ONCE = 25
"""Tables that a process takes at a time."""


def examples(folder: Path, split: str, limit: int | None = None) -> Iterator[Example]:
    """Questions with the cells of their answers, and the rows to execute plans on; without a sketch."""
    for work in works(folder, split, limit):
        yield from _of_table(work, split)


def _of_table(work: WtqWork, split: str) -> Iterator[Example]:
    relation, dataset, profile = work.table_of()
    named = dataset.model_copy(update={"id": "wtq-" + "".join(c if c.isalnum() else "-" for c in work.table)})
    for one in work.asked:
        yield Example(
            SOURCE,
            named,
            profile,
            one.question,
            (),
            split == "tune",
            relations=(relation,),
            answers=one.answers,
        )


def found_examples(folder: Path, found: Path) -> Iterator[Example]:
    """Training questions with the sketches that were found for them."""
    sketches = {
        (raw["table"], raw["question"]): tuple(_token(each) for each in raw["sketch"])
        for raw in map(json.loads, found.read_text(encoding="utf-8").splitlines())
    }
    for work in works(folder, "train", None):
        wanted = [one for one in work.asked if (work.table, one.question) in sketches]
        if not wanted:
            continue
        _, dataset, profile = work.table_of()
        named = dataset.model_copy(update={"id": f"wtq-{work.table}"})
        for one in wanted:
            yield Example(SOURCE, named, profile, one.question, sketches[work.table, one.question], False)


def search(work: WtqWork, reader: Reader) -> list[dict[str, Any]]:
    """The questions of one table for which a sketch is found."""
    asked = list(_of_table(work, "train"))
    ground = ground_of(asked)
    made: list[dict[str, Any]] = []
    for example in asked:
        sketch = _sketch(example, ground.index, reader, ground.judge(example))
        if sketch is not None:
            made.append(
                {"table": work.table, "question": example.question, "sketch": [_plain(t) for t in sketch]}
            )
    ground.close()
    return made


def _sketch(example: Example, index: SchemaIndex, reader: Reader, right: Any) -> tuple[Token, ...] | None:
    for place, read in enumerate(reader.read(example.question, index)):
        if read.plan is None or not right(read.plan):
            continue
        found = account(example.question, read.plan, index)
        if answerable_account(Candidate(read.plan, found, place=place), index) is not None:
            return read.sketch
    return None


def _plain(token: Token) -> Any:
    return token if isinstance(token, str) else [token.kind, token.table, token.name, token.value]


def _token(raw: Any) -> Token:
    if isinstance(raw, str):
        return raw
    kind, table, name, value = raw
    # A window is a tuple of pairs, which a list of lists stands for.
    return Item(kind, table, name, tuple(map(tuple, value)) if isinstance(value, list) else value)


def _searched(some: Sequence[WtqWork]) -> list[dict[str, Any]]:
    reader = the_reader()
    if reader is None:
        raise SystemExit("The reader is not installed: make setup")
    return [each for work in some for each in search(work, reader)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--limit", type=int, help="a sample of so many questions")
    parser.add_argument("--processes", type=int, default=2)
    args = parser.parse_args()
    every = works(args.folder, "train", args.limit)
    parts = [every[at : at + _AT_ONCE] for at in range(0, len(every), _AT_ONCE)]
    found: list[dict[str, Any]] = []
    with ProcessPoolExecutor(args.processes) as pool:
        for number, part in enumerate(pool.map(_searched, parts), 1):
            found += part
            sys.stderr.write(f"{number} of {len(parts)}: {len(found)} found\n")
    args.out.write_text("".join(json.dumps(each) + "\n" for each in found), encoding="utf-8")


if __name__ == "__main__":
    main()
