"""What kind of rule refused a query, for counting: one of a few words, and never a part of the query."""

from __future__ import annotations

from sandtable.capsule.model import VerdictRecord
from sandtable.engines.rules import Rules
from sandtable.errors import ErrorCode

_FIXED = {
    "plan": "plan", "length": "length", "nesting": "nesting", "join": "joins", "syntax": "syntax", "the query": "form",
    "statement": "statement", ";": "statement", "empty text": "syntax", "pivot": "pivot", "code": "form",
}  # fmt: skip
_STATEMENTS = frozenset(
    "alter attach call checkpoint comment copy create deallocate delete detach drop execute explain export import"
    " insert install load merge pragma prepare reset set transaction truncate update use vacuum".split()
)


def rule_of(refused: VerdictRecord, rules: Rules | None) -> str:
    construct = refused.construct.lower()
    if construct.startswith("u+"):
        return "character"
    if construct in _FIXED:
        return _FIXED[construct]
    if construct.split(" ")[0] in _STATEMENTS:
        return "statement"
    if refused.code is ErrorCode.PYTHON_POLICY_VIOLATION:
        return "python"
    if rules is not None and rules.functions.refusal_of(construct) is not None:
        return "function"
    return "invalid" if refused.code is ErrorCode.VALIDATION_ERROR else "construct"
