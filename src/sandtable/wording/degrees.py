"""Words of comparison for a measure: highest and lowest, most and fewest, longest and shortest; and its article."""

from __future__ import annotations

from sandtable.wording.field import Direction, Field
from sandtable.wording.phrases import is_many

_ONE_NUMBER = (
    "number of ", "average number of ", "sum of ", "share ", "standard deviation of ", "running total of ",
    "change in ", "correlation of ",
)  # fmt: skip
_TIMES = frozenset("milliseconds seconds minutes hours days weeks months years ms min sec".split())
_MASS = frozenset({"revenue", "sales", "profit", "turnover", "income", "spending", "units sold", "stock"})


def superlative(field: Field, direction: Direction, said: str = "") -> str:
    """As in "the highest return rate", "the most orders". `said` is what the sentence has already named."""
    high = direction == "high"
    if field.counts or field.many:
        things = "" if field.things == said else f" {field.things}"
        return f"the {'most' if high else 'fewest'}{things}"
    if field.text.startswith("maximum ") and high:
        return f"the highest {field.text.removeprefix('maximum ')}"
    if field.text.startswith("minimum ") and not high:
        return f"the lowest {field.text.removeprefix('minimum ')}"
    return f"the {degree(field, direction)} {field.text}"


def degree(field: Field, direction: Direction) -> str:
    """The bare word: highest, fewest, longest."""
    high = direction == "high"
    if field.counts or field.many:
        return "most" if high else "fewest"
    if field.unit in _TIMES:
        return "longest" if high else "shortest"
    return "highest" if high else "lowest"


def opposite(field: Field, direction: Direction) -> str:
    """The word for the other end, once the first has been named: the lowest of maximums is not the lowest."""
    word = degree(field, direction)
    for extreme, own in (("maximum", "high"), ("minimum", "low")):
        if field.text.startswith(f"{extreme} ") and direction != own:
            return f"{word} {extreme}"
    return word


def comparative(field: Field, direction: Direction) -> str:
    """As in "a higher return rate", "more orders"."""
    high = direction == "high"
    if field.counts or field.many:
        return f"{'more' if high else 'fewer'} {field.things}"
    word = ("longer" if high else "shorter") if field.unit in _TIMES else "higher" if high else "lower"
    return f"{word} {field.text}" if field.text in _MASS else f"a {word} {field.text}"


def verb(field: Field, past: bool = False) -> str:
    """The verb after the measure; "number of …" takes the singular."""
    several = is_many(field.text) and not field.text.startswith(_ONE_NUMBER) and not field.metric
    return ("were" if past else "are") if several else "was" if past else "is"


def subject(field: Field) -> str:
    """The measure at the head of a sentence."""
    return field.text if field.text in _MASS else f"the {field.text}"
