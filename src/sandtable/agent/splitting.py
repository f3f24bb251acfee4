"""Splits a message into its questions.

Invariant: pure, and careful. A message is split only where every piece asks for something by itself or continues what
was asked before it; a sentence that only says what is meant ("I care about Germany.") keeps the message whole. Courtesy
is left out; every other word is in exactly one piece, in the order in which it was written.
"""

from __future__ import annotations

import re
from itertools import pairwise

MOST_QUESTIONS = 8

_MARK = re.compile(r"\s*(?:[-*•–]|\(?\d{1,2}[.):]|\(?[a-h][.)])\s+")
_NUMBER = re.compile(r"(?:^|(?<=\s))\(?(\d{1,2})[.)]\s+(?=\D)")
_LEAD = re.compile(
    r"(?:hi|hello|hey|please|thanks)?[,! ]*(?:(?:can|could|would) you )?(?:please )?"
    r"(?:(?:i have|here are|answer|tell me|show me|give me|i(?: would|'d)? (?:like|want|need)(?: to know)?)\b)?[ \w]*?"
    r"(?:questions?|following|things|these|this|tell me|show me|give me|know)?\s*:",
    re.IGNORECASE,
)
_FOR = re.compile(r"\b(?:for|in|of|from|by|per|only|about|during|since|where|with|without)\b", re.IGNORECASE)
"""Words with which a heading may narrow what stands below it: it then is part of every question."""
_COURTESY = re.compile(
    r"(?:many )?(?:thanks|thank you|thx|cheers|please|hi|hello|hey|good (?:morning|afternoon|evening))"
    r"(?: (?:there|you|so much|a lot|in advance|all|everyone|very much))*",
    re.IGNORECASE,
)
_QUESTION = (
    r"(?:how (?:many|much|long|often|old|far|does|do|did|is|are|was|were|has|have)|what|what's|whats|which|who|whose"
    r"|where|when|why|is|are|was|were|do|does|did|has|have|had|can|could|in which|on which|for which)"
)
_ORDER = r"(?:list|show|give|tell|find|count|compare|display|plot|draw|calculate|compute|name|break)"
_CONTINUES = r"(?:(?:and|also|then|next|finally|lastly|plus|second(?:ly)?|third(?:ly)?)\b[, ]*)+"
_ASKS = re.compile(
    rf"(?:(?:please|now|so|ok|okay) )*(?:{_CONTINUES})?(?:{_QUESTION}|{_ORDER})(?:\s|$)", re.IGNORECASE
)
_LEANS = re.compile(rf"(?:{_CONTINUES}|(?:what|how) about )\w", re.IGNORECASE)
_END = re.compile(r"(?<=[?.!;])\s+(?=\S)")
_ALSO = re.compile(
    r"\s*[,;]\s*(?:and )?(?:also|additionally|in addition|plus)\b|\s+and also\b|\s*;(?: and\b)?",
    re.IGNORECASE,
)
_GROUPED = re.compile(r"\b(?:by|per|for each|for every|in each)\b", re.IGNORECASE)
_GROUPED_AFTER_COMMA = re.compile(r",\s*(?:by|per|for each|for every|in each)\b", re.IGNORECASE)
_AND_ASKS = re.compile(
    r",?\s+(?=and (?:which (?!of|one|ones|is|are|was|were|have|had|has)\w+|who) )", re.IGNORECASE
)
_ONE_NUMBER = re.compile(
    r"(?:how (?:many|much)"
    r"|(?:what (?:is|was|are|were) )?(?:the |our )?(?:total|average|overall|number|count|sum|median))\b",
    re.IGNORECASE,
)
"""Asks for one number: what follows can be about nothing that this one names."""
_POINTS_BACK = re.compile(r"\b(?:it|its|they|them|their|those|these|that|each|he|she)\b", re.IGNORECASE)
_STANDS = re.compile(
    r"(?!(?:for|in|of|from|by|per|only|about|during|since|where|with|without|to|on|at|or|but|not)\b)"
    r".*\b(?:by|per|for each|for every|total|average|number of|count of|sum of|top \d+|monthly|weekly|daily)\b",
    re.IGNORECASE,
)
"""No sentence, but a measure or a grouping: `revenue by region`."""
_NEW_LINE = re.compile(r"[A-Z0-9(]|how (?:many|much)\b|what\b|list\b|show\b|and\b|also\b")
_QUOTED = re.compile(r"\"[^\"\n]*\"|“[^”\n]*”|(?<!\w)'[^'\n]*'(?!\w)|`[^`\n]*`")


def questions_in(message: str) -> tuple[str, ...]:
    """The questions of a message, in order; the message itself where it is one."""
    text = message.strip()
    shown = _QUOTED.sub(lambda found: "_" * len(found.group()), text)
    pieces = _listed(shown) or _lines(shown) or _sentences(shown, 0)
    found = [text[start:end].strip(" \t\r\n,;") for start, end in pieces] if pieces else [text]
    return tuple(piece for piece in found if piece) or (text,)


