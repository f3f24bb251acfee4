"""Texts that a library reads as code: pandas expressions and format strings.

They are scanned for words, not parsed: each word after a dot is held to the rules of attributes.
"""

from __future__ import annotations

import re
import string

from sandtable.policy.python.code import Code
from sandtable.policy.python.names import CONNECTION, FORBIDDEN_BUILTINS, MODULES
from sandtable.policy.python.words import forbidden_method

_TOKENS = re.compile(
    r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|(?P<at>@\s*)?(?P<word>[^\W\d]\w*)|(?P<dot>\.)|\d[\w.]*|\s+|.""",
    re.DOTALL,
)
_FIELD_ATTRIBUTE = re.compile(r"\.([^.\[\]]+)")
_NOT_VARIABLES = frozenset({*MODULES, CONNECTION, *FORBIDDEN_BUILTINS})


def expression_trouble(text: str, code: Code, *, bare_names: bool) -> str | None:
    """The first word of a pandas expression that may not stand there.

    `bare_names`: names mean variables of the code even without `@`, as in pd.eval.
    """
    after_dot = False
    for token in _TOKENS.finditer(text):
        word = token.group("word")
        if word and (after_dot or word.startswith("__")):
            if forbidden_method(word, code.columns) or word.startswith("__"):
                return word
        elif word in _NOT_VARIABLES and (token.group("at") or (bare_names and word not in code.columns)):
            return word
        if not token.group().isspace():
            after_dot = bool(token.group("dot"))
    return None


def format_trouble(text: str, code: Code) -> str | None:
    """The first attribute in a format string that may not be read. A malformed string fails when it runs."""
    pending = [text]
    for _ in range(3):
        specs: list[str] = []
        for piece in pending:
            try:
                fields = list(string.Formatter().parse(piece))
            except ValueError:
                continue
            for _literal, name, spec, _conversion in fields:
                for attribute in _FIELD_ATTRIBUTE.findall(name or ""):
                    if forbidden_method(attribute, code.columns):
                        return attribute
                if spec:
                    specs.append(spec)
        pending = specs
    return None
