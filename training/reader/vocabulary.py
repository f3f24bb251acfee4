"""The pieces that the network knows: `python -m training.reader.vocabulary MODEL DOMAINS`.

Of the encoder's vocabulary those stay that questions and names of tables and columns need: single signs, what occurs in
at least two of our training domains, and then the commonest English ones, in whose order it lists them. Writes
`vocabulary.txt` beside this file.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from sandtable.planner.candidates.network.pieces import BREAK, PAD, START, UNKNOWN, Pieces
from sandtable.planner.language.words import split_words
from training.reader.encoder import vocabulary

COUNT = 7800
_DOMAINS = 2
_SPECIAL = (PAD, UNKNOWN, START, BREAK)


def _in_domains(domains: Path, pieces: Pieces) -> Counter[int]:
    """In how many domains each piece occurs."""
    found: Counter[int] = Counter()
    for path in sorted(domains.glob("*.txt")):
        words = {word.lower for word in split_words(path.read_text(encoding="utf-8").replace("_", " "))}
        found.update({number for word in words for number in pieces.of_word(word)})
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("domains", type=Path)
    args = parser.parse_args()
    known = vocabulary(args.model)
    pieces = Pieces(known)
    signs = [p for p in known if len(p.removeprefix("##")) == 1 and p.isascii()]
    counted = _in_domains(args.domains, pieces).most_common()
    ours = [known[number] for number, count in counted if count >= _DOMAINS]
    common = (p for p in known if p.isascii() and not p.startswith("["))
    kept = list(dict.fromkeys([*_SPECIAL, *signs, *ours, *common]))[:COUNT]
    Path(__file__).with_name("vocabulary.txt").write_text("\n".join(kept) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
