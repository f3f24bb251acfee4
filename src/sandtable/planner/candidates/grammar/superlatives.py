"""Superlatives, `top 5`, and the order of the answer."""

from __future__ import annotations

import re

from sandtable.planner.candidates.grammar.draft import Draft, Rank
from sandtable.planner.candidates.grammar.sequence import bind_top_places, first_or_last
from sandtable.planner.language.reading import FREE
from sandtable.planner.language.vocabulary import COMMON, IMPLIED, LEAST, MOST
from sandtable.planner.language.words import read_number

_TOP = re.compile(
    r"(?:the )?(?P<word>top|bottom|best|worst|first|last|highest|lowest|largest|smallest|biggest)(?= )"
)
_MOST_COMMON = re.compile(
    r"(?:the )?(?P<n>\d+ |two |three |four |five |ten )?(?P<way>most|least)(?: \w+ly)? "
    r"(?:common|frequent|often|frequently|commonly|prevalent)(?:ly)?(?= |$)"
)
_LOW = "lowest|smallest|least|fewest|cheapest|youngest|earliest"
_HIGH = "highest|largest|most|biggest|newest|latest|oldest"
_ASCENDING = re.compile(
    rf"(?:in )?(?:ascending|increasing)(?: order)?(?= |$)"
    rf"|(?:from )?(?:the )?(?:{_LOW}) (?:to|first)(?: (?:the )?(?:{_HIGH}))?(?= |$)"
    r"|(?:in )?alphabetical(?:ly)?(?: order)?(?= |$)|asc(?= |$)|a to z(?= |$)"
)
_DESCENDING = re.compile(
    rf"(?:in )?(?:descending|decreasing)(?: order)?(?= |$)|(?:from )?(?:the )?(?:{_HIGH}|worst|best) (?:to|first)"
    rf"(?: (?:the )?(?:{_LOW}))?(?= |$)|desc(?= |$)|z to a(?= |$)|reverse order(?= |$)"
)
_RATED = frozenset("paid rated priced valued earning attended populated viewed".split())
"""`highest paid`, `best rated`: the participle determines the column."""
_NOT_SUPERLATIVE = frozenset("max min maximum minimum top bottom".split())


def find_rank(draft: Draft) -> None:
    """The superlative of the question, if it has one; what it is about is settled later."""
    bind_top_places(draft)
    draft.rank = _most_common(draft) or _top(draft) or _superlative(draft) or first_or_last(draft)
    rank = draft.rank
    if rank is None:
        return
    draft.reading.claim(rank.start, rank.end, "rank")
    if rank.count is None:
        _count_elsewhere(draft, rank)


def _most_common(draft: Draft) -> Rank | None:
    for start, end, match in draft.reading.find(_MOST_COMMON):
        if not draft.reading.free(start, end):
            continue
        number = read_number(draft.reading.words, start + (draft.reading.lower(start) == "the"))
        count = int(number.value) if number and match.group("n") else None
        return Rank(start, end, match.group("way") == "most", count, common=True)
    return None


def _top(draft: Draft) -> Rank | None:
    """`top 5`, `bottom three`, `first 10`."""
    for start, end, match in draft.reading.find(_TOP):
        if draft.reading.owner[end - 1] != FREE:
            continue
        number = read_number(draft.reading.words, end)
        word = match.group("word")
        if (
            number is None
            or not 1 <= number.value <= 10_000
            or number.percent
            or not number.value.is_integer()
        ):
            if word in {"top", "bottom"}:
                return Rank(start, end, word == "top", None, word=word)
            continue
        if not draft.reading.free(number.start, number.end) or word == "last":
            continue
        down = word in {"top", "best", "highest", "largest", "biggest"}
        inner = _superlative(draft) if word == "top" else None
        if inner is not None and inner.start == number.end:
            return Rank(
                start, inner.end, inner.descending, int(number.value), common=inner.common, word=inner.word
            )
        return Rank(start, number.end, down, int(number.value), word=word)
    return None


def _superlative(draft: Draft) -> Rank | None:
    reading = draft.reading
    for at in range(len(reading)):
        word = _spoken_superlative(draft, at)
        if reading.owner[at] != FREE or (word not in MOST and word not in LEAST):
            continue
        if reading.lower(at - 1) == "at" or word in _NOT_SUPERLATIVE:
            continue
        following = reading.lower(at + 1)
        end = at + 1
        down = word in MOST
        if word in {"most", "least"} and following in IMPLIED and reading.owner[at + 1] == FREE:
            word, end = following, at + 2
            down = down == IMPLIED[following][1]
        elif word in {"most", "least"} and following in COMMON:
            return Rank(at, at + 2, down, None, common=True)
        elif following in _RATED and reading.owner[at + 1] == FREE:
            word, end = following, at + 2
        if word == "most" and following in {"of", "unusual", "extreme", "anomalous"}:
            continue
        if word in {"oldest", "youngest"}:
            down = word == "oldest"
        return Rank(at, end, down, None, word=word)
    return None


_COMPARATIVES = {
    "higher": "highest", "lower": "lowest", "more": "most", "fewer": "fewest", "larger": "largest", "bigger": "biggest",
    "greater": "greatest", "smaller": "smallest", "older": "oldest", "younger": "youngest", "taller": "tallest",
    "longer": "longest", "shorter": "shortest", "better": "best", "cheaper": "cheapest", "faster": "fastest",
    "richer": "richest", "heavier": "heaviest", "newer": "newest", "wealthier": "wealthiest",
}  # fmt: skip


def _spoken_superlative(draft: Draft, at: int) -> str:
    """`which of the two has the higher …` means the highest, unless it is compared with something."""
    word = draft.reading.lower(at)
    if word not in _COMPARATIVES or draft.reading.lower(0) not in {"which", "who", "what"}:
        return word
    return word if "than" in draft.reading.line.split() else _COMPARATIVES[word]


def _count_elsewhere(draft: Draft, rank: Rank) -> None:
    """`the 3 cheapest`, `which 5 agents have the lowest`, `name the 3 films with the lowest`."""
    reading = draft.reading
    before = read_number(reading.words, rank.start - 1) if rank.start > 0 else None
    if before and before.end == rank.start and reading.owner[rank.start - 1] == FREE:
        rank.count = int(before.value)
        reading.claim(rank.start - 1, rank.start, "rank")
        return
    for at in range(min(rank.start, 8)):
        number = read_number(reading.words, at)
        if number is None or not number.value.is_integer() or not 1 <= number.value <= 1000:
            continue
        asks = (
            reading.lower(at - 1)
            in {"which", "what", "the", "name", "list", "show", "me", "give", "find", "any"}
            or at == 0
        )
        spot = draft.after(number.end, frozenset({"different"}), 1)
        if (
            asks
            and reading.free(number.start, number.end)
            and spot is not None
            and (spot.columns or spot.table)
        ):
            rank.count = int(number.value)
            reading.claim(number.start, number.end, "rank")
            return


def find_order(draft: Draft) -> bool | None:
    """Whether the answer is asked for in descending (True) or ascending (False) order."""
    for pattern, down in ((_DESCENDING, True), (_ASCENDING, False)):
        for start, end, _ in draft.reading.find(pattern):
            if draft.reading.free(start, end):
                draft.reading.claim(start, end, "order")
                return down
    return None
