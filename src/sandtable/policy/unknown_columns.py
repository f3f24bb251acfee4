"""What to do about a column that no table of the query has: the table that has it, or quotes for what is a value.

Invariant: pure. What is said of the dataset is in its schema, or was given by the caller.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sandtable.catalog.model import Dataset
from sandtable.policy.names import fold
from sandtable.policy.tokens import Token, literal, tokens_of
from sandtable.quoting import quote

_MISSING = re.compile(
    r'(?:there is no column|Table "(?:[^"]|"")+" does not have a column named) "(?P<name>(?:[^"]|"")+)"'
)
_COMPARED = ("=", "<", ">", "like", "ilike", "(", ",")
_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class UnknownColumn:
    name: str
    compared: bool
    """It stands where a value may, at every place."""
    quoted: bool
    """It is in double quotes, at every place."""


def unknown_column(text: str, message: str) -> UnknownColumn | None:
    """The column that the engine's message, as the runner words it, is about."""
    found = _MISSING.match(message)
    if found is None:
        return None
    name = found["name"].replace('""', '"')
    tokens = tokens_of(text)
    places = [place for place, token in enumerate(tokens) if token.is_name and token.name == fold(name)]
    return UnknownColumn(
        name,
        bool(places) and all(_is_compared(tokens, place) for place in places),
        bool(places) and all(tokens[place].kind == "quoted" for place in places),
    )


def _is_compared(tokens: Sequence[Token], place: int) -> bool:
    after = tokens[place + 1] if place + 1 < len(tokens) else None
    part_of_a_name = after is not None and after.says(".", "(")
    return place > 0 and tokens[place - 1].says(*_COMPARED) and not part_of_a_name


def as_a_value(name: str, columns: Sequence[str]) -> str:
    """For a name that is a value; `columns` are those known to hold it."""
    written = f"in single quotes: {quote(literal(name))}."
    if not columns:
        return f"Write a text {written} Double quotes are for names."
    named = ", ".join(quote(column) for column in columns[:_MOST_NAMED])
    return f"Write {quote(name)}, which is a value of {named}, {written}"


def in_another_table(name: str, read: Sequence[str], dataset: Dataset) -> str:
    """For a column of tables that the query does not read; empty where there is none."""
    here = {fold(table) for table in read}
    holders = [
        (table.name, column.name)
        for table in dataset.tables
        for column in table.columns
        if fold(column.name) == fold(name) and fold(table.name) not in here
    ]
    if not holders:
        return ""
    table, column = holders[0]
    others = ", ".join(quote(f"{t}.{c}") for t, c in holders[1:_MOST_NAMED])
    joined = _joined_by(table, here, dataset)
    how = (
        f"Join {quote(table)}{f' by {quote(joined)}' if joined else ''} to use {quote(f'{table}.{column}')}."
    )
    return f"{how} It is also in {others}." if others else how


def _joined_by(table: str, here: set[str], dataset: Dataset) -> str:
    """The columns that refer to each other, of the table and of one that is read."""
    for link in dataset.relationships:
        ends = {fold(link.many_table), fold(link.one_table)}
        if fold(table) in ends and (ends - {fold(table)}) & here:
            return f"{link.many_table}.{link.many_column} = {link.one_table}.{link.one_column}"
    return ""
