"""English around names: a column's name as words, plurals, lists, the start of a sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from sandtable.quoting import inert, one_line

_ACRONYMS = frozenset(
    "api bmi chf co2 cpu csat css dob eta eu eur gb gbp gdp gpa gpu hr id imdb ip iq isbn iso it kpi mb mpg mrr nba "
    "nfl nps pdf ph pos ram roi sku sla sms ssn sql tv ufo uk un url us usa usd utc vat vip xp".split()
)
_SPELLED = {
    "avg": "average", "qty": "quantity", "num": "number", "pct": "percent", "amt": "amount", "dept": "department",
    "desc": "description", "max": "maximum", "min": "minimum", "std": "standard", "temp": "temperature",
}  # fmt: skip
# Spellings of a unit at the end of a column's name, which would repeat the unit after the number.
_SUFFIXES = {
    "°c": ("c", "celsius", "deg c"), "°f": ("f", "fahrenheit"), "%": ("pct", "percent", "percentage"),
    "mm/s": ("mm s",), "m/s": ("m s", "mps"), "km/h": ("km h", "kmh", "kph"), "kg": ("kg",), "g": ("g",),
    "km": ("km",), "m": ("m",), "cm": ("cm",), "mm": ("mm",), "l": ("l",), "kwh": ("kwh",), "v": ("v",),
    "eur": ("eur",), "usd": ("usd",), "gbp": ("gbp",), "ms": ("ms",),
}  # fmt: skip
_TIMES = frozenset("milliseconds seconds minutes hours days weeks months years".split())
_LASTING = frozenset(
    "duration downtime uptime time labour labor delay wait waiting stay work worked working setup break idle response "
    "resolution talk hold handling travel ride play played playing loading outage late lateness overtime runtime "
    "flight drive driving walk session call visit service repair cleaning processing planned actual lead cycle down "
    "stop".split()
)
"""Before a `min` at the end of a name: minutes. Elsewhere it may be the least of something, and stays as it is."""
_LEADING = frozenset("in on since until from before last the where is".split())
"""Words that belong to what comes after them."""
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_IRREGULAR = {
    "person": "people", "child": "children", "man": "men", "woman": "women", "datum": "data", "country": "countries",
}  # fmt: skip
_ONE_THING = frozenset("sales series species gas bias lens canvas diabetes mathematics news".split())
_SAME = frozenset(
    "inventory stock data staff equipment information series species fish sheep aircraft "
    "eur usd gbp chf kg km cm kwh".split()
)


@lru_cache(maxsize=4_000)
def words(name: str, unit: str = "") -> str:
    """`unit_price` is "unit price"; a unit at its end goes, since it stands after the number. Inert."""
    plain = _CAMEL.sub(" ", re.sub(r"[_\s]+", " ", one_line(name))).strip() or one_line(name)
    named = _without_unit(plain, unit).split(" ")
    tokens = [_token(token) for token in named]
    if len(named) > 1 and named[-1].lower() == "min":
        tokens[-1] = "minutes" if named[-2].lower() in _LASTING else "min"
    return inert(" ".join(tokens))


def _token(token: str) -> str:
    lower = token.lower()
    if lower in _ACRONYMS:
        return token.upper() if len(token) > 1 else token
    if lower in _SPELLED:
        return _SPELLED[lower]
    return token if any(char.isupper() for char in token[1:]) or not token.isalpha() else lower


def _without_unit(plain: str, unit: str) -> str:
    lower = plain.lower()
    if unit.lower() in _TIMES and lower.endswith(f" {unit.lower()}"):
        return plain[: -len(unit)] + "time"
    for suffix in _SUFFIXES.get(unit.lower(), ()):
        if lower.endswith(f" {suffix}"):
            return plain[: -len(suffix) - 1]
    return plain


def joined(parts: Sequence[str], last: str = "and") -> str:
    if len(parts) <= 1:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} {last} {parts[-1]}"


def shared(one: str, other: str) -> tuple[str, str, str]:
    """What two phrases begin with alike, and what each says after that: ("revenue", "in 2024", "in 2025").

    All empty when they begin differently, or one of them says nothing more."""
    words_of = one.split(" "), other.split(" ")
    same = 0
    while same < min(map(len, words_of)) and words_of[0][same] == words_of[1][same]:
        same += 1
    if same in map(len, words_of):
        return "", "", ""
    if "where" in words_of[0][:same]:
        same = words_of[0].index("where")
    while same and words_of[0][same - 1] in _LEADING:
        same -= 1
    head = " ".join(words_of[0][:same])
    return (head, " ".join(words_of[0][same:]), " ".join(words_of[1][same:])) if head else ("", "", "")


def plural(noun: str) -> str:
    head, _, word = noun.rpartition(" ")
    lower = word.lower()
    if lower in _IRREGULAR:
        made = _IRREGULAR[lower]
    elif lower in _SAME or lower in _IRREGULAR.values() or (lower.endswith("s") and not lower.endswith("ss")):
        made = word
    elif word.isupper():
        made = word + "s"
    elif re.search(r"[^aeiou]y$", lower):
        made = word[:-1] + "ies"
    elif re.search(r"(?:ss|x|z|ch|sh)$", lower):
        made = word + "es"
    else:
        made = word + "s"
    return f"{head} {made}".strip()


def singular(noun: str) -> str:
    head, _, word = noun.rpartition(" ")
    lower = word.lower()
    back = {many: one for one, many in _IRREGULAR.items()}
    if lower in back:
        made = back[lower]
    elif word.endswith("s") and word[:-1].isupper():
        made = word[:-1]
    elif lower in _SAME or lower.endswith(("ss", "us", "is")) or not lower.endswith("s"):
        made = word
    elif lower.endswith("ies") and len(word) > 4:
        made = word[:-3] + "y"
    elif re.search(r"(?:ss|x|z|ch|sh)es$", lower):
        made = word[:-2]
    else:
        made = word[:-1]
    return f"{head} {made}".strip()


def sentence_start(text: str) -> str:
    """With a capital letter, unless the first word is a code or a name with its own spelling."""
    first = text.split(" ", 1)[0].rstrip(",.:;")
    return text[0].upper() + text[1:] if first.isalpha() and first.islower() else text


def ordinal(number: str) -> str:
    if "." in number or number[-2:] in ("11", "12", "13"):
        return f"{number}th"
    return number + {"1": "st", "2": "nd", "3": "rd"}.get(number[-1], "th")


def is_many(noun: str) -> bool:
    """Whether it takes a verb in the plural: points, orders; not status or gross."""
    last = noun.rpartition(" ")[2].lower()
    return (
        len(last) > 3
        and last.endswith("s")
        and not last.endswith(("ss", "us", "is"))
        and last not in _ONE_THING
    )
