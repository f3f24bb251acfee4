"""The gate for Python: a text, its syntax tree and a dataset become Approved or Refused.

Early feedback, not the boundary: the sandbox contains what is missed here. Invariant: the tree comes from a
sandbox and is only read; no untrusted text is parsed, compiled or run here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from sandtable.catalog.model import Dataset
from sandtable.errors import ErrorCode
from sandtable.policy.python.annotations import annotation_finding
from sandtable.policy.python.attributes import attribute_finding
from sandtable.policy.python.by_name import by_name_finding
from sandtable.policy.python.calls import call_finding
from sandtable.policy.python.code import Code, Finding
from sandtable.policy.python.formats import format_finding
from sandtable.policy.python.grammar import syntax_finding
from sandtable.policy.python.imports import import_finding
from sandtable.policy.python.reading import name_finding
from sandtable.policy.python.spots import Places, Spot
from sandtable.policy.python.uses import tables_in, volatile_in
from sandtable.policy.tree import under
from sandtable.policy.verdict import Approved, Refused, Verdict
from sandtable.quoting import LONGEST_TEXT, one_line

RULES: tuple[Callable[[Spot, Code], Finding | None], ...] = (
    syntax_finding,
    import_finding,
    name_finding,
    attribute_finding,
    call_finding,
    by_name_finding,
    format_finding,
    annotation_finding,
)


def judge_python(
    text: str, parsed: Mapping[str, Any], dataset: Dataset, *, names: Collection[str] = ()
) -> Verdict:
    """Judge a text by its syntax tree. `parsed` is the answer of the runner's `parse_python`.

    `names`: what the namespace holds besides the tables: aliases, and variables of earlier cells.
    """
    if parsed.get("ok") is not True:
        return _not_parsed(text, parsed)
    code = Code(text, under(parsed, "tree"), dataset, names)
    findings = [found for spot in code.spots for rule in RULES if (found := rule(spot, code))]
    if findings:
        # Of two findings at one place the shorter is the more exact.
        return min((_refused(code, f) for f in findings), key=lambda r: (r.position or 0, r.length))
    volatile = volatile_in(code)
    return Approved(
        sql=text,
        tables=tables_in(code),
        warnings=tuple(
            f"{name} differs from run to run: the result cannot be re-verified." for name in volatile
        ),
        volatile=volatile,
    )


def _refused(code: Code, finding: Finding) -> Refused:
    position, length = code.places.of(finding.spot, finding.word)
    return Refused(
        ErrorCode.PYTHON_POLICY_VIOLATION,
        construct=finding.construct,
        # A name may be a text in the code: a word of getattr, a format text.
        message=one_line(finding.message, LONGEST_TEXT),
        suggestion=finding.suggestion.replace("{table}", code.tables[0]),
        position=position,
        length=length,
    )


def _not_parsed(text: str, parsed: Mapping[str, Any]) -> Refused:
    message = one_line(str(parsed.get("message") or "The code cannot be read."), 300)
    line = parsed.get("line")
    position = Places(text).offset(line, parsed.get("column"))
    match parsed.get("error_type"):
        case "too_deep":
            code, construct, hint = (
                ErrorCode.PYTHON_POLICY_VIOLATION,
                "nesting",
                "name the inner steps one after the other",
            )
        case "too_large":
            code, construct, hint = (
                ErrorCode.PYTHON_POLICY_VIOLATION,
                "length",
                "split the code into several runs",
            )
        case _:
            code, construct, hint = ErrorCode.VALIDATION_ERROR, "syntax", _syntax_hint(message)
            message = f"This is not valid Python (line {line}): {message}"
    length = 1 if position < len(text) else 0
    return Refused(code, construct, message, hint, position=position, length=length)


def _syntax_hint(message: str) -> str:
    if "print" in message:
        return "write print(…) with brackets"
    if "never closed" in message or "unmatched" in message:
        return "see that each bracket and quote is closed"
    if "indent" in message:
        return "indent the lines of a block by four spaces each"
    if "non-printable" in message or "invalid character" in message:
        return "replace the marked character by a plain one: quotes \" and ', a plain space, a minus"
    if "outside function" in message or "await" in message:
        return "put it into a function, or leave it out"
    return "check the spelling at the marked place; Python 3 is expected"
