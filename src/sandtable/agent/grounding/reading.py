"""A text as a row of tokens: names, measures, values and words of the lexicon, each a letter of the grammar.

Invariant: nothing is passed over. A character or a word that is not known makes the text unreadable, so that no
other language, markup, emoji, hidden or look-alike letter gets by.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from sandtable.agent.grounding.facts import Facts, Rows, folded
from sandtable.agent.grounding.lexicon import (
    LEXICON,
    MEASURE,
    NAME,
    NOUN,
    PUNCTUATION,
    SILENT,
    VALUE,
)
from sandtable.agent.grounding.numbers import NUMBER, Claim, claim_of

_SPACE = re.compile(r"[ \n]+")
_BESIDE = re.compile(r"\s?([^\W\d_]+|[€$£¥°]\w*)")


@dataclass(frozen=True, slots=True)
class Token:
    letter: str
    start: int
    end: int
    rows: Rows = frozenset()
    columns: frozenset[int] = frozenset()
    claim: Claim | None = None
    high: bool = False
    scope: bool = False
    """A name that stands for all rows, because the question was limited to it."""


def read(text: str, facts: Facts) -> list[Token] | None:
    """None when it holds anything that is not known."""
    text = unicodedata.normalize("NFC", text)
    tokens: list[Token] = []
    at = 0
    while at < len(text):
        space = _SPACE.match(text, at)
        if space:
            at = space.end()
            continue
        token = _phrase(text, at, facts) or _value(text, at, facts) or _mark(text, at)
        if token is None:
            return None
        tokens.append(token)
        at = token.end
    return tokens


def _phrase(text: str, at: int, facts: Facts) -> Token | None:
    found = facts.phrases.match(text, at)
    if found is None:
        return None
    phrase, start, end = folded(found[0]), at, found.end()
    if phrase in facts.silent:
        return Token(SILENT, start, end)
    if phrase in facts.names:
        return Token(NAME, start, end, rows=facts.names[phrase], scope=phrase in facts.scope)
    if phrase in facts.titles:
        return Token(MEASURE, start, end, columns=facts.titles[phrase])
    word = LEXICON.get(phrase)
    if word is not None:
        return Token(word.letter, start, end, high=bool(word.high))
    return Token(NOUN, start, end) if phrase in facts.nouns else None


def _value(text: str, at: int, facts: Facts) -> Token | None:
    found = NUMBER.match(text, at)
    if found is None:
        return None
    end, unit = found.end(), ""
    beside = _BESIDE.match(text, end)
    if beside and beside[1].lower() in facts.units:
        end, unit = beside.end(), beside[1]
    claim = claim_of(found, unit)
    after = text[end : end + 1]
    if claim is None or after.isalnum() or after in ("€", "$", "£", "¥", "°", "²", "³"):
        return None
    return Token(VALUE, at, end, claim=claim)


def _mark(text: str, at: int) -> Token | None:
    for mark in (text[at : at + 2], text[at : at + 1]):
        if mark in PUNCTUATION:
            return Token(PUNCTUATION[mark], at, at + len(mark))
    return None
