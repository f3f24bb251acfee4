"""Questions made from templates over real tables, to train the lookup scorer beside people's own questions.

Two kinds: lookups in the wording of analysts, with their plans; and misfits, which no lookup can answer
(rankings, groups, comparisons, columns and values that the table does not have), for which every guess is wrong.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evals.wikisql_data import TABLE, Question, Sheet

LOOKUPS = (
    ("show me the {c} of {v}", None),
    ("{c} of {v}", None),
    ("{c} for {v}", None),
    ("list the {c} where {t} is {v}", None),
    ("show {c} where {t} = {v}", None),
    ("give me the {c} with {t} {v}", None),
    ("what {c} does {v} have?", None),
    ("what is the {c} of {v}?", None),
    ("which {c} belongs to {v}?", None),
    ("find the {c} for the {t} {v}", None),
    ("{t} {v}: what is the {c}?", None),
    ("list all {c} with {n} over {k}", ">"),
    ("show the {c} with {n} below {k}", "<"),
    ("which {c} have {n} greater than {k}?", ">"),
    ("which {c} have less than {k} {n}?", "<"),
    ("{c} with {n} above {k}", ">"),
    ("{c} where {n} is under {k}", "<"),
    ("{c} with more than {k} {n}", ">"),
    ("{v}'s {c}", None),
    ("what was {v}'s {c}?", None),
    ("{c} by {v}", None),
    ("{c} in {v}", None),
    ("all {c} from {v}", None),
    ("which {c} is from {v}?", None),
    ("which {c} are in {v}?", None),
    ("which {c} works in {v}?", None),
    ("which {c} lives in {v}?", None),
    ("which {c} comes with {v}?", None),
    ("which {c} goes with the {t} {v}?", None),
    ("how many {c} are from {v}?", "count"),
    ("how many {c} are in {v}?", "count"),
    ("how many {c} have {t} {v}?", "count"),
    ("how many rows have {t} {v}?", "count"),
    ("how many {t} are {v}?", "count"),
    ("how many are {v}?", "count"),
    ("how many records are there for {v}?", "count"),
    ("number of entries with {t} {v}", "count"),
    ("count the rows where {t} is {v}", "count"),
    ("total {n} for {v}", "sum"),
    ("what is the total {n} of {v}?", "sum"),
    ("sum of {n} where {t} is {v}", "sum"),
    ("average {n} for {v}", "avg"),
    ("what was the mean {n} where {t} is {v}?", "avg"),
    ("highest {n} for {v}", "max"),
    ("what is the maximum {n} with {t} {v}?", "max"),
    ("lowest {n} for {v}", "min"),
    ("minimum {n} where {t} is {v}", "min"),
    ("what is the overall {n}?", "sum all"),
    ("what is the average {n}?", "avg all"),
    ("what is the highest {n}?", "max all"),
    ("what is the smallest {n}?", "min all"),
)
MISFITS = (
    "which {t} has the highest {n}?",
    "which {t} has the most {n}?",
    "who has the lowest {n}?",
    "what {t} had the largest {n}?",
    "what is the {t} with the least {n}?",
    "{t} with the biggest {n}",
    "which {t} was the first?",
    "what is the last {t} listed?",
    "what is the first {t} on the list?",
    "which {t} comes after {v}?",
    "who came right before {v}?",
    "what is the next {t} after {v}?",
    "which {t} is listed above {v}?",
    "average {n} per {t}",
    "total {n} by {t}",
    "what is the {n} for each {t}?",
    "how many rows per {t}?",
    "count by {t}",
    "show {n} broken down by {t}",
    "top 5 {t} by {n}",
    "what are the three {t} with the highest {n}?",
    "list {t} sorted by {n}",
    "rank {t} by {n}",
    "what is the difference in {n} between {v} and {v2}?",
    "how many more {n} did {v} have than {v2}?",
    "does {v} have more {n} than {v2}?",
    "who had a higher {n}, {v} or {v2}?",
    "which has more {n}: {v} or {v2}?",
    "is the {n} of {v} above the average?",
    "which {t} has more {n} than {v}?",
    "how many {t} have a higher {n} than {v}?",
    "what is the {n} of {v} and {v2} combined?",
    "compare {v} with {v2}",
    "what percentage of {t} is {v}?",
    "what share of the total {n} is {v}?",
    "which {t} occurs most often?",
    "what is the most common {t}?",
    "which {t} appears more than once?",
    "how many times more {n} does {v} have than {v2}?",
    "besides {v}, which {t} are there?",
    "which {t} other than {v} has {n} {k}?",
    "which {t} are not {v}?",
    "how many {t} are not {v}?",
    "which {t} has the same {n} as {v}?",
    "name another {t} with the same {c} as {v}",
    "is {v} in the list?",
    "did {v} have {n} over {k}?",
    "was the {c} of {v} ever changed?",
    "how has {n} changed over time?",
    "what is the trend of {n}?",
    "what is the median {n}?",
    "what is the correlation between {n} and {m}?",
    "what is the ratio of {n} to {m}?",
    "which {t} has a {n} larger than its {m}?",
    "how many {t} have both {n} over {k} and {m} over {k2}?",
    "what are the {c} and the {t} with the highest {n}?",
    "between which {t} is the largest gap in {n}?",
    "how many consecutive {t} have {n} above {k}?",
    "what is the {x} of {v}?",
    "which {x} does {v} have?",
    "what was the {x} where {t} is {v}?",
    "how much {x} did {v} get?",
    "show me the {x} for {v}",
    "average {x} for {v}",
    "what is the total {x}?",
    "what is the {c} of {u}?",
    "what is the {c} where {t} is {u}?",
    "which {c} does {u} have?",
    "how many rows have {t} {u}?",
    "what was the {n} for {u}?",
    "who is {u}?",
    "what is {x}?",
    "tell me about {v}",
    "why is the {n} of {v} so high?",
    "what will the {n} of {v} be next year?",
    "delete {v}",
    "what is the {c} for {v} in {u}?",
    "what is the {c} of {v} with {x} {k}?",
    "what is the {c} of {v} from {u}?",
    "which {c} did {u} have with {v}?",
    "{c} of {v} and {u}",
    "total {n} for {u}",
    "how many {x} does {v} have?",
    "how many {x} are there?",
    "how many {x} have {t} {v}?",
    "list all {x}",
    "what is the highest {x} for {v}?",
    "{x} of {v}",
    "when was the {x} of {v}?",
    "on which {x} was {v}?",
    "{n} per {t} for {v}",
    "the {t} that had the most {n} in {v2}",
    "in which {t} was {n} the highest?",
    "which {t} had at least two {c}?",
    "how many {t} are there in total besides {v}?",
    "who won the most {n}?",
    "what is the second highest {n}?",
    "what are the names of all {t} except {v}?",
    "how many {t} had either {v} or {v2}?",
    "is it true that {v} has the highest {n}?",
    "which is larger, the {n} or the {m} of {v}?",
    "how long has {v} been a {x}?",
    "what is the total of {n} and {m} for {v}?",
    "how many {t} had {n} between {k} and {k2}?",
    "how old is {v}?",
    "which {t} have never had {c} {v2}?",
    "which {c} does not have {v}?",
    "which {c} are without {v}?",
    "how many {c} did not have {v}?",
    "how many {c} have no {v}?",
    "{c} that are neither {v} nor {v2}",
    "how many {x} did {v} have?",
    "how many {x} live in {v}?",
    "how many {x} are in {v}?",
    "what is the {x} number of {v}?",
    "how many {t} have more than one {c}?",
    "how much {x} is there in {v}?",
    "which {x} is in {v}?",
    "who is taller, {v} or {v2}?",
)
_ASIDE = re.compile(r"\s*\([^)]*\)")


@dataclass(frozen=True, slots=True)
class Fill:
    """What a template's places stand for in one table."""

    words: dict[str, str]
    columns: dict[str, str]
    values: dict[str, Any]


