"""Whether a word of a question can be what a column, a table or a value is called."""

from __future__ import annotations

from functools import lru_cache

from sandtable.planner.conscience.business import BUSINESS
from sandtable.planner.conscience.units import unit_named, unit_of
from sandtable.planner.language.spelling import within
from sandtable.planner.language.synonyms import related
from sandtable.planner.language.words import stem
from sandtable.planner.schema.entries import ColumnEntry, TableEntry
from sandtable.planner.schema.names import SHORTENED

LEAST = 0.5
"""From this closeness on a word counts as a name."""
_LINKS = frozenset(stem(w) for w in "of the a an in on at for by to is has was per and or no".split())
UNIT_STEMS = frozenset(
    stem(w)
    for w in "eur usd gbp chf euro dollar pound cent min mins minute minutes hour hours hrs h second seconds sec s "
    "ms day  days week weeks month months year years km m cm mm mile miles kg g t tonne tonnes gram grams "
    "litre litres l ml kwh  kw mwh pct percent million millions thousand thousands mil mn c f ha sqm m2 "
    "ntu ug mg pts cfu".split()
)
GENERIC_HEADS = frozenset(stem(w) for w in "value amount total number count sum price cost time".split())
_MONEY = frozenset(stem(w) for w in "cost price pay paid spend money expense expensive cheap".split())
_VOWELS = frozenset("aeiouy")


@lru_cache(maxsize=50_000)
def closeness(word: str, name: str) -> float:
    """How well the stem of a word fits the stem of one word in a name, from 0 to 1."""
    if word == name:
        return 1.0
    if not word or not name or not word[0].isalpha():
        return 0.0
    if SHORTENED.get(word) == name:
        return 0.9
    if name in related(word) or name in BUSINESS.get(word, ()):
        return 0.8
    if _shortens(name, word) or _shortens(word, name):
        return 0.8
    if _same_root(word, name):
        return 0.75
    if len(word) > 3 and len(name) - len(word) >= 3 and (name.startswith(word) or name.endswith(word)):
        return 0.7
    if len(word) > 4 and name.endswith(word):
        return 0.7
    slips = 0 if min(len(word), len(name)) < 5 else 1 if len(word) < 9 else 2
    if slips and word[0] == name[0] and within(word, name, slips) is not None:
        return 0.7
    return 0.0


def _shortens(short: str, long: str) -> bool:
    """`dep` for departure, `prj` for project: an abbreviation as column names have them."""
    if not 2 <= len(short) <= 4 or len(long) < len(short) + 3 or short[0] != long[0]:
        return False
    letters = iter(long)
    if not all(letter in letters for letter in short):
        return False
    bare = not set(short[1:]) & _VOWELS
    return bare or (len(short) == 4 and long.startswith(short))


def _same_root(a: str, b: str) -> bool:
    """`direct` and `director`, `stop` and `stoppage`, `donat` and `donor` not."""
    common = 0
    while common < min(len(a), len(b)) and a[common] == b[common]:
        common += 1
    shorter, longer = sorted((len(a), len(b)))
    if common >= 5:
        return longer - common <= 5 and common >= shorter - 2
    return common == 4 == shorter and longer <= 8


def names_column(word: str, column: ColumnEntry) -> float:
    """How well a stem fits any word of the column's name, its unit or its description."""
    best = _names(word, column.name, column.words, column.stems, column.unit)
    if best >= 0.7:
        return best
    if word in _MONEY and (unit := unit_of(column)) is not None and unit.kind == -1:
        return max(best, 0.75)
    return max(best, 0.5 if word in column.description_stems and len(word) > 3 else 0.0)


@lru_cache(maxsize=20_000)
def _names(word: str, name: str, words: tuple[str, ...], stems: tuple[str, ...], unit: str) -> float:
    """How well a stem fits the name and the unit of a column."""
    best = max((closeness(word, part) for part in stems if part not in _LINKS), default=0.0)
    if best >= 0.7:
        return best
    initials = "".join(part for part in stems if len(part) == 1)
    if (
        (len(initials) > 1 and word == initials)
        or word == "".join(stems)
        or word in {stem("".join(words)), stem(name)}
    ):
        return 1.0
    return 0.7 if word in _unit_words(unit) or _same_unit(word, stems) else best


def _same_unit(word: str, stems: tuple[str, ...]) -> bool:
    """`tonne` for the t of `price_per_t`."""
    said = unit_named(word)
    if said is None:
        return False
    units = [unit for part in stems if (unit := unit_named(part)) is not None]
    return any(
        (u.kind, u.factor, u.name if u.kind < 0 else "")
        == (said.kind, said.factor, said.name if said.kind < 0 else "")
        for u in units
    )


def _unit_words(unit: str) -> frozenset[str]:
    return frozenset(stem(part) for part in unit.lower().replace("/", " ").split())


def names_table(word: str, table: TableEntry) -> float:
    """How well a stem fits what the rows of a table are."""
    best = max((closeness(word, part) for part in table.stems), default=0.0)
    return max(best, 0.5 if word in table.description_stems and len(word) > 3 else 0.0)


def significant(column: ColumnEntry) -> tuple[str, ...]:
    """The distinctive stems of a name: without linking words, units and numbers."""
    kept = tuple(s for s in column.stems if s not in _LINKS and s not in UNIT_STEMS and not s[:1].isdigit())
    return kept or column.stems


def head_of(column: ColumnEntry) -> tuple[str, ...]:
    """The word that says what the values are: `delay` in `dep_delay_min`, `cost` in `cost_per_hour`."""
    if "per" in column.words:
        before = column.stems[: column.words.index("per")]
        return tuple(s for s in before if s not in _LINKS) or column.stems[:1]
    kept = significant(column)
    return kept[-1:]


def said_of(stems: frozenset[str], column: ColumnEntry) -> float:
    """The share of a column's significant words that occur in the question."""
    wanted = significant(column)
    said = sum(any(closeness(word, part) >= LEAST for word in stems) for part in wanted)
    return said / len(wanted)
