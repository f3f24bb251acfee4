"""Whether a person's message is SQL rather than a question, and which part of it.

The gate judges whatever is found here; this only decides whom the message is for. A sentence that
happens to begin with "select" or "update" is a question.
"""

from __future__ import annotations

import re
from collections.abc import Collection

_FENCE = re.compile(r"```[ \t]*(?:sql|duckdb)?[ \t]*\n(?P<sql>.+?)(?:```|\Z)", re.IGNORECASE | re.DOTALL)
_ORDERED = re.compile(
    r"""^\s*(?:please[,\s]+)?(?:(?:can|could|would)\s+you\s+)?(?:please\s+)?
    (?:(?:run|execute|try|evaluate)\s+(?:(?:this|that|the|my|following|the\s+following)\s+)?
       (?:raw\s+)?(?:sql|query|statement)?(?:\s+(?:query|statement|code))?(?:\s+for\s+me)?
     |sql(?:\s+query)?)
    \s*(?::|\n)\s*(?P<sql>\S.*)$""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
_RUN_STATEMENT = re.compile(
    r"^\s*(?:please\s+)?(?:run|execute)\s+(?P<sql>(?:select|with|drop|delete|insert|update|alter|create|attach|copy)\b.*)$",
    re.IGNORECASE | re.DOTALL,
)
_STATEMENTS = tuple(
    re.compile(pattern, re.IGNORECASE | re.DOTALL)
    for pattern in (
        r"with\s+(?:recursive\s+)?[\w\"]+\s*(?:\([^)]*\))?\s+as\s*(?:(?:not\s+)?materialized\s*)?\(",
        r"drop\s+(?:table|view|schema|database|index|sequence|macro|function|type)\s+(?:if\s+exists\s+)?[\w\".]+\s*(?:cascade|restrict)?\s*(?:;|$)",
        r"delete\s+from\s+[\w\".]+\s*(?:$|;|where\b|using\b|returning\b)",
        r"insert\s+(?:or\s+\w+\s+)?into\s+[\w\".]+\s*(?:\(|values\b|select\b|by\b|default\b)",
        r"update\s+[\w\".]+\s+set\s+[\w\".]+\s*=",
        r"alter\s+(?:table|view|schema|database)\s+\S+",
        r"create\s+(?:or\s+replace\s+)?(?:temp(?:orary)?\s+|persistent\s+)?(?:table|view|macro|function|schema|index|sequence|type|secret)\s+\S+",
        r"attach\s+(?:database\s+)?(?:if\s+not\s+exists\s+)?'",
        r"detach\s+(?:database\s+)?\w+\s*(?:;|$)",
        r"copy\s+(?:\(|[\w\".]+\s+(?:to|from)\s+['(\w])",
        r"(?:export|import)\s+database\s+'",
        r"(?:install|load)\s+['\w]+\s*(?:;|$)",
        r"pragma\s+\w+",
        r"set\s+(?:global\s+|session\s+|local\s+)?\w+\s*=",
        r"truncate\s+(?:table\s+)?[\w\".]+\s*(?:;|$)",
        r"(?:explain|describe|summarize)\s+(?:analyze\s+)?(?:select|with)\b",
        r"values\s*\(",
        r"call\s+\w+\s*\(",
    )
)
_SELECT = re.compile(r"select\b\s*(?P<first>\S+)(?P<rest>.*)", re.IGNORECASE | re.DOTALL)
_NOT_A_COLUMN = frozenset(
    "the me some those these just only a an any every everything out from which what".split()
)
_FROM = re.compile(r"\bfrom\s+(?P<table>[\w\"'.]+|\()(?P<call>\s*\()?", re.IGNORECASE)
_FROM_FIRST = re.compile(
    r"from\s+\"?(?P<table>\w+)\"?\s*(?:;|$|select\b|where\b|limit\b|group\b|order\b|join\b)", re.IGNORECASE
)
_EXPRESSION = re.compile(r"[*'\"(=]|^\d")


def sql_in(text: str, tables: Collection[str]) -> str | None:
    """The SQL that the message asks to be run; None when it is not SQL. `tables` are names it may read."""
    fenced = _FENCE.search(text)
    if fenced:
        return fenced["sql"].strip()
    ordered = _ORDERED.match(text) or _RUN_STATEMENT.match(text)
    if ordered:
        return ordered["sql"].strip()
    bare = _without_comments(text)
    if any(pattern.match(bare) for pattern in _STATEMENTS) or _is_select(bare, tables):
        return text.strip()
    return None


def _without_comments(text: str) -> str:
    text = re.sub(r"^\s*(?:--[^\n]*\n\s*|/\*.*?\*/\s*)+", "", text, flags=re.DOTALL)
    return text.strip().lstrip("(").lstrip()


def _is_select(text: str, tables: Collection[str]) -> bool:
    known = {name.lower() for name in tables}
    leading = _FROM_FIRST.match(text)
    if leading:
        return leading["table"].lower() in known
    selected = _SELECT.match(text)
    if not selected:
        return False
    if text.rstrip().endswith(";"):
        return True
    first = selected["first"].lower()
    if first in _NOT_A_COLUMN:
        return False
    source = _FROM.search(selected["rest"])
    if source is None:
        return bool(_EXPRESSION.search(first))
    return _reads(source, known) or bool(_EXPRESSION.search(first)) or first.endswith(",")


def _reads(source: re.Match[str], known: Collection[str]) -> bool:
    """Whether what stands after FROM is a table, a function or a quoted name rather than a word of English."""
    name = source["table"]
    bare = name.strip("\"'").rpartition(".")[2].lower()
    return bool(source["call"]) or bare in known or bool(re.search(r"[\"'(]|\w\.\w", name))
