"""The words that a grounded text may hold beside names, measures, numbers and what the question was limited to.

Invariant: every word has a part in the grammar, and a word that claims something (highest, more, rose) is checked.
What cannot be checked is not here: causes, advice, judgements, proof, negations, "only", "all", number words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

NAME: Final = "N"
VALUE: Final = "V"
MEASURE: Final = "M"
NOUN: Final = "K"
"""What the rows are: the categories, the customers."""
MOST: Final = "S"
"""A superlative."""
LEADS: Final = "L"
MORE: Final = "C"
"""A comparative."""
AHEAD: Final = "A"
MOVED: Final = "R"
"""Rose or fell."""
THAN, TO, BY, HAS, IS, WITH, PREPOSITION, THERE = "t", "T", "y", "h", "b", "w", "p", "e"
FOLLOWED, AGAINST, OVERALL, AND, TOP, POSSESSIVE, WHILE = "f", "g", "O", "a", "Y", "o", ";"
SILENT: Final = ""
"""Changes nothing: an article, "about" before a rounded number, what the question was limited to."""


@dataclass(frozen=True, slots=True)
class Word:
    letter: str
    high: bool | None = None
    """The direction that the word claims."""


def _words(letter: str, words: str, high: bool | None = None) -> dict[str, Word]:
    return {word.strip(): Word(letter, high) for word in words.split("|")}


LEXICON: dict[str, Word] = {
    **_words(SILENT, "the|a|an|its|their|your|our|about|around|approximately|roughly|of them"),
    **_words(IS, "is|are|was|were|comes to|came to|amounts to|amounted to|stands|stood|comes|came|come"),
    **_words(HAS, "has|have|had|recorded|reached|shows|showed|saw|posted|generated|made|brought in"),
    **_words(HAS, "accounts for|accounted for"),
    **_words(WITH, "with|at"),
    **_words(PREPOSITION, "of|for|in|from|among|on|across|during|in the"),
    **_words(BY, "by"),
    **_words(TO, "to"),
    **_words(THERE, "there"),
    **_words(MOST, "highest|largest|biggest|greatest|most|longest|peak", high=True),
    **_words(MOST, "lowest|smallest|fewest|least|shortest|low", high=False),
    **_words(LEADS, "leads|led|tops|topped|ranks first|ranked first", high=True),
    **_words(LEADS, "ranks last|ranked last", high=False),
    **_words(MORE, "higher|larger|bigger|greater|more|longer", high=True),
    **_words(MORE, "lower|smaller|fewer|less|shorter", high=False),
    **_words(AHEAD, "ahead of|above", high=True),
    **_words(AHEAD, "behind|below", high=False),
    **_words(MOVED, "rose|grew|increased|climbed|went up|gained", high=True),
    **_words(MOVED, "fell|dropped|declined|decreased|shrank|went down|lost", high=False),
    **_words(THAN, "than"),
    **_words(FOLLOWED, "followed by|then"),
    **_words(AGAINST, "against|compared with|compared to|versus|vs"),
    **_words(OVERALL, "overall"),
    **_words(AND, "and"),
    **_words(TOP, "top"),
    **_words(WHILE, "while|whereas|but"),
}
PUNCTUATION = {
    ",": ",", ";": WHILE, ":": ":", "(": "(", ")": ")", ".": ".", "!": "", "—": ",", "–": ",", "'s": POSSESSIVE,
    "’s": POSSESSIVE, '"': SILENT, "“": SILENT, "”": SILENT,
}  # fmt: skip
