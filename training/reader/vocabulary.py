"""The pieces that the network knows: `python -m training.reader.vocabulary MODEL DATA DOMAINS`.

Of MiniLM's vocabulary those stay that questions and names of tables and columns need: single signs, what occurs in our
training texts, and then the commonest English ones. Writes `vocabulary.txt` beside this file.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import Counter
from pathlib import Path

from sandtable.planner.candidates.network.pieces import BREAK, PAD, START, UNKNOWN, Pieces
from sandtable.planner.language.words import split_name, split_words

COUNT = 7500
OURS = 8
"""How much a text of our own domains counts beside one of the public sets."""
_SPECIAL = (PAD, UNKNOWN, START, BREAK)


def _texts(data: Path, domains: Path) -> Counter[str]:
    words: Counter[str] = Counter()
    for path in sorted(domains.glob("*.txt")):
        for word in split_words(path.read_text(encoding="utf-8").replace("_", " ")):
            words[word.lower] += OURS
    for name in ("wikisql", "spider", "wtq"):
        for line in _lines(data / name / "questions.jsonl.gz"):
            words.update(word.lower for word in split_words(line["question"]))
    for name in ("wikisql", "wtq"):
        for line in _lines(data / name / "tables.jsonl.gz"):
            words.update(word for column in line["header"] for word in split_name(column))
    words.update(_schema_words(data / "spider" / "schemas.jsonl.gz"))
    return words


def _schema_words(path: Path) -> Counter[str]:
    found: Counter[str] = Counter()
    for line in _lines(path):
        found.update(word.lower for word in split_words(json.dumps(line).replace("_", " ")))
    return found


def _lines(path: Path) -> list[dict[str, object]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("data", type=Path)
    parser.add_argument("domains", type=Path)
    args = parser.parse_args()
    known = (args.model / "vocab.txt").read_text(encoding="utf-8").splitlines()
    pieces = Pieces(known)
    counts: Counter[int] = Counter()
    for word, count in _texts(args.data, args.domains).items():
        for number in pieces.of_word(word):
            counts[number] += count
    signs = [p for p in known if len(p.removeprefix("##")) == 1 and p.isascii()]
    kept = list(dict.fromkeys([*_SPECIAL, *signs]))
    for number, _ in counts.most_common():
        if len(kept) == COUNT:
            break
        if known[number] not in _SPECIAL and known[number] not in signs:
            kept.append(known[number])
    rest = (p for p in known if p.isascii() and p not in set(kept) and not p.startswith("["))
    kept += [piece for piece, _ in zip(rest, range(COUNT - len(kept)), strict=False)]
    Path(__file__).with_name("vocabulary.txt").write_text("\n".join(kept) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
