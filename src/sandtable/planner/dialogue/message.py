"""A message after an answer: its words, the polite phrases around them, and how it points back."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sandtable.planner.language.reading import Reading
from sandtable.planner.language.words import Word

_OPENING = frozenset(
    "and but so ok okay no now then well hmm actually great thanks alright right yes cool please".split()
)
_CLOSING = frozenset("please pls then thanks now though".split())
_WHAT_ABOUT = re.compile(
    r"(?:(?:and|but|so|ok|okay|now) )?(?:what about|how about|(?:the )?same(?: again)?(?: for)?)(?= )"
)
_QUESTION = re.compile(
    r"(?:how many|how much|how long|how old|how often|what|what's|whats|which|who|whose|where|when|list|"
    r"show|give|"
    r"tell|find|is|are|was|were|do|does|did|has|have|had|can|in which|name)(?= )"
)
_OF_THOSE = re.compile(r"^(?:of|from|among) (?:all )?(?:those|them|these) ")
_OF_THEM = re.compile(r"\bof (?:those|them|these)(?:$| (?:are|were|is|was|have|had|came|go)\b)")
_SIGNS = frozenset("? ! . , : ; -".split())
_BACK = re.compile(
    r"\b(?:of|in|from|among|on|for|with|about|by|did|does|do|has|have|had|is|are|was|were|wrote|show|list|"
    r"make|split|"
    r"break|sort|order|group|put|compare|draw|plot|turn|give|use|see|want|get|need) (?:me )?"
    r"(?:all )?(?:of )?(?P<back>those|them|these|they|it|that|this)\b(?! (?:have|has|had|were|was|is|"
    r"are|did|do|"
    r"got|need|start|begin|contain|cost|\w+ed)\b)"
    r"|\b(?P<their>their|theirs|its)\b|^(?P<own>that's|that|those|these|they|it|this)\b|\b(?P<last>those|"
    r"them|these|they|that|it)$"
    r"|\bof (?:those|them|these)\b|^(?:split|show|compare|put|break|plot) both\b"
)
"""Words that stand for the previous answer; not so in `customers that were …`."""
_MODES = {
    "adding": re.compile(
        r"\b(?:also|too|as well|additionally|in addition|further|plus|add|adding|include|including|"
        r"next to (?:it|that|them)|"
        r"beside (?:it|that)|alongside)\b"
    ),
    "instead": re.compile(r"\b(?:instead(?: of(?: the)? (?P<of>\w+(?: \w+)?))?|rather|would be better)\b"),
    "again": re.compile(r"\bagain\b"),
    "only": re.compile(r"\b(?:only|just)\b"),
}


@dataclass(frozen=True, slots=True)
class Message:
    reading: Reading
    start: int
    end: int
    """The words without the polite phrases around them."""
    opened: bool
    """It begins as the continuation of something: `and …`, `what about …`."""
    same: bool
    """`what about …`, `same for …`: replaces what was there before."""
    bare: bool = False
    """It has no words that say how to change the plan."""

    @staticmethod
    def of(text: str) -> Message:
        reading = Reading.of(text)
        start, end, opened = 0, len(reading), False
        while end > start and (reading.lower(end - 1) in _SIGNS or reading.lower(end - 1) in _CLOSING):
            end -= 1
        same = reading.match_at(_WHAT_ABOUT, 0)
        if same is not None and same[0] < end:
            return Message(reading, same[0], end, True, True)
        while start < end and (reading.lower(start) in _SIGNS or reading.lower(start) in _OPENING):
            opened = opened or reading.lower(start) in {"and", "but", "now"}
            start += 1
        return Message(reading, start, max(start, end), opened, False)

    @property
    def words(self) -> list[Word]:
        return [w for w in self.reading.words[self.start : self.end] if w.lower not in _SIGNS]

    @property
    def text(self) -> str:
        """The words in lower case, without polite phrases and punctuation."""
        return " ".join(w.lower for w in self.words)

    @property
    def places(self) -> frozenset[int]:
        return frozenset(range(self.start, self.end))

    @property
    def courtesy(self) -> frozenset[int]:
        return frozenset(range(len(self.reading))) - self.places

    @property
    def asks(self) -> bool:
        """It has the form of a question."""
        return _QUESTION.match(_OF_THOSE.sub("", f"{self.text} ")) is not None

    @property
    def back(self) -> bool:
        """It refers to the previous answer with a pronoun."""
        return _BACK.search(self.text) is not None

    @property
    def of_those(self) -> bool:
        return _OF_THOSE.match(self.text) is not None or _OF_THEM.search(self.text) is not None

    def mode(self, name: str) -> re.Match[str] | None:
        return None if self.bare else _MODES[name].search(self.text)

    def places_of(self, phrase: str) -> frozenset[int]:
        """Places of the words of a phrase, wherever they stand in the message."""
        wanted = phrase.split()
        at = [i for i in range(self.start, self.end) if self.reading.lower(i) not in _SIGNS]
        lowers = [self.reading.lower(i) for i in at]
        for first in range(len(at) - len(wanted) + 1):
            if lowers[first : first + len(wanted)] == wanted:
                return frozenset(at[first : first + len(wanted)])
        return frozenset()

    def without(self, gone: frozenset[int]) -> str:
        """What is left of the message as it was written."""
        kept = [i for i in range(self.start, self.end) if i not in gone]
        parts: list[str] = []
        for i in kept:
            word = self.reading.words[i]
            joined = parts and i - 1 in kept and word.start == self.reading.words[i - 1].end
            if joined:
                parts[-1] += word.text
            else:
                # What was written together, such as `max_val`, stays so.
                between = (
                    self.reading.text[self.reading.words[i - 1].end : word.start] if i - 1 in kept else ""
                )
                if parts and between and not between.isspace():
                    parts[-1] += between + word.text
                else:
                    parts.append(word.text)
        return " ".join(parts).strip(" ,;:.-")