def lookups(sheets: Sequence[Sheet], count: int, seed: int) -> list[Question]:
    chance = random.Random(seed)
    made: list[Question] = []
    while len(made) < count:
        sheet = sheets[chance.randrange(len(sheets))]
        template, meaning = LOOKUPS[chance.randrange(len(LOOKUPS))]
        fill = _fill(sheet, sheets[chance.randrange(len(sheets))], chance)
        if fill is not None and fill.columns["c"] != fill.columns["t"]:
            made.append(Question(sheet.id, template.format(**fill.words), _plan(template, meaning, fill)))
    return made


def misfits(sheets: Sequence[Sheet], count: int, seed: int) -> list[tuple[str, str]]:
    """Table and question."""
    chance = random.Random(seed)
    made: list[tuple[str, str]] = []
    while len(made) < count:
        sheet = sheets[chance.randrange(len(sheets))]
        template = MISFITS[chance.randrange(len(MISFITS))]
        fill = _fill(sheet, sheets[chance.randrange(len(sheets))], chance)
        if fill is not None:
            made.append((sheet.id, template.format(**fill.words)))
    return made


def _fill(sheet: Sheet, other: Sheet, chance: random.Random) -> Fill | None:
    """None where the table has no two text columns, two number columns and two rows that differ."""
    texts = [at for at, number in enumerate(sheet.numeric) if not number]
    numbers = [at for at, number in enumerate(sheet.numeric) if number]
    if len(texts) < 2 or len(numbers) < 2 or len(sheet.rows) < 3:
        return None
    text, *_ = chance.sample(texts, 1)
    number, second = chance.sample(numbers, 2)
    values = sorted({str(row[text]) for row in sheet.rows if row[text] is not None})
    known = {row[number] for row in sheet.rows if row[number] is not None}
    foreign = _foreign(sheet, other, chance)
    if len(values) < 2 or len(known) < 2 or foreign is None:
        return None
    value, value2 = chance.sample(values, 2)
    asked = chance.choice([at for at in (*texts, *numbers) if at != text])
    limit = chance.choice(sorted(known, key=str))
    columns = {"t": text, "n": number, "m": second, "c": asked}
    words = {key: _spoken(sheet.header[at], chance) for key, at in columns.items()}
    named = (value, value2, foreign[1])
    if chance.random() < 0.5:
        named = (value.title(), value2.title(), foreign[1].title())
    words |= {
        "v": named[0],
        "v2": named[1],
        "u": named[2],
        "k": str(limit),
        "k2": str(limit),
        "x": foreign[0],
    }
    return Fill(words, {key: sheet.header[at] for key, at in columns.items()}, {"v": value, "k": limit})


