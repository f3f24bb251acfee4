"""The facts of a result, to be compared with a text: names of rows, measures, and the question's conditions.

Invariant: pure. A name stands for the rows whose cells say it and for no others; a name that reads like a word of the
lexicon, or that Markdown would act on, stands for none.
"""

from __future__ import annotations

import datetime as dt
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sandtable.agent.grounding.lexicon import LEXICON
from sandtable.agent.grounding.numbers import NUMBER, Claim, claim_of, marks_of
from sandtable.catalog.model import ColumnType
from sandtable.plan.moments import read_moment
from sandtable.quoting import inert
from sandtable.wording.answer import primary
from sandtable.wording.dates import MONTHS
from sandtable.wording.field import NUMBERS, Field
from sandtable.wording.figures import bare
from sandtable.wording.phrases import plural, singular, words
from sandtable.wording.result import Result

LONGEST_NAME = 60
MOST_ROWS = 1_000
_PREPOSITIONS = ("in the ", "in ", "on ", "at ", "from ", "since ", "during ")
_LABELLED = re.compile(r"([A-Za-z][A-Za-z _-]{0,40}?)\s*(?:[:=]|\bis\b)\s*([-−]?[\d.,]*\d)(?![\d.,]*\d)")
_COUNTED = re.compile(r"(?<![\w.,])([-−]?[\d.,]*\d) ([a-z][a-z_-]{2,30})\b")
_MOST_LABELLED = 200

Rows = frozenset[int]


@dataclass(frozen=True, slots=True)
class Facts:
    result: Result
    measures: dict[int, Field]
    """Columns with numbers to compare, by their place."""
    main: int | None
    """The column that the answer is about, where a text names none."""
    names: dict[str, Rows]
    """What rows are called, in folded letters."""
    scope: frozenset[str]
    """Names among them that stand for all rows: values that the question was limited to."""
    titles: dict[str, frozenset[int]]
    """What measures are called, with the places of their columns."""
    nouns: frozenset[str]
    silent: frozenset[str]
    """Conditions of the plain sentence, word for word."""
    units: frozenset[str]
    phrases: re.Pattern[str]
    """All that is known by name, and the lexicon: the longest first."""
    spelled: frozenset[str] = frozenset()
    """Letters of names and units that are not plain ones, as the data spells them."""
    overall: dict[int, Claim] = field(default_factory=dict[int, Claim])
    values: tuple[str, ...] = ()
    """Values that stand for all conditions of the plan; none where a condition is of another kind."""

    @property
    def complete(self) -> bool:
        return not self.result.cut

    @property
    def usable(self) -> bool:
        """False for a truncated result: the plain sentence says that it is, and nothing else is said."""
        result = self.result
        return not result.truncated and result.total <= len(result.rows) <= MOST_ROWS


def facts_of(result: Result, plan: Mapping[str, Any] | None = None) -> Facts:
    measures = {f.index: f for f in result.fields if f.measure and f.type in NUMBERS and not f.hidden}
    main = primary(result)
    everything = frozenset(range(len(result.rows)))
    names: dict[str, Rows] = {}
    for key in result.fields:
        if key.index not in measures:
            _add_names(names, key, result)
    scope = {text for text in map(folded, _limited_to(result, plan)) if _mentionable(text)} - set(names)
    names |= dict.fromkeys(scope, everything)
    titles = _titles(measures.values(), names)
    nouns = frozenset(_nouns(result)) - set(names)
    silent = frozenset(map(folded, _conditions(result)))
    return Facts(
        result=result,
        measures=measures,
        main=main.index if main is not None and main.index in measures else None,
        names=names,
        scope=frozenset(scope),
        titles=titles,
        nouns=nouns,
        silent=silent,
        units=frozenset(
            mark for measure in measures.values() for row in result.rows for mark in marks_of(measure, row)
        ),
        phrases=_pattern({*names, *titles, *nouns, *silent, *LEXICON}),
        spelled=_letters(result),
        overall=_overall(result, measures),
        values=_only_values(plan),
    )


def printed_facts(printed: str) -> Facts:
    """The numbers that code printed with what they are (`slope: 3.57`, `8 trips`), as one row."""
    found: dict[str, str] = {}
    labelled = [*_LABELLED.findall(printed), *((label, n) for n, label in _COUNTED.findall(printed))]
    for label, number in labelled[:_MOST_LABELLED]:
        # A label with two different numbers is ambiguous.
        found[label] = number if found.get(label, number) == number else ""
    kept = {label: number.replace(",", "").replace("−", "-") for label, number in found.items() if number}
    fields = tuple(
        Field(place, label, words(label), ColumnType.FLOAT, measure=True) for place, label in enumerate(kept)
    )
    return facts_of(Result("", fields, (tuple(kept.values()),), 1))


def folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def _letters(result: Result) -> frozenset[str]:
    texts = [cell for row in result.rows[:MOST_ROWS] for cell in row if isinstance(cell, str)]
    texts += [f.text for f in result.fields]
    return frozenset(
        char for text in texts for char in unicodedata.normalize("NFC", text) if not char.isascii()
    )


def _pattern(phrases: Iterable[str]) -> re.Pattern[str]:
    """`Route 66 Shirts` is found before 66, `in the` before `in`, and `North` not in `Northern` or `North-East`."""
    ordered = sorted(phrases, key=lambda phrase: (-len(phrase), phrase))
    spelled = "|".join(re.escape(phrase).replace(r"\ ", r"\s+") for phrase in ordered)
    return re.compile(rf"(?:{spelled})(?!\w|-\w|[.,]\d|['’](?!s\b)\w)", re.IGNORECASE)


def _mentionable(text: str) -> bool:
    return bool(text) and text not in LEXICON and len(text) <= LONGEST_NAME and inert(text) == text


def _limited_to(result: Result, plan: Mapping[str, Any] | None) -> Iterable[str]:
    """Values that every row has, because the plan asks for them; and the time that it is about."""
    yield from _values(plan)
    if result.time:
        yield time_name(result)


def _values(plan: Mapping[str, Any] | None) -> Iterable[str]:
    for one in (plan or {}).get("filters") or ():
        if isinstance(one, dict) and one.get("op") == "=" and isinstance(one.get("value"), str):
            yield one["value"]


def _only_values(plan: Mapping[str, Any] | None) -> tuple[str, ...]:
    values = tuple(_values(plan))
    return values if len(values) == len((plan or {}).get("filters") or ()) else ()


def time_name(result: Result) -> str:
    """The time window without its preposition: `2025` for `in 2025`."""
    return next((result.time[len(p) :] for p in _PREPOSITIONS if result.time.startswith(p)), result.time)


def _conditions(result: Result) -> Iterable[str]:
    both = (result.where, result.time, result.scope.strip(), f"among {result.row_noun}{result.scope}")
    return (text for text in both if text)


def _add_names(names: dict[str, Rows], key: Field, result: Result) -> None:
    one_year = _one_year(key, result)
    for place, row in enumerate(result.rows[:MOST_ROWS]):
        for form in {folded(form) for form in _forms(key, row, one_year)}:
            if _mentionable(form):
                names[form] = names.get(form, frozenset()) | {place}


def _forms(key: Field, row: Sequence[Any], one_year: bool) -> Iterable[str]:
    cell = key.cell(row)
    if cell is None or isinstance(cell, bool):
        return
    read = read_moment(cell) if isinstance(cell, str) else None
    if read is not None:
        yield from _dates(read, one_year)
        yield key.show(row)
        return
    number = key.number(row)
    if number is None:
        yield str(cell)
        return
    whole = number == number.to_integral_value()
    if key.bucket and whole:
        yield key.show(row)
    elif whole:
        # A bare number would be taken for a value; only a year reads as a name.
        yield f"{key.text} {bare(number)}"
        if key.text.endswith("year"):
            yield bare(number)


def _dates(read: dt.date, one_year: bool) -> Iterable[str]:
    year = str(read.year)
    for month in (MONTHS[read.month], MONTHS[read.month][:3]):
        yield from (f"{read.day} {month} {year}", f"{month} {read.day}, {year}", f"{month} {year}")
        if one_year:
            yield from (f"{read.day} {month}", f"{month} {read.day}", month)
    yield from (read.isoformat()[:10], read.isoformat()[:7], f"Q{(read.month + 2) // 3} {year}", year)


def _one_year(key: Field, result: Result) -> bool:
    cells = (key.cell(row) for row in result.rows)
    return len({cell[:4] for cell in cells if isinstance(cell, str)}) == 1


def _titles(measures: Iterable[Field], names: Mapping[str, Rows]) -> dict[str, frozenset[int]]:
    titles: dict[str, frozenset[int]] = {}
    for measure in measures:
        called = {measure.text, words(measure.name), measure.things, measure.name.replace("_", " ")}
        called |= {form for text in called for form in (plural(text), singular(text))}
        for title in map(folded, called):
            if _mentionable(title) and title not in names:
                titles[title] = titles.get(title, frozenset()) | {measure.index}
    return titles


def _nouns(result: Result) -> Iterable[str]:
    keys = [key for key in result.fields if not key.measure]
    for text in (*(k.text for k in keys), *(k.noun for k in keys), result.noun, result.row_noun):
        yield from (form for form in map(folded, (text, plural(text), singular(text))) if _mentionable(form))


def _overall(result: Result, measures: Mapping[int, Field]) -> dict[int, Claim]:
    known = dict(result.overall)
    made: dict[int, Claim] = {}
    for place, measure in measures.items():
        found = NUMBER.search(known.get(measure.name.lower(), ""))
        claim = claim_of(found) if found else None
        if claim is not None:
            made[place] = claim
    return made
