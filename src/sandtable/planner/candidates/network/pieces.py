"""Words as the pieces that the network knows: WordPiece over a small vocabulary.

A vocabulary is a text file with one piece a line, in the order of the network's numbers; `##` begins a piece that
continues a word.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

UNKNOWN, START, BREAK, PAD = "[UNK]", "[CLS]", "[SEP]", "[PAD]"
_LONGEST = 40


class Pieces:
    def __init__(self, vocabulary: Iterable[str]) -> None:
        self._numbers = {piece: number for number, piece in enumerate(vocabulary)}
        self.unknown = self._numbers[UNKNOWN]
        self.start = self._numbers[START]
        self.end = self._numbers[BREAK]
        self.of_word = lru_cache(maxsize=20_000)(self._of_word)

    @staticmethod
    def load(path: Path) -> Pieces:
        return Pieces(path.read_text(encoding="utf-8").splitlines())

    def __len__(self) -> int:
        return len(self._numbers)

    def _of_word(self, word: str) -> tuple[int, ...]:
        """The numbers of a word's pieces; `word` is lower case without accents."""
        if len(word) > _LONGEST:
            return (self.unknown,)
        found: list[int] = []
        for run in _runs(word):
            pieces = self._of_run(run)
            found.extend(pieces)
        return tuple(found) or (self.unknown,)

    def _of_run(self, run: str) -> list[int]:
        found: list[int] = []
        start = 0
        while start < len(run):
            for end in range(len(run), start, -1):
                text = run[start:end] if start == 0 else f"##{run[start:end]}"
                number = self._numbers.get(text)
                if number is not None:
                    found.append(number)
                    start = end
                    break
            else:
                return [self.unknown]
        return found


def _runs(word: str) -> list[str]:
    """Letters and digits in runs; every other sign by itself."""
    runs: list[str] = []
    joined = False
    for letter in word:
        if letter.isalnum():
            if joined:
                runs[-1] += letter
            else:
                runs.append(letter)
            joined = True
        else:
            joined = False
            if not letter.isspace():
                runs.append(letter)
    return runs