def _foreign(sheet: Sheet, other: Sheet, chance: random.Random) -> tuple[str, str] | None:
    """A column's name and a value of another table that have no word in common with this one."""
    here = {word for name in sheet.header for word in re.findall(r"\w+", name.lower())}
    cells = {str(cell).lower() for row in sheet.rows for cell in row}
    names = [n for n in other.header if not here & set(re.findall(r"\w+", n.lower())) and len(n) > 4]
    values = sorted(
        {c for row in other.rows for c in row if isinstance(c, str) and c.lower() not in cells and len(c) > 4}
    )
    if not names or not values:
        return None
    return _spoken(chance.choice(names), chance), chance.choice(values)


def _spoken(name: str, chance: random.Random) -> str:
    """A column's name as a person says it: mostly without what stands in parentheses."""
    short = _ASIDE.sub("", name).strip()
    return short if short and chance.random() < 0.8 else name


def _plan(template: str, meaning: str | None, fill: Fill) -> dict[str, Any]:
    columns = fill.columns
    filters: list[dict[str, Any]] = []
    if meaning in (">", "<"):
        filters = [{"column": columns["n"], "op": meaning, "value": fill.values["k"]}]
    elif "{v}" in template:
        filters = [{"column": columns["t"], "op": "=", "value": fill.values["v"]}]
    agg = meaning.split()[0] if meaning and meaning not in (">", "<") else None
    item: dict[str, Any] = {"column": columns["n" if agg and agg != "count" else "c"]}
    if agg == "count" and "{c}" not in template:
        item = {"column": columns["t"]}
    if agg:
        item["agg"] = agg
    return {"dataset_id": "wikisql", "table": TABLE, "select": [item], "filters": filters}
