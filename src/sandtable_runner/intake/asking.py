"""Two readings that explain a column and differ: decided by another column of the table, by an answer, or asked.

Answers name a choice of a question (`day-first`), or a reading of any column (`date:%d/%m/%Y`, `money:EUR`, `text`).
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sandtable_runner.intake import dates, numbers
from sandtable_runner.intake.bad_file import BadFile
from sandtable_runner.intake.checking import is_detail
from sandtable_runner.intake.evidence import Evidence
from sandtable_runner.intake.reading import TEXT, Reading

_KINDS = ("text", "integer", "decimal", "percent", "money", "date", "timestamp", "time", "boolean")
_EXAMPLES = ("date:%d/%m/%Y", "timestamp:%d/%m/%Y %H:%M", "decimal:.,", "money:EUR")
_EPOCH = dt.datetime(1970, 1, 1)
_MONTHS = "January February March April May June July August September October November December".split()


@dataclass(frozen=True, slots=True)
class Doubt:
    """A column that can be read in more than one way."""

    evidence: Evidence
    choices: dict[str, Reading]
    """By answer."""
    example: str

    @property
    def keep(self) -> str:
        """The answer that leaves the column as it is."""
        return (self.evidence.stored.reading or TEXT).read_as

    @property
    def kind(self) -> tuple[str, ...]:
        """One answer decides all columns of a kind."""
        return tuple(sorted(self.choices))


def doubt(evidence: Evidence, readings: Sequence[Reading], example: str) -> Doubt:
    return Doubt(evidence, {_answer_of(reading, evidence): reading for reading in readings}, example)


def doubt_of_moments(evidence: Evidence) -> Doubt | None:
    """The units in which the numbers of a column of moments are all in years that can be written."""
    if evidence.stored.moments is None:
        return None
    least, most = evidence.stored.moments
    low, high = dates.YEARS_1_TO_9999
    units = [unit for unit, factor in dates.UNIX.items() if low <= least * factor and most * factor <= high]
    choices = {unit: Reading("timestamp", unit) for unit in units[:2]}
    return Doubt(evidence, choices, str(most)) if choices else None


def _answer_of(reading: Reading, evidence: Evidence) -> str:
    if reading.read_as in ("date", "timestamp"):
        return f"{dates.order_of(reading)}-first"
    group, decimal = numbers.marks_of(reading)
    # With groups, the mark that is in doubt is the group mark: the other reading takes it for the decimal mark.
    if group in (",", "."):
        return "thousands"
    return "decimal-comma" if decimal == "," else "decimal-point"


def sign_of(readings: Sequence[Reading]) -> str:
    """What a decided column says of others: the decimal mark, or which part of a date is first; empty for neither."""
    first = readings[0]
    if first.format in dates.UNIX:
        return first.format
    if first.format == numbers.STORED:
        return ""
    if first.read_as in ("date", "timestamp"):
        # Dates with points are always read with the day first, so they say nothing of others.
        return f"{order}-first" if (order := dates.order_of(first)) and "." not in first.format else ""
    if first.read_as in ("integer", "decimal", "percent", "money"):
        marks = {numbers.marks_of(reading)[1] for reading in readings}
        return marks.pop() if len(marks) == 1 else ""
    return ""


def decided_by(doubt: Doubt, signs: Mapping[str, set[str]]) -> tuple[Reading, str] | None:
    """The reading that other columns speak for, and one of these. `signs`: names of columns by what they say."""
    by_sign = {_sign_of_choice(reading): reading for reading in doubt.choices.values()}
    speaking = [sign for sign in by_sign if signs.get(sign)]
    if len(speaking) != 1:
        return None
    return by_sign[speaking[0]], min(signs[speaking[0]])


def _sign_of_choice(reading: Reading) -> str:
    if reading.format in dates.UNIX:
        return reading.format
    if reading.read_as in ("date", "timestamp"):
        return f"{dates.order_of(reading)}-first"
    return numbers.marks_of(reading)[1]


def question(place: str, doubts: Sequence[Doubt]) -> dict[str, Any]:
    """One for all columns of a kind."""
    first = doubts[0]
    named = [f"{entry.evidence.name}" for entry in doubts]
    columns = f"column {named[0]}" if len(named) == 1 else f"columns {', '.join(named[:-1])} and {named[-1]}"
    labels = {answer: _label(first.example, reading, answer) for answer, reading in first.choices.items()}
    meanings = [label.split(" (")[0] for label in labels.values()]
    choices = [{"label": label, "answer": answer} for answer, label in labels.items()]
    kept = "text" if first.keep == TEXT.read_as else "a number"
    choices.append({"label": f"{first.example} (keep as {kept})", "answer": first.keep})
    if len(meanings) == 1:
        meanings.append("a number")
    return {
        "id": f"{place}.{first.evidence.name}",
        "text": f"Is {first.example} in {columns} {', '.join(meanings[:-1])} or {meanings[-1]}?",
        "choices": choices,
    }


def _label(example: str, reading: Reading, answer: str) -> str:
    if reading.format in dates.UNIX:
        return f"{_moment(int(example), reading)} ({answer.removeprefix('unix-')} since 1970)"
    if reading.read_as in ("date", "timestamp"):
        return f"{_in_words(example, reading)} ({answer.replace('-', ' ')})"
    group, decimal = numbers.marks_of(reading)
    number = re.sub(r"[^0-9.,]", "", example)
    shown = number.replace(group, "") if group else number.replace(decimal, ".")
    mark = {",": "comma", ".": "point"}[group or decimal]
    return f"{shown} ({mark} between thousands)" if group else f"{shown} (decimal {mark})"


def _moment(number: int, reading: Reading) -> str:
    found = _EPOCH + dt.timedelta(microseconds=number * dates.UNIX[reading.format])
    return f"{found.day} {_MONTHS[found.month - 1]} {found.year} {found.hour:02}:{found.minute:02}"


def _in_words(example: str, reading: Reading) -> str:
    day, month, year = _parts(example, reading)
    return f"{day} {_MONTHS[month - 1]} {year}"


def _parts(example: str, reading: Reading) -> tuple[int, int, int]:
    fields = dict(zip(re.findall("%.", reading.format), re.findall("[0-9]+", example), strict=False))
    year = _in_full(int(fields["%y"])) if "%y" in fields else int(fields["%Y"])
    return int(fields["%d"]), int(fields["%m"]), year


def _in_full(year: int) -> int:
    """A year of two digits, as `strptime` reads it: that would import a module, and a sealed sandbox finds none."""
    return year + (2000 if year < 69 else 1900)


def answered(answer: str, evidence: Evidence, place: str) -> Reading:
    """The reading that an answer names for a column, whether or not it was asked for."""
    if answer in dates.UNIX:
        return Reading("timestamp", answer)
    if evidence.stored.reading is not None and answer == evidence.stored.reading.read_as:
        return evidence.stored.reading
    kind, _, detail = answer.partition(":")
    if kind not in _KINDS or not is_detail(kind, detail):
        raise _unknown(answer, evidence, place, ())
    if kind == "text":
        return TEXT
    proposed = [reading for reading in evidence.proposed if reading.read_as == kind]
    if kind == "money":
        proposed = [reading for reading in proposed if not detail or reading.unit == detail]
        if not proposed and not detail:
            raise BadFile(
                f"column {evidence.name} of {place} has no currency in its cells",
                "Name it, such as money:EUR",
            )
        return proposed[0] if proposed else Reading("money", "2", detail)
    if detail:
        return Reading(kind, detail, "%" if kind == "percent" else "")
    return proposed[0] if proposed else Reading(kind, unit="%" if kind == "percent" else "")


def choose(doubt: Doubt, answer: str, place: str) -> Reading:
    if answer in doubt.choices:
        return doubt.choices[answer]
    if answer.partition(":")[0] in _KINDS:
        return answered(answer, doubt.evidence, place)
    raise _unknown(answer, doubt.evidence, place, (*doubt.choices, doubt.keep))


def _unknown(answer: str, evidence: Evidence, place: str, choices: Sequence[str]) -> BadFile:
    possible = ", ".join(choices) if choices else ", ".join((*_KINDS, *_EXAMPLES))
    return BadFile(
        f"{answer!r} is no answer for column {evidence.name} of {place}", f"Answer with one of: {possible}"
    )
