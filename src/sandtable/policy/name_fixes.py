"""Corrections of unknown names: tables, functions, files that a table was made from."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from sandtable.policy.fix_case import MOST_FIXES, Case, alike, likeness
from sandtable.policy.names import fold
from sandtable.policy.statement_fixes import listing
from sandtable.policy.tokens import Edit, Token, chain, closing, spelled
from sandtable.policy.verdict import Fix
from sandtable.quoting import quote

_CATALOGS = frozenset(
    "information_schema.tables pg_tables pg_catalog.pg_tables sqlite_master sqlite_schema duckdb_tables".split()
)
_FILES = frozenset("csv tsv txt parquet json jsonl ndjson xlsx xls gz zst".split())


def unknown_table(case: Case) -> list[Fix]:
    if not case.refused.message.startswith("There is no table") or case.at is None:
        return []
    wrong = case.tokens[case.at].name
    if wrong != fold(case.refused.construct):
        return []
    # A CTE too: `name AS (` and `name(columns) AS (` after WITH.
    named = [
        t.text
        for t, after, then in zip(case.tokens, case.tokens[1:], case.tokens[2:], strict=False)
        if t.kind == "name" and after.says("as") and then.says("(", "materialized")
    ]
    known = [*case.tables.values(), *named]
    near = alike(wrong, known, 0.6) or (known if len(known) == 1 else [])
    places = [t for i, t in enumerate(case.tokens) if _is_table_place(case.tokens, i, wrong, case.at)]
    return [
        Fix(f"Use {quote(table)}", case.replaced(Edit(t.start, t.end, spelled(table)) for t in places))
        for table in near
    ]


def _is_table_place(tokens: Sequence[Token], index: int, wrong: str, refused: int) -> bool:
    """Where the table is read, and where its name stands before a column."""
    token = tokens[index]
    if not token.is_name or token.name != wrong or (index and tokens[index - 1].says(".")):
        return False
    before_column = index + 1 < len(tokens) and tokens[index + 1].says(".")
    read = index > 0 and tokens[index - 1].says("from", "join", "describe", "summarize")
    return index == refused or before_column or read


def qualified_table(case: Case) -> list[Fix]:
    if "is not in the dataset's schema" not in case.refused.message or case.at is None:
        return []
    path = [token.name for token in chain(case.tokens, case.at)]
    if ".".join(path) in _CATALOGS:
        return listing(case)
    own = path[:-1] if path[-1] in _FILES else path
    if len(path) < 2 or path[0] in ("information_schema", "pg_catalog", "recurring") or not own:
        return []
    edits: list[list[Token]] = []
    for index, token in enumerate(case.tokens):
        whole = list(chain(case.tokens, index)[: len(path)])
        after_dot = index > 0 and case.tokens[index - 1].says(".")
        if token.is_name and not after_dot and [t.name for t in whole] == path:
            edits.append(whole)
    exact = case.tables.get(own[-1])
    near = [exact] if exact else alike(own[-1], case.tables.values(), 0.6)
    return [
        Fix(f"Use {quote(table)}", case.replaced(Edit(e[0].start, e[-1].end, spelled(table)) for e in edits))
        for table in near
    ]


def misspelt_place(case: Case) -> list[Fix]:
    """`FROM order`: a word of the language where the name of a table was meant."""
    at = case.at
    if not at or case.tokens[at].kind != "name" or not case.tokens[at - 1].says("from", "join"):
        return []
    token = case.tokens[at]
    near = alike(token.text, case.tables.values(), 0.75)[:1]
    return [Fix(f"Use {quote(t)}", case.replaced([Edit(token.start, token.end, spelled(t))])) for t in near]


def qualified_function(case: Case) -> list[Fix]:
    if not case.refused.message.startswith("Functions are called by their plain name") or case.at is None:
        return []
    schema = [t.name for t in chain(case.tokens, case.at)][:-1]
    edits: list[Edit] = []
    for index, token in enumerate(case.tokens):
        path = chain(case.tokens, index)
        after = index + 2 * len(path) - 1
        called = after < len(case.tokens) and case.tokens[after].says("(")
        if token.is_name and called and [t.name for t in path][:-1] == schema:
            edits.append(Edit(path[0].start, path[-1].start, ""))
    name = fold(case.refused.construct.rpartition(".")[2])
    return [Fix(f"Write {quote(f'{name}(…)')}", case.replaced(edits))] if schema and edits else []


def unknown_function(case: Case) -> list[Fix]:
    message = case.refused.message
    if not message.endswith(("is not a function that may be called.", "is not a DuckDB function.")):
        return []
    wrong = fold(case.refused.construct)
    places = [
        token
        for token, after in zip(case.tokens, case.tokens[1:], strict=False)
        if token.is_name and token.name == wrong and after.says("(")
    ]
    if not places:
        return []
    renamed = case.functions.renamed.get(wrong)
    words = [name for name in case.functions.allowed if name.isidentifier()]
    if renamed is None and not message.endswith("called."):
        return []
    near = [renamed] if renamed else _near_function(wrong, words)
    return [
        Fix(f"Use {quote(name)}", case.replaced(Edit(t.start, t.end, name) for t in places)) for name in near
    ]


def _near_function(wrong: str, words: list[str]) -> list[str]:
    """Stricter than for tables: a short name is similar to many others."""
    close = get_close_matches(wrong, sorted(words), n=MOST_FIXES, cutoff=0.81)
    best = max((likeness(wrong, name) for name in close), default=0.0)
    return [name for name in close if likeness(wrong, name) >= best - 0.02]


def file_of_a_table(case: Case) -> list[Fix]:
    """A file that has the name of a table is most likely the one that the table was made from."""
    refused, at = case.refused, case.at
    if at is None:
        return []
    if fold(refused.construct) == "duckdb_tables":
        return listing(case)
    if refused.message.endswith("it reads files."):
        if at + 2 >= len(case.tokens) or not case.tokens[at + 1].says("("):
            return []
        end, place = closing(case.tokens, at + 1), case.tokens[at + 2]
        if (
            end is None
            or place.kind != "string"
            or not fold(refused.construct).startswith(("read_", "parquet_scan"))
        ):
            return []
        table, whole = case.tables.get(_stem(place.value)), (case.tokens[at].start, case.tokens[end].end)
    elif "would be read from a file or an address" in refused.message:
        token = case.tokens[at]
        table, whole = case.tables.get(_stem(refused.construct)), (token.start, token.end)
    else:
        return []
    return [Fix(f"Use {quote(table)}", case.replaced([Edit(*whole, spelled(table))]))] if table else []


def _stem(path: str) -> str:
    """`data/orders.csv.gz` is `orders`; an address has none."""
    if "://" in path:
        return ""
    name, *endings = path.replace("\\", "/").rpartition("/")[2].split(".")
    return fold(name) if endings and all(fold(e) in _FILES for e in endings) else ""
