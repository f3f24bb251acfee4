"""A question under analysis: its words, and the meaning assigned to each word so far."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache

from sandtable.planner.language.words import Word, split_words

FREE = ""


@dataclass(slots=True)
class Reading:
    text: str
    words: tuple[Word, ...]
    line: str
    """The lower-case words with one blank between them: what phrases are looked up in."""
    offsets: list[int]
    owner: list[str]
    """For each word what explains it; FREE while nothing does."""

    @staticmethod
    def of(text: str) -> Reading:
        words = split_words(text)
        offsets: list[int] = []
        at = 0
        for word in words:
            offsets.append(at)
            at += len(word.lower) + 1
        line = " ".join(w.lower for w in words)
        return Reading(text, words, line, offsets, [FREE] * len(words))

    def __len__(self) -> int:
        return len(self.words)

    def lower(self, at: int) -> str:
        return self.words[at].lower if 0 <= at < len(self.words) else ""

    def free(self, start: int, end: int) -> bool:
        return all(owner == FREE for owner in self.owner[start:end])

    def claim(self, start: int, end: int, owner: str) -> None:
        for at in range(max(0, start), min(end, len(self.owner))):
            if self.owner[at] == FREE:
                self.owner[at] = owner

    def written(self, start: int, end: int) -> str:
        """The span as the person wrote it."""
        if start >= end:
            return ""
        return self.text[self.words[start].start : self.words[end - 1].end]

    def find(self, pattern: re.Pattern[str]) -> list[tuple[int, int, re.Match[str]]]:
        """Whole-word matches of a pattern over the line, as word spans."""
        return list(_found(pattern, self.text))

    def match_at(self, pattern: re.Pattern[str], at: int) -> tuple[int, re.Match[str]] | None:
        """A match that begins at this word and ends where a word ends, with the word after it."""
        if not 0 <= at < len(self.words):
            return None
        match = pattern.match(self.line, self.offsets[at])
        if match is None or match.end() == match.start():
            return None
        span = self.span(match.start(), match.end())
        return (span[1], match) if span else None

    def span(self, begin: int, end: int) -> tuple[int, int] | None:
        """Characters of the line as words, when both ends lie on word boundaries."""
        first = bisect_right(self.offsets, begin) - 1
        last = bisect_right(self.offsets, end - 1) - 1
        if first < 0 or self.offsets[first] != begin:
            return None
        if self.offsets[last] + len(self.words[last].lower) != end:
            return None
        return first, last + 1


@lru_cache(maxsize=2_000)
def _found(pattern: re.Pattern[str], text: str) -> tuple[tuple[int, int, re.Match[str]], ...]:
    """Searched once in a question, not for every plan that the question is checked against."""
    reading = Reading.of(text)
    found: list[tuple[int, int, re.Match[str]]] = []
    for match in pattern.finditer(reading.line):
        span = reading.span(match.start(), match.end())
        if span is not None:
            found.append((*span, match))
    return tuple(found)
