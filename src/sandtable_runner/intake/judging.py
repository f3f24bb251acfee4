"""The evidence of all columns of a table, judged: one reading for each, or a question.

A column is text with misfits when a reading explains at least 20 rows and all but 5 % of them. Fewer rows do not say
what the rest should be, and more misfits are more likely values than mistakes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sandtable_runner import engine
from sandtable_runner.intake import asking, numbers, proposing, words
from sandtable_runner.intake.asking import Doubt
from sandtable_runner.intake.evidence import Evidence, first_difference, rivals
from sandtable_runner.intake.given import REPAIR
from sandtable_runner.intake.given import column as recipe_column
from sandtable_runner.intake.reading import TEXT, Reading
from sandtable_runner.intake.text_table import TextTable

_LEAST_FITTING = 20
_MOST_MISFITTING = 0.05
_YEARS = "Years with two digits are 1969 to 2068 in column {}."


@dataclass(frozen=True, slots=True)
class Verdict:
    reading: Reading
    reason: str = ""
    empty: tuple[str, ...] = ()
    misfits: str = "refuse"
    nearly: Reading | None = None
    """Of a column that is text because a few cells do not fit this reading."""
    must_fit: bool = False
    """Whether a person or a recipe says that it is read so."""
    notes: tuple[str, ...] = ()
    column: dict[str, Any] | None = None
    """Of a recipe that is given."""

    def as_column(self, header: str, name: str, *, nulls: bool = False) -> dict[str, Any]:
        return recipe_column(
            header,
            name,
            self.reading,
            empty=self.empty,
            misfits=self.misfits,
            reason=self.reason,
            nulls=nulls,
        )

    def would_be(self, column: dict[str, Any]) -> dict[str, Any]:
        """The column that misfits are counted for."""
        if self.nearly is None:
            return column
        return {**column, **self.nearly.entries(), "empty": ["", *words.EMPTY]}


class Judge:
    """Of one table. `answers` are those for its columns, by name."""

    def __init__(
        self,
        connection: engine.Connection,
        table: TextTable,
        place: str,
        answers: Mapping[str, str],
        repairs: Collection[str],
    ) -> None:
        self._connection = connection
        self._table = table
        self._place = place
        self._answers = answers
        self._repairs = repairs
        self._signs: dict[str, set[str]] = {}
        self.questions: list[dict[str, Any]] = []

    def all(self, columns: Sequence[Evidence]) -> list[Verdict]:
        verdicts: dict[int, Verdict] = {}
        doubts: list[Doubt] = []
        for evidence in columns:
            found = self._judge(evidence)
            if isinstance(found, Doubt):
                doubts.append(found)
            else:
                verdicts[evidence.position] = found
        for doubt, verdict in self._settle(doubts):
            verdicts[doubt.evidence.position] = verdict
        return [verdicts[evidence.position] for evidence in columns]

    def choose(self, evidence: Evidence) -> Verdict:
        """By an answer that names a reading."""
        return self._chosen(asking.answered(self._answers[evidence.name], evidence, self._place), evidence)

    def _judge(self, evidence: Evidence) -> Verdict | Doubt:
        if evidence.stored.reading is not None:
            return self._judge_stored(evidence)
        readings, misfits = self._readings(evidence)
        if readings and (doubt := self._doubt(evidence, readings)):
            return doubt
        if evidence.name in self._answers:
            return self.choose(evidence)
        if not readings:
            return self._text(evidence)
        if sign := asking.sign_of([readings[0], *evidence.widest]):
            self._signs.setdefault(sign, set()).add(evidence.name)
        return self._verdict(readings[0], evidence, misfits=misfits)

    def _judge_stored(self, evidence: Evidence) -> Verdict | Doubt:
        if doubt := asking.doubt_of_moments(evidence):
            return doubt
        return self.choose(evidence) if evidence.name in self._answers else self._unread(evidence)

    def _unread(self, evidence: Evidence) -> Verdict:
        """As long as no reading is chosen."""
        stored = evidence.stored
        return Verdict(stored.reading, stored.reason) if stored.reading else self._text(evidence)

    def _readings(self, evidence: Evidence) -> tuple[list[Reading], str]:
        """Those that explain the column, and what becomes of cells that they do not explain."""
        if evidence.covering:
            return evidence.covering, "refuse"
        accepted = f"{REPAIR}{evidence.name}" in self._repairs
        return (evidence.best, "empty") if accepted else ([], "refuse")

    def _doubt(self, evidence: Evidence, readings: Sequence[Reading]) -> Doubt | None:
        first = readings[0]
        examples = {
            rival: example
            for rival in rivals(readings)
            if (example := first_difference(self._connection, self._table, evidence, first, rival))
        }
        if not examples:
            return None
        return asking.doubt(evidence, [first, *examples], next(iter(examples.values())))

    def _settle(self, doubts: Sequence[Doubt]) -> list[tuple[Doubt, Verdict]]:
        """By answers, then by other columns, else by a question; until it is answered the column is text."""
        settled: list[tuple[Doubt, Verdict]] = []
        open_doubts: list[Doubt] = []
        for doubt in doubts:
            answer = self._answers.get(doubt.evidence.name)
            if answer is None:
                open_doubts.append(doubt)
                continue
            reading = asking.choose(doubt, answer, self._place)
            settled.append((doubt, self._chosen(reading, doubt.evidence)))
        asked: dict[tuple[str, ...], list[Doubt]] = {}
        for doubt in open_doubts:
            first = next(other for other in doubts if other.kind == doubt.kind)
            if self._answers.get(first.evidence.name) == doubt.keep:
                settled.append((doubt, replace(self._unread(doubt.evidence), reason="chosen")))
            elif found := asking.decided_by(doubt, self._signs):
                reading, column = found
                verdict = self._verdict(reading, doubt.evidence, reason=f"as in column {column}")
                settled.append((doubt, verdict))
            else:
                asked.setdefault(doubt.kind, []).append(doubt)
                settled.append((doubt, self._unread(doubt.evidence)))
        self.questions = [asking.question(self._place, group) for group in asked.values()]
        return settled

    def _chosen(self, reading: Reading, evidence: Evidence) -> Verdict:
        if reading == TEXT:
            return replace(self._text(evidence), nearly=None, reason="chosen")
        if sign := asking.sign_of([reading]):
            self._signs.setdefault(sign, set()).add(evidence.name)
        verdict = self._verdict(reading, evidence, reason="chosen")
        return replace(verdict, must_fit=True)

    def _verdict(
        self, reading: Reading, evidence: Evidence, *, reason: str = "", misfits: str = "refuse"
    ) -> Verdict:
        if reading.read_as == "money":
            scale = evidence.scales.get(reading) if evidence.complete else None
            if scale is None:
                scale = proposing.scale_of(evidence.cells, reading)
            marks = reading.format.rstrip("0123456789")
            reading = replace(reading, format=f"{marks}{min(scale, numbers.MOST_SCALE)}")
        empty = tuple(word for word in words.EMPTY if word in {**evidence.words, **evidence.cells})
        if f"{REPAIR}{evidence.name}" in self._repairs:
            misfits = "empty"
        notes = (_YEARS.format(evidence.name),) if "%y" in reading.format else ()
        return Verdict(reading, reason, empty, misfits, notes=notes)

    def _text(self, evidence: Evidence) -> Verdict:
        nothing = () if self._table.stored else words.EMPTY_IN_TEXT
        empty = tuple(word for word in nothing if word in {**evidence.words, **evidence.cells})
        notes: tuple[str, ...] = ()
        reason = ""
        nearly = None
        if evidence.counts and evidence.complete and not evidence.covering:
            nearly, reason = _nearly(evidence)
        if mixed := proposing.mixture(evidence.cells):
            notes = (f"Column {evidence.name} stays text: it mixes {mixed}.",)
            reason = f"mixes {mixed}"
        return Verdict(TEXT, reason, empty, nearly=nearly, notes=notes)


def _nearly(evidence: Evidence) -> tuple[Reading | None, str]:
    """The reading that all but a few rows fit, and why the column is text."""
    best = evidence.best
    if not best:
        return None, ""
    fitting = evidence.counts[best[0]]
    misfitting = evidence.rows - fitting
    if best[0].read_as in ("integer", "decimal") and evidence.identifiers:
        return None, "digits with leading zeros, or more than 18 of them"
    if fitting < _LEAST_FITTING or misfitting > _MOST_MISFITTING * evidence.rows:
        return None, ""
    return best[0], f"{misfitting:,} of {evidence.rows:,} rows do not fit {best[0].read_as}"
