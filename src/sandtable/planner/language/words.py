"""Text as the planner reads it: words with their place in the text, stems, value keys and numbers.

Pure and language-light: English endings and number words, nothing about any dataset.
Invariant: `text[w.start:w.end] == w.text` for every word of `split_words(text)`.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from sandtable.planner.language.lexicon import IRREGULAR, KEPT, NUMBER_WORDS, SCALES, SUFFIX_SCALES

_WORD = re.compile(
    r"\d{4}-\d{1,2}-\d{1,2}(?:[T ]\d{1,2}:\d{2}(?::\d{2})?)?(?!\w)"
    r"|\d{1,3}(?:,\d{3})+(?:\.\d+)?[^\W\d_]*"
    r"|\d+\.\d+[^\W\d_]*"
    r"|[^\W_]+(?:['’][^\W\d_]+)?"
    r"|[^\s_]"
)
_NUMBER = re.compile(r"(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)([a-z]*)")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_UNKEYED = re.compile(r"[^\w+#%.]|_|\.(?!\d)|(?<!\d)\.")
CURRENCIES = frozenset("$€£¥")


@dataclass(frozen=True, slots=True)
class Word:
    text: str
    lower: str
    """Lower case, without accents; the typographic apostrophe made plain."""
    stem: str
    start: int
    end: int

    @property
    def is_symbol(self) -> bool:
        return not (self.lower[0].isalnum())


_LONGEST_KEPT = 300


def split_words(text: str) -> tuple[Word, ...]:
    """The words, numbers and single symbols of a text, in order."""
    return _split_short(text) if len(text) <= _LONGEST_KEPT else _split(text)


@lru_cache(maxsize=8_000)
def _split_short(text: str) -> tuple[Word, ...]:
    """Cached: names, descriptions and values are split for every question, and the question for every plan."""
    return _split(text)


def _split(text: str) -> tuple[Word, ...]:
    words: list[Word] = []
    for match in _WORD.finditer(text):
        lower = fold(match.group())
        words.append(Word(match.group(), lower, stem(lower), match.start(), match.end()))
    return tuple(words)


@lru_cache(maxsize=20_000)
def fold(text: str) -> str:
    """Lower case without accents: `Café` is `cafe`."""
    lower = text.lower().replace("’", "'")
    if lower.isascii():
        return lower
    return "".join(c for c in unicodedata.normalize("NFKD", lower) if not unicodedata.combining(c)) or lower


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """One form for a word's plural, past, -ing form and common abbreviations."""
    word = fold(word)
    if word.endswith("'s"):
        word = word[:-2]
    word = word.rstrip("'")
    if word in IRREGULAR:
        return _final(IRREGULAR[word])
    if len(word) <= 3 or not word.isalpha():
        return word
    short = _ending_off(word)
    return _final(IRREGULAR.get(short, short))


_ENDINGS = (
    ("ies", "y", 2),
    ("sses", "ss", 2),
    ("ches", "ch", 2),
    ("shes", "sh", 2),
    ("xes", "x", 2),
    ("zzes", "zz", 2),
    ("ing", "", 3),
    ("ied", "y", 2),
    ("ed", "", 3),
    ("s", "", 3),
)


def _ending_off(word: str) -> str:
    if word in KEPT:
        return word
    if word.endswith("s") and word[:-1] in KEPT:
        return word[:-1]
    for ending, put, least in _ENDINGS:
        if not word.endswith(ending) or len(word) - len(ending) < least:
            continue
        if ending == "s" and word.endswith(("ss", "us", "is")):
            return word
        short = word[: -len(ending)] + put
        if ending in {"ing", "ed"}:
            if not set(short) & set("aeiouy"):
                return word
            if len(short) > 3 and short[-1] == short[-2] and short[-1] not in "lsz":
                short = short[:-1]
        return short
    return word


