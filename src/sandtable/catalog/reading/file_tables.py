"""The tables that one source file becomes: how it is to be read, and the answers and repairs that a person gives.

Invariant: while a question about a file is open, no table is made of it. Nothing is guessed here: what is read how is
decided in the sandbox, by the file's evidence, the answers and the recipes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import ValidationError

from sandtable.catalog.convert import Convert, ConvertedTable, ConvertRequest, ConvertResult
from sandtable.catalog.model import Column, ColumnType, Table
from sandtable.catalog.names import nearest
from sandtable.catalog.reading.filenames import CopiedFrom, NamedFile, source_format
from sandtable.catalog.recipe import FileQuestion, Recipe, TextReading
from sandtable.catalog.registry import explain
from sandtable.catalog.stored.store import Workspace
from sandtable.errors import InvalidInput, RunnerBroken
from sandtable.quoting import quote

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Decided:
    """What a person decided about files."""

    answers: Mapping[str, str] = field(default_factory=dict[str, str])
    """By the id of a question, `orders.ordered`; or by the name of a column alone."""
    repairs: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.answers or self.repairs)

    def with_more(self, more: Decided) -> Decided:
        return Decided({**self.answers, **more.answers}, tuple(dict.fromkeys((*self.repairs, *more.repairs))))


NOTHING_DECIDED = Decided()


@dataclass(frozen=True, slots=True)
class Reading:
    """A source file, and how its tables are read: by recipes, with declared columns, or else by their evidence."""

    file: NamedFile
    recipes: Mapping[str, Recipe] | None = None
    columns: tuple[tuple[str, str], ...] | None = None

    @property
    def as_before(self) -> bool:
        """Whether a file that cannot be read so may be read by its evidence instead."""
        return bool(self.recipes or self.columns) and self.file.copied is None


async def tables_of(
    convert: Convert, work: Workspace, source: str, reading: Reading, decided: Decided = NOTHING_DECIDED
) -> ConvertResult:
    """`source` is the staged copy of the file. Raises InvalidInput with the file's name."""
    file = reading.file
    if file.copied is not None and decided:
        raise InvalidInput(
            f"how {quote(file.table)} is read cannot be chosen: its types are those of the database",
            suggestion="Change the types in a view of the database, and make a snapshot of that.",
            table=file.table,
        )
    request = ConvertRequest(
        table=file.table,
        source=source,
        format=file.copied.kind if file.copied else source_format(file.named),
        columns=reading.columns,
        staging=work.staging,
        recipes=reading.recipes,
        answers=dict(decided.answers),
        repairs=decided.repairs,
    )
    try:
        result = await convert(request)
        answers = _by_id(decided.answers, result)
        if answers != request.answers:
            result = await convert(replace(request, answers=answers))
    except InvalidInput as e:
        message = e.message if file.file in e.message else f"{file.file}: {e.message}"
        details: dict[str, Any] = {**e.details, "table": file.table, "file": file.file}
        raise InvalidInput(message, suggestion=e.suggestion, **details) from e
    if file.copied is not None:
        return _copied(result, file.copied)
    if not result.questions:
        for table in result.tables:
            _require_output(table, file.file)
    return result


def _copied(result: ConvertResult, origin: CopiedFrom) -> ConvertResult:
    """Its table with what the database says about it. Raises RunnerBroken unless it has the rows that were copied."""
    (table,) = result.tables
    if table.rows != origin.rows:
        raise RunnerBroken(
            f"{quote(origin.db_table)} has {origin.rows:,} rows in the database, and {table.rows:,} were converted"
        )
    recipe = Recipe(text=TextReading(kind=origin.kind))
    return ConvertResult((replace(table, notes=(*origin.notes, *table.notes), recipe=recipe),))


def _by_id(answers: Mapping[str, str], result: ConvertResult) -> dict[str, str]:
    """With the ids of the columns and questions that a column's name alone stands for."""
    ids = set(_ids(result))
    found = dict(answers)
    for name, answer in answers.items():
        if name not in ids:
            meant = [each for each in ids if each.rpartition(".")[2].lower() == name.lower()]
            found |= {each: answer for each in meant if each not in answers}
    return found


