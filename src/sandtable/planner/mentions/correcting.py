"""Typos in a question: `avrage` is average, `satisfacton` the column satisfaction.

A word is corrected only if it is no known English word, not in the data and not a name, and only to a word of
questions or a name of the data that is clearly the nearest. The answer lists every correction.
Invariant: the corrected question has as many words at the same places, so that an account of it fits the question.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from sandtable.observing import timed_part
from sandtable.planner.language.lexicon import IRREGULAR, KEPT, MONTHS, NUMBER_WORDS, WEEKDAYS
from sandtable.planner.language.spelling import within
from sandtable.planner.language.synonyms import related
from sandtable.planner.language.vocabulary import AGGREGATES, FILLER, LEAST, MOST
from sandtable.planner.language.words import Word, root, split_words, stem
from sandtable.planner.schema.index import SchemaIndex
from sandtable.quoting import quote

_SHORTEST, _LONG, _LONGER = 5, 8, 10
_COMMON = {
    "wich": "which", "whcih": "which", "whch": "which", "hwo": "how", "teh": "the", "thier": "their", "wat": "what",
    "adn": "and", "avrg": "average", "mnth": "month", "yaer": "year",
}  # fmt: skip
"""Typos in words that are too short to be compared by spelling."""
_TIMES = frozenset(word for word in (*MONTHS, *WEEKDAYS) if len(word) >= _SHORTEST)
_ASKING = (
    _TIMES
    | frozenset(word for word in (*AGGREGATES, *MOST, *LEAST, *NUMBER_WORDS) if len(word) >= _SHORTEST)
    | frozenset(
        "which where number count counts total average between compare compared comparison correlation percentage "
        "percent share proportion ratio distribution distinct different unique without except excluding including "
        "before after since until during month months monthly quarter quarters quarterly weekly yearly daily hourly "
        "weekday weekdays weekend weekends yesterday today earlier previous highest lowest longest shortest largest "
        "smallest common frequent often never greater smaller larger longer shorter higher lower above below under "
        "growth change difference cumulative running return missing empty there people every latest recent".split()
    )
)


@dataclass(frozen=True, slots=True)
class Corrected:
    text: str
    remarks: tuple[str, ...] = ()
    """The corrections, for the answer's account of how the question was read."""


@timed_part("linking")
def corrected(question: str, index: SchemaIndex) -> Corrected:
    """The question with its typos corrected."""
    text = question
    remarks: list[str] = []
    for at, word in reversed(list(enumerate(split_words(question)))):
        meant = _meant(word, index, first=at == 0)
        if meant is not None:
            text = text[: word.start] + meant + text[word.end :]
            remarks.insert(0, f"{quote(word.text)} read as {meant}")
    return Corrected(text, tuple(remarks))


def _meant(word: Word, index: SchemaIndex, *, first: bool) -> str | None:
    """The word that was meant; None where the written one may be right."""
    lower = word.lower
    if word.text.isupper():
        return None
    if lower in _COMMON:
        return None if index.find_value(lower) or lower in index.name_words else _COMMON[lower]
    if len(lower) < _SHORTEST or not (lower.isascii() and lower.isalpha()) or _is_known(word, index):
        return None
    is_name = word.text[0].isupper() and not first
    among = _TIMES if is_name else _ASKING | index.name_words
    near = {other: found for other in among if (found := _slips(lower, other)) is not None}
    best = [other for other, found in near.items() if found == min(near.values())]
    families = {stem(other) for other in best}
    return min(best, key=lambda other: (abs(len(other) - len(lower)), other)) if len(families) == 1 else None


def _slips(written: str, meant: str) -> int | None:
    """The number of typos between two words, if they are of a usual kind.

    A letter is left out, doubled or swapped with its neighbour; another letter is taken only inside a long word, since
    many words differ so (`mower`, `lower`).
    """
    if written[0] != meant[0] or len(meant) < _SHORTEST:
        return None
    found = within(written, meant, 2 if len(meant) >= _LONGER else 1)
    swapped = sorted(written) == sorted(meant)
    if not found or not (swapped or written[-2:] == meant[-2:]):
        # Another ending is another form, or another word: `sugary`, `therapies` beside `therapists`.
        return None
    replaced = len(written) == len(meant) and not swapped
    return None if replaced and len(meant) < _LONG and not _vowels_differ(written, meant) else found


def _vowels_differ(written: str, meant: str) -> bool:
    """`salery`: one vowel for another, in a word of some length."""
    if len(meant) < _LONG - 2:
        return False
    differing = [(a, b) for a, b in zip(written, meant, strict=True) if a != b]
    return all(a in "aeiouy" and b in "aeiouy" for a, b in differing)


def _is_known(word: Word, index: SchemaIndex) -> bool:
    """Whether it is a word of English, of the data, or near a value of the data, which is looked for elsewhere."""
    lower = word.lower
    doer = lower.removesuffix("s").removesuffix("er")
    if (
        lower in FILLER
        or not _english().isdisjoint({word.stem, stem(doer), doer})
        or root(lower) in _roots(index.name_words)
        or related(word.stem)
    ):
        return True
    return bool(index.find_value(lower) or index.values_with_word(lower) or index.near_values(lower))


@lru_cache(maxsize=64)
def _roots(words: frozenset[str]) -> frozenset[str]:
    return frozenset(root(word) for word in words)


@lru_cache(maxsize=1)
def _english() -> frozenset[str]:
    """Stems of the English words that we know: those of the network's vocabulary, and of the planner's own tables."""
    listed = (files("sandtable.planner.candidates.network") / "model" / "vocabulary.txt").read_text("utf-8")
    words = [piece for piece in listed.splitlines() if piece.isalpha()]
    return frozenset(stem(word) for word in (*words, *FILLER, *IRREGULAR, *KEPT, *_ASKING))