def _final(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


_DERIVED = (
    "ations",
    "ation",
    "ions",
    "ion",
    "ments",
    "ment",
    "ings",
    "ing",
    "als",
    "al",
    "ers",
    "er",
    "ed",
    "es",
    "s",
    "e",
)


@lru_cache(maxsize=20_000)
def root(word: str) -> str:
    """What words of one family share: `cancellation`, `cancelled` and `cancels` are `cancel`."""
    for ending in _DERIVED:
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            word = word[: -len(ending)]
            break
    return word[:-1] if len(word) > 4 and word[-1] == word[-2] and word[-1] not in "s" else word


def split_name(name: str) -> tuple[str, ...]:
    """The lower-case words in a column's or table's name: `firstResponse_min` is first, response, min."""
    one_word = name.replace("-", "").isalnum()
    spaced = (_CAMEL.sub(" ", name) if one_word else name).replace("_", " ")
    return tuple(w.lower for w in split_words(spaced) if not w.is_symbol or w.lower in {"#", "%"})


@lru_cache(maxsize=50_000)
def value_key(text: str) -> str:
    """What two spellings of one value have in common: case, accents, spaces and hyphens aside."""
    folded = fold(text)
    if folded.isalnum():
        return folded
    return _UNKEYED.sub("", folded) or folded.strip()


def number_key(value: float) -> str:
    """The key under which a number is in the value index."""
    return f"#{value:.12g}"


@dataclass(frozen=True, slots=True)
class Number:
    """A number that the words `start` to `end` (excluded) spell."""

    value: float
    start: int
    end: int
    percent: bool = False
    currency: bool = False
    spelled: bool = False
    """Written in letters; `one` is often no number at all."""

    @property
    def exact(self) -> int | float:
        return int(self.value) if self.value.is_integer() else self.value


def parse_number(text: str) -> float | None:
    """The number that a text is: `1,200`, `2k`, `3.5m`, `$40`, `12%`; None when it is none."""
    plain = fold(text).strip().strip("$€£¥%").strip()
    negative = plain.startswith(("-", "−"))
    match = _NUMBER.fullmatch(plain.lstrip("-−+"))
    if match is None:
        return None
    scale = SUFFIX_SCALES.get(match.group(2)) if match.group(2) else 1
    if scale is None or len(match.group(1)) > 30:
        return None
    value = float(match.group(1).replace(",", "")) * scale
    return -value if negative else value


_FRACTIONS = {
    "third": 3,
    "thirds": 3,
    "quarters": 4,
    "fifth": 5,
    "fifths": 5,
    "tenth": 10,
    "tenths": 10,
    "halves": 2,
}
"""`two thirds`; `three quarters` only with `of`: else they are periods."""


def read_number(words: tuple[Word, ...], at: int) -> Number | None:
    """The number that starts at this word, with its sign, currency, scale and percent sign."""
    start, negative, currency = at, False, False
    while at < len(words) and words[at].lower in {"-", "−", "$", "€", "£", "¥"}:
        negative = negative or words[at].lower in {"-", "−"}
        currency = currency or words[at].lower in CURRENCIES
        at += 1
        if at >= len(words) or words[at].start != words[at - 1].end:
            return None
    if negative and start > 0 and words[start - 1].end == words[start].start:
        return None
    if at >= len(words):
        return None
    value = parse_number(words[at].lower)
    spelled = value is None
    if value is None:
        found = _spelled_number(words, at)
        if found is None:
            return None
        value, at = found
    else:
        at += 1
        while at < len(words) and words[at].lower in SCALES:
            value *= SCALES[words[at].lower]
            at += 1
    parts = _FRACTIONS.get(words[at].lower) if at < len(words) else None
    several = parts is not None and (value == 1 or words[at].lower.endswith("s"))
    if (
        parts is not None
        and several
        and (parts != 4 or (at + 1 < len(words) and words[at + 1].lower == "of"))
    ):
        return Number(100 * value / parts, start, at + 1, percent=True, spelled=spelled)
    percent = at < len(words) and words[at].lower in {"%", "percent", "pct"}
    at += percent
    other = _end_of_range(words, start, at) if not percent else None
    if other is not None:
        value, percent = _scaled_like(value, other, words), other.percent
    if (
        not percent
        and at < len(words)
        and words[at].lower in CURRENCIES | {"eur", "euro", "euros", "usd", "dollars", "dollar"}
    ):
        currency, at = True, at + 1
    return Number(-value if negative else value, start, at, percent, currency, spelled)


def _end_of_range(words: tuple[Word, ...], start: int, at: int) -> Number | None:
    """The second number of `between 5 and 10 million`, of which the first is read."""
    if start == 0 or words[start - 1].lower not in {"between", "from"} or at + 1 >= len(words):
        return None
    return read_number(words, at + 1) if words[at].lower in {"and", "to", "-", "–"} else None


def _scaled_like(value: float, other: Number, words: tuple[Word, ...]) -> float:
    said = next((n for at in range(other.start, other.end) if (n := parse_number(words[at].lower))), None)
    scale = other.value / said if said else 1.0
    return value * scale if scale >= 1000 and said is not None and value <= said else value


def _spelled_number(words: tuple[Word, ...], at: int) -> tuple[float, int] | None:
    """`two hundred and fifty` as 250 and the place after it."""
    total, part, seen, begin = 0.0, 0.0, False, at
    while at < len(words):
        word = words[at].lower
        if word in NUMBER_WORDS:
            part += NUMBER_WORDS[word]
        elif word in SCALES and (seen or word in {"hundred", "thousand", "million", "billion", "dozen"}):
            part = (part or 1) * SCALES[word]
            if SCALES[word] >= 1000:
                total, part = total + part, 0.0
        elif word in {"and", "-"} and seen and at + 1 < len(words) and words[at + 1].lower in NUMBER_WORDS:
            # "one and two" is a list; "two hundred and fifty" and "twenty-five" are one number
            if word == "and" and words[at - 1].lower not in SCALES:
                break
        else:
            break
        seen, at = True, at + 1
    return (total + part, at) if at > begin and seen else None
