"""Stage two: what the text of each column means, by the evidence of all rows.

Invariant: no value changes silently. A reading is taken only if it explains every cell of its column; the SELECT that
writes the table checks each of them. Where the evidence leaves two readings that differ, a person is asked.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sandtable_runner import engine
from sandtable_runner.intake import evidence as gathering
from sandtable_runner.intake import given as recipes
from sandtable_runner.intake.bad_file import BadFile
from sandtable_runner.intake.checking import checked, common
from sandtable_runner.intake.given import REPAIR
from sandtable_runner.intake.judging import Judge, Verdict
from sandtable_runner.intake.reading import Reading
from sandtable_runner.intake.text_table import TextTable
from sandtable_runner.intake.wide import planned_for

_LONGEST_NAME = 255
_MOST_MISFITS = 100


@dataclass(slots=True)
class Decision:
    """Fields as in the answer of an ingest job; `columns` are those of a recipe, in the order of the table."""

    columns: list[dict[str, Any]]
    questions: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    misfits: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    misfit_counts: dict[str, int] = field(default_factory=dict[str, int])
    notes: list[str] = field(default_factory=list[str])
    repairs: list[dict[str, str]] = field(default_factory=list[dict[str, str]])


def decide(
    connection: engine.Connection,
    table: TextTable,
    given: Sequence[Mapping[str, Any]] | None,
    answers: Mapping[str, str],
    repairs: Collection[str],
    place: str,
    *,
    all_rows: bool = False,
) -> Decision:
    """How each column is read: as `given` by a recipe, else by evidence.

    Without `all_rows` the evidence is a sample, and all rows only where the sample leaves a doubt: if the checked
    SELECT then fails, decide again with `all_rows`.
    """
    names = name_columns(table.headers, place)
    chosen = _answers_for(names, answers, place)
    if given is not None:
        columns = recipes.apply(table.headers, given, repairs, place, nulls=bool(table.stored))
        verdicts = [Verdict(Reading.of(column), column=column, must_fit=True) for column in columns]
        if chosen:
            found, _ = gathering.sample(connection, table, names)
            judge = Judge(connection, table, place, chosen, repairs)
            for position, entry in enumerate(found):
                if entry.name in chosen:
                    verdicts[position] = judge.choose(entry)
        return _decision(connection, table, verdicts, names, place, all_rows=all_rows)
    found, whole = gathering.sample(connection, table, names)
    doubtful = [entry for entry in found if entry.undecided and not (whole and not entry.counts)]
    counted = [entry for entry in found if entry.stored.reading is None] if all_rows else doubtful
    with planned_for(connection, len(names)):
        gathering.count_all(connection, table, counted)
    judge = Judge(connection, table, place, chosen, repairs)
    verdicts = judge.all(found)
    decision = _decision(connection, table, verdicts, names, place, all_rows=all_rows)
    decision.questions = judge.questions
    return decision


def select(
    table: TextTable,
    columns: Sequence[Mapping[str, Any]],
    *,
    prove: bool = False,
    common_only: Collection[int] = (),
) -> str:
    """The SELECT that gives the typed table, and fails at the first cell that does not fit.

    `prove`: the columns were decided by a sample; see `checking.checked`. `common_only`: positions of columns whose
    cells were checked before; see `wide.common_only`.
    """
    items: list[str] = []
    for position, column in enumerate(columns, 1):
        entry = dict(column)
        value = common(entry, position) if position in common_only else checked(entry, position, prove=prove)
        items.append(f"{value} AS {engine.quote(entry['name'])}")
    return f"SELECT {', '.join(items)} FROM {table.relation}"


def name_columns(headers: Sequence[str], place: str) -> list[str]:
    """The headers without surrounding blanks; stage one has given a name to those without one."""
    names = [header.strip() for header in headers]
    seen: dict[str, int] = {}
    for position, name in enumerate(names, 1):
        if len(name) > _LONGEST_NAME:
            raise BadFile(
                f"column {position} of {place} has a name of {len(name)} characters: {name[:60]!r} and so on",
                f"Shorten it to {_LONGEST_NAME} characters",
            )
        if name.lower() in seen:
            raise BadFile(
                f"{place} has the column {name!r} twice (columns {seen[name.lower()]} and {position})",
                "Rename one of them",
            )
        seen[name.lower()] = position
    return names


def _answers_for(names: Sequence[str], answers: Mapping[str, str], place: str) -> dict[str, str]:
    """By name of the column. Answers for other tables are left out."""
    start = f"{place}."
    own = {key.removeprefix(start): answer for key, answer in answers.items() if key.startswith(start)}
    for name in own:
        if name not in names:
            shown = ", ".join(names[:20]) + (" …" if len(names) > 20 else "")
            raise BadFile(f"{place} has no column {name!r}", f"Name one of its columns: {shown}")
    return own


def _decision(
    connection: engine.Connection,
    table: TextTable,
    verdicts: Sequence[Verdict],
    names: Sequence[str],
    place: str,
    *,
    all_rows: bool,
) -> Decision:
    columns = [
        verdict.column or verdict.as_column(header, name, nulls=bool(table.stored))
        for verdict, header, name in zip(verdicts, table.headers, names, strict=True)
    ]
    decision = Decision(columns)
    measured = [
        (position, verdict.would_be(column))
        for position, (verdict, column) in enumerate(zip(verdicts, columns, strict=True), 1)
        if verdict.nearly or column["misfits"] == "empty" or (all_rows and verdict.must_fit)
    ]
    with planned_for(connection, len(names)):
        counts = gathering.count_misfits(connection, table, measured)
    decision.misfit_counts = counts
    each = max(1, _MOST_MISFITS // max(1, len(counts)))
    for position, column in measured:
        name = column["name"]
        if name not in counts:
            continue
        decision.misfits += gathering.misfits(connection, table, column, position, each)
        if column["misfits"] == "refuse":
            decision.repairs.append(_offer(column, counts[name]))
    _refuse_misfits(decision, [verdict.must_fit for verdict in verdicts], place)
    decision.misfits = decision.misfits[:_MOST_MISFITS]
    decision.notes = [note for verdict in verdicts for note in verdict.notes]
    return decision


def _offer(column: Mapping[str, Any], count: int) -> dict[str, str]:
    cells = "This cell becomes" if count == 1 else f"These {count:,} cells become"
    return {
        "id": f"{REPAIR}{column['name']}",
        "label": f"{cells} empty, and column {column['name']} is read as {column['read_as']}",
    }


def _refuse_misfits(decision: Decision, must_fit: Sequence[bool], place: str) -> None:
    """A recipe or an answer says how a column is read: then cells that do not fit are not kept as text."""
    for column, strict in zip(decision.columns, must_fit, strict=True):
        count = decision.misfit_counts.get(column["name"], 0)
        if strict and count and column["misfits"] == "refuse":
            first = next(entry for entry in decision.misfits if entry["column"] == column["name"])
            more = f", nor do {count - 1:,} other cells" if count > 1 else ""
            reading = f"{column['read_as']} {column['format']}".strip()
            raise BadFile(
                f"row {first['row']} of {place} has {first['value']!r} in column {column['name']}, which does not fit "
                f"{reading}{more}",
                "Correct the cells, read the column in another way, or let these cells become empty",
                [_offer(column, count)],
            )