Span = tuple[int, int]


def _listed(text: str) -> list[Span] | None:
    """A list with marks or numbers, one question in each item."""
    lines = _spans(text, "\n")
    marked = [_MARK.match(text[start:end]) for start, end in lines]
    if sum(mark is not None for mark in marked) >= 2:
        first = next(at for at, mark in enumerate(marked) if mark is not None)
        if any(mark is None for mark in marked[first:]) or not _is_lead(text[: lines[first][0]]):
            return None
        return [(start + mark.end(), end) for (start, end), mark in zip(lines, marked, strict=True) if mark]
    numbers = list(_NUMBER.finditer(text)) if len(lines) == 1 else []
    if len(numbers) < 2 or [int(found[1]) for found in numbers] != list(range(1, len(numbers) + 1)):
        return None
    if not _is_lead(text[: numbers[0].start()]):
        return None
    ends = [*(found.start() for found in numbers[1:]), len(text)]
    return [(found.end(), end) for found, end in zip(numbers, ends, strict=True)]


def _is_lead(text: str) -> bool:
    """Whether what stands before a list says nothing about the data."""
    lead = " ".join(text.split())
    return not lead or (_LEAD.fullmatch(lead) is not None and not _FOR.search(lead))


def _lines(text: str) -> list[Span] | None:
    """Lines that each ask for something, and that are no single sentence over several lines."""
    lines = [span for span in _spans(text, "\n") if not _is_courtesy(text[slice(*span)])]
    if len(lines) < 2 or not all(_asks(text[slice(*line)]) or _stands(text[slice(*line)]) for line in lines):
        return None
    for (start, end), (after, _) in pairwise(lines):
        apart = text[start:end].rstrip()[-1:] in "?.!;" or "\n" in text[end:after].replace("\r", "")[1:]
        if not apart and not _NEW_LINE.match(text[after:].lstrip()):
            return None
    return [piece for line in lines for piece in _sentences(text[slice(*line)], line[0]) or [line]]


def _sentences(text: str, offset: int) -> list[Span] | None:
    """Sentences that all ask; a single one is looked at for a second question."""
    ends = [found.start() for found in _END.finditer(text) if _begins(text, found.start())]
    spans = list(zip([0, *ends], [*ends, len(text)], strict=True))
    asking = [span for span in spans if not _is_courtesy(text[slice(*span)])]
    if len(asking) > 1:
        if not all(_asks(text[slice(*span)]) for span in asking):
            return None
        return [(start + offset, end + offset) for start, end in asking]
    cut = _second(text)
    return [(offset, offset + cut[0]), (offset + cut[1], offset + len(text))] if cut else None


def _begins(text: str, at: int) -> bool:
    """Whether a sentence begins here: behind a question mark always, else where the words ask (not in `St. Louis`)."""
    rest = text[at:].lstrip()
    asks = _ASKS.match(rest) or _LEANS.match(rest)
    return text[at - 1] == "?" or asks is not None or _is_courtesy(rest)


def _second(text: str) -> Span | None:
    """Where the first question of a sentence ends and the second one begins."""
    for found in _ALSO.finditer(text):
        left, right = text[: found.start()], text[found.end() :]
        if len(left.split()) < 2 or len(right.split()) < 2 or _POINTS_BACK.search(right):
            continue
        if _ASKS.match(right.strip()) or (_GROUPED.search(right) and not _GROUPED_AFTER_COMMA.search(right)):
            return found.span()
    for found in _AND_ASKS.finditer(text):
        left, right = text[: found.start()], text[found.end() :]
        if _ONE_NUMBER.match(left) and len(right.split()) > 3 and not _POINTS_BACK.search(right):
            # With its `and`: it may lean on the first.
            return found.span()
    return None


def _stands(piece: str) -> bool:
    return _STANDS.match(piece.strip()) is not None


def leans(piece: str) -> bool:
    """Whether a question may be about the one before it: `and by month?`, `in 2024?`, `how many of those?`."""
    said = piece.strip()
    first = re.match(r"(?:by|per|in|for|only|just|without|as|same|instead|to|from|of)\b", said, re.IGNORECASE)
    return bool(first or _LEANS.match(said) or _POINTS_BACK.search(said))


def _asks(piece: str) -> bool:
    said = piece.strip()
    return said.endswith("?") or _ASKS.match(said) is not None or _LEANS.match(said) is not None


def _is_courtesy(piece: str) -> bool:
    said = piece.strip(" \t\r\n.,!;:-")
    return not said or _COURTESY.fullmatch(said) is not None


def _spans(text: str, separator: str) -> list[Span]:
    spans: list[Span] = []
    at = 0
    for piece in text.split(separator):
        if piece.strip():
            spans.append((at, at + len(piece)))
        at += len(piece) + len(separator)
    return spans