def _ids(result: ConvertResult) -> Iterator[str]:
    yield from (question.id for question in result.questions)
    for table in result.tables:
        yield table.table
        yield from (f"{table.table}.{column.name}" for column in table.columns)


def _require_output(table: ConvertedTable, file: str) -> None:
    if table.output is not None:
        return
    if not table.misfits:
        raise RunnerBroken(f"the conversion of {file} asked nothing and wrote nothing")
    count = sum(table.misfit_counts.values()) or len(table.misfits)
    shown = "; ".join(
        f"column {quote(cell.column)}, row {cell.row:,}: {quote(cell.value)}"
        for cell in table.misfits[:_SHOWN]
    )
    raise InvalidInput(
        f"{count:,} cell{'s' * (count != 1)} of {file} cannot be read as the recipe says: {shown}",
        suggestion="Correct the file, choose one of the repairs, or read the column as text.",
        table=table.table,
        file=file,
        misfits=[cell.model_dump() for cell in table.misfits],
        repairs=[repair.model_dump() for repair in table.repairs],
        questions=[],
    )


def require_answers(results: Sequence[ConvertResult], decided: Decided) -> None:
    """Raises InvalidInput while a question is open, and for an answer about nothing that is there."""
    known = {name for result in results for each in _ids(result) for name in (each, each.rpartition(".")[2])}
    for name in decided.answers:
        if name.lower() not in {each.lower() for each in known}:
            alike = nearest(name, sorted(known))
            hint = f"; did you mean {quote(alike)}?" if alike else ""
            raise InvalidInput(
                f"there is an answer for {quote(name)}, which is no table or column of the files{hint}",
                suggestion="Name the table and the column, such as orders.ordered.",
                answer=name,
            )
    questions = [question for result in results for question in result.questions]
    if questions:
        raise InvalidInput(
            " ".join(question.text for question in questions[:_SHOWN])
            + (f" And {len(questions) - _SHOWN} more questions." if len(questions) > _SHOWN else ""),
            suggestion=f"Choose an answer: {_in_words(questions)}.",
            questions=[question.model_dump() for question in questions],
            repairs=[],
        )


def _in_words(questions: Iterable[FileQuestion]) -> str:
    return "; ".join(
        f"{question.id} is {', '.join(quote(choice.answer) for choice in question.choices[:-1])} or "
        f"{quote(question.choices[-1].answer)}"
        for question in list(questions)[:_SHOWN]
    )


def _key_of(made: ConvertedTable, file: NamedFile, filled: set[str]) -> tuple[str, ...]:
    """The key that the file or its database declares. A database keeps its keys without empty values."""
    if file.copied is not None:
        return file.copied.key
    return made.key if filled.issuperset(made.key) else ()


def table_from(made: ConvertedTable, file: NamedFile, sha256: str) -> Table:
    units = {each.name: each.unit for each in made.recipe.columns} if made.recipe else {}
    try:
        columns = tuple(
            Column(
                name=c.name,
                type=c.type,
                sql_type=c.sql_type,
                nullable=c.nullable,
                unit=units.get(c.name, ""),
            )
            for c in made.columns
        )
        filled = {c.name for c in columns if not c.nullable}
        temporal = (c.name for c in columns if c.type in (ColumnType.DATE, ColumnType.TIMESTAMP))
        return Table(
            name=made.table,
            file=file.file,
            sha256=sha256,
            rows=made.rows,
            columns=columns,
            time_column=next(temporal, None),
            key=_key_of(made, file, filled),
            recipe=made.recipe,
        )
    except ValidationError as e:
        raise unusable(file.file, e) from e


def unusable(what: str, error: ValidationError) -> InvalidInput:
    return InvalidInput(
        f"{what} cannot be used as a table: {explain(error)}",
        suggestion="Give every column a name of its own, at most 255 characters long.",
    )
