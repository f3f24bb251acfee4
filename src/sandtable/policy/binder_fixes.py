"""Suggested corrections for a run that failed with a binder error.

The error, as the runner's `complaint` words it, names what is missing and what exists, but not the place in the
author's text. A name is therefore replaced at every occurrence, and only where it is certain to be the name that
was meant.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sandtable.catalog.model import Dataset
from sandtable.policy.dialect_fixes import straight_quotes
from sandtable.policy.fix_case import alike
from sandtable.policy.fixes import LONGEST, distinct
from sandtable.policy.names import fold
from sandtable.policy.tokens import (
    Edit,
    Token,
    depths,
    edited,
    literal,
    spelled,
    tokens_of,
    without_end,
)
from sandtable.policy.verdict import Fix
from sandtable.quoting import quote

_MISSING = re.compile(
    r'(?:there is no (?P<kind>column|table)|Table "(?P<table>(?:[^"]|"")+)" does not have a column named)'
    r' "(?P<name>(?:[^"]|"")+)"'
)
_THERE_IS = re.compile(r'"((?:[^"]|"")+)"')
_AMBIGUOUS = re.compile(r'Ambiguous reference to column name "(?P<name>[^"]+)" \(use: (?P<ways>.*)\)')
_WAY = re.compile(r"'([^']+)'")
_UNGROUPED = re.compile(r'column "(?P<name>(?:[^"]|"")+)" must appear in the GROUP BY clause')
_AFTER_GROUPS = ("having", "qualify", "window", "order", "limit", "offset", "using")
_COMPARED = ("=", "<", ">", "like", "ilike", "(", ",")


def binder_candidates(
    text: str, message: str, suggestion: str, dataset: Dataset, *, is_value: bool = False
) -> list[Fix]:
    """Candidates, most likely first. The gate has not judged them. `is_value`: a column of the data holds the unknown
    name as a value."""
    if len(text) > LONGEST:
        return []
    if found := _AMBIGUOUS.match(message):
        return distinct(_qualified(text, found["name"], _WAY.findall(found["ways"])), text)
    if found := _UNGROUPED.match(message):
        return distinct(_grouped(text, found["name"].replace('""', '"')), text)
    found = _MISSING.match(message)
    if found is None:
        return []
    name = found["name"].replace('""', '"')
    if name[0] in "\u2018\u2019\u201c\u201d":
        return distinct(_straightened(text, dataset), text)
    known = [there.replace('""', '"') for there in _THERE_IS.findall(suggestion)]
    tokens = tokens_of(text)
    made = _as_text(text, tokens, name, is_value) if found["kind"] == "column" else []
    if not made:
        made = _renamed(text, tokens, name, known, found["table"], is_table=found["kind"] == "table")
    return distinct(made, text)


def _renamed(
    text: str, tokens: Sequence[Token], name: str, known: Sequence[str], table: str | None, *, is_table: bool
) -> list[Fix]:
    places: list[Token] = []
    for i, token in enumerate(tokens):
        if not token.is_name or token.name != fold(name):
            continue
        before, after = tokens[i - 1] if i else None, tokens[i + 1] if i + 1 < len(tokens) else None
        named_here = before is not None and before.says("as")
        called = after is not None and after.says("(")
        if is_table:
            if after is not None and after.says("."):
                places.append(token)
            continue
        owner = tokens[i - 2].name if i > 1 and before is not None and before.says(".") else None
        if named_here or called:
            # The query itself defines this name: elsewhere another column was meant.
            return []
        if owner == (fold(table) if table else None):
            places.append(token)
    if not places:
        return []
    return [
        Fix(f"Use {quote(near)}", edited(text, (Edit(t.start, t.end, spelled(near)) for t in places)))
        for near in (known[:1] if is_table and len(known) == 1 else alike(name, known, 0.6))
    ]


def _as_text(text: str, tokens: Sequence[Token], name: str, is_value: bool) -> list[Fix]:
    """`channel = "web"`: double quotes are for names; a value was meant. `channel = web`, where that is known."""
    edits: list[Edit] = []
    for i, token in enumerate(tokens):
        if token.is_name and token.name == fold(name):
            quoted = token.text.startswith('"')
            if not (quoted or is_value) or not i or not tokens[i - 1].says(*_COMPARED):
                return []
            value = token.text[1:-1].replace('""', '"') if quoted else token.text
            edits.append(Edit(token.start, token.end, literal(value)))
    return [Fix(f"Use the text {quote(literal(name))}", edited(text, edits))] if edits else []


def _grouped(text: str, name: str) -> list[Fix]:
    """Only if the text has one SELECT: otherwise it is not certain which one is meant."""
    tokens = without_end(tokens_of(text))
    level = depths(tokens)
    if sum(t.says("select") for t in tokens) != 1 or not tokens[0].says("select"):
        return []
    outer = [i for i, depth in enumerate(level) if depth == 0]
    group = next((i for i in outer if tokens[i].says("group")), None)
    end = next((i for i in outer if i > (group or 0) and tokens[i].says(*_AFTER_GROUPS)), len(tokens))
    place = tokens[end - 1].end
    new = " GROUP BY ALL" if group is None else f", {spelled(name)}"
    title = "Add GROUP BY ALL" if group is None else f"Group by {quote(name)} too"
    return [Fix(title, edited(text, [Edit(place, place, new)]))]


def _qualified(text: str, name: str, ways: Sequence[str]) -> list[Fix]:
    """Only if the name occurs once: otherwise it may have several meanings."""
    tokens = tokens_of(text)
    places = [(i, t) for i, t in enumerate(tokens) if t.is_name and t.name == fold(name)]
    bare = [t for i, t in places if not (i and tokens[i - 1].says(".", "as"))]
    if len(bare) != 1:
        return []
    return [Fix(f"Use {quote(way)}", edited(text, [Edit(bare[0].start, bare[0].end, way)])) for way in ways]


def _straightened(text: str, dataset: Dataset) -> list[Fix]:
    names = {fold(c.name): c.name for t in dataset.tables for c in t.columns}
    names |= {fold(t.name): t.name for t in dataset.tables}
    new = straight_quotes(text, names)
    return [Fix("Use straight quotes", new)] if new else []
