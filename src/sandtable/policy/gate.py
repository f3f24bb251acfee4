"""The gate: a text, its parse and a dataset become Approved or Refused.

Invariant: what is approved is the canonical text, and the tree that was judged is the tree of that
text. The input's own tree is judged only for refusals: only it has positions in the input.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sandtable.catalog.model import Dataset
from sandtable.engines.rules import Rules
from sandtable.errors import ErrorCode
from sandtable.policy.dump import dump_of
from sandtable.policy.hints import pivot_hint, syntax_hint
from sandtable.policy.place import char_offset, find_word, refuse
from sandtable.policy.provenance import source_of
from sandtable.policy.session_words import session_word_of
from sandtable.policy.tree import under
from sandtable.policy.verdict import NOT_FROM_DATA, Approved, Refused, Verdict
from sandtable.policy.walk import Walk

# Atomic groups: the pattern does not backtrack into a comment.
_FIRST_WORD = re.compile(r"(?>\s+|--[^\n]*|/\*.*?\*/|[;(]+)*+(\w+)", re.DOTALL)
_NEAR = re.compile(r'at or near "(.*)"$', re.DOTALL)


def judge(
    text: str,
    parsed: Mapping[str, Any],
    dataset: Dataset,
    rules: Rules,
    *,
    max_rows: int = 200,
    guard_dumps: bool = True,
) -> Verdict:
    """Judge a text by its parse tree. `parsed` is the answer of the runner's `parse`."""
    if not parsed.get("ok"):
        return _not_parsed(text, parsed, rules)
    tree, canonical = under(parsed, "tree"), str(parsed.get("canonical") or "")
    walk = Walk(canonical, dataset, rules)
    unfit = _unfit(walk, parsed)
    if unfit and (refused := Walk(text, dataset, rules).walk(tree)):
        return refused
    if refused := session_word_of(text, tree, dataset, rules.system.session_words):
        return refused
    if unfit:
        return _unwritable(unfit)
    if guard_dumps and (refused := dump_of(text, tree, dataset, max_rows, rules.functions)):
        return refused
    volatile = _texts(parsed.get("volatile"))
    source = source_of(under(parsed, "canonical_tree"), frozenset(walk.tables), dataset, rules.functions)
    return Approved(
        sql=canonical,
        tables=tuple(sorted(walk.tables)),
        functions=tuple(sorted(walk.functions)),
        warnings=(
            *(f"{name} differs from run to run: the result cannot be re-verified." for name in volatile),
            *(f"{NOT_FROM_DATA}: {words}." for words in source.in_words),
        ),
        not_from_data=source.whole,
        serial=_texts(parsed.get("serial")),
        volatile=volatile,
    )


def _unfit(walk: Walk, parsed: Mapping[str, Any]) -> str | None:
    """Why the canonical text may not run, if it may not."""
    if not isinstance(parsed.get("canonical"), str) or not under(under(parsed, "tree"), "node"):
        return str(parsed.get("canonical_error") or "it has no canonical text")
    refused = walk.walk(under(parsed, "canonical_tree"))
    return refused.message if refused else None


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(str(item) for item in value or ())


def _unwritable(reason: str) -> Refused:
    return Refused(
        ErrorCode.SQL_POLICY_VIOLATION,
        construct="the query",
        message=f"The query cannot be written in canonical form: {reason}.",
        suggestion="Write it in a plainer way, without quoted operators or (*) inside row(…)",
    )


def _not_parsed(text: str, parsed: Mapping[str, Any], rules: Rules) -> Refused:
    message = str(parsed.get("message") or "The query cannot be read.")
    match parsed.get("error_type"):
        case "statements":
            return _not_one_statement(text, message)
        case "not implemented":
            return _not_a_select(text, parsed, rules)
        case "too_deep" | "grouping_sets":
            hint = "Name the inner steps with WITH, one after the other"
            return Refused(ErrorCode.SQL_POLICY_VIOLATION, "nesting", message, hint)
        case _:
            return _syntax_error(text, message, parsed.get("position"), rules)


def _not_one_statement(text: str, found: str) -> Refused:
    if found.startswith("0"):
        hint = "Write one SELECT statement"
        return Refused(ErrorCode.VALIDATION_ERROR, "empty text", "There is no query.", hint)
    hint, at = "send one SELECT; run the others separately", text.find(";")
    message = f"One statement at a time, please: there are {found}."
    return Refused(ErrorCode.SQL_POLICY_VIOLATION, ";", message, hint, position=at, length=1)


def _not_a_select(text: str, parsed: Mapping[str, Any], rules: Rules) -> Refused:
    statements = _texts(parsed.get("statements"))
    if "MULTI" in statements and set(statements) <= {"MULTI", "SELECT"}:
        message = "PIVOT needs the list of values that become columns."
        return refuse(text, None, "PIVOT", message, pivot_hint(text), ErrorCode.VALIDATION_ERROR)
    found = _FIRST_WORD.match(text)
    construct = found.group(1).upper() if found else "statement"
    if construct in ("SELECT", "WITH", "FROM", "VALUES"):
        other = next((s for s in statements if s not in ("SELECT", "UNKNOWN")), None)
        if other is None:
            return _syntax_error(text, str(parsed.get("message")), parsed.get("position"), rules)
        construct = other.replace("_", " ")
    return refuse(
        text,
        None,
        construct,
        f"Only a SELECT can be run; {construct} is not allowed.",
        "ask with SELECT, WITH or FROM; the data cannot be changed and nothing else can be reached",
    )


def _syntax_error(text: str, message: str, at: object, rules: Rules) -> Refused:
    near = _NEAR.search(message)
    construct = near.group(1)[:100] if near else "syntax"
    position = char_offset(text, at) if isinstance(at, int) else find_word(text, construct)[0]
    return Refused(
        ErrorCode.VALIDATION_ERROR,
        construct=construct,
        message=f"This is not valid SQL: {message[:300]}",
        suggestion=syntax_hint(text, rules.spellings),
        position=position,
        length=len(construct) if near else 0,
    )
