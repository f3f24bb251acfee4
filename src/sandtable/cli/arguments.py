"""Whether a command gets to its work with these arguments, so that nothing heavy starts when it does not.

Invariant: the answer is never no for arguments that the command takes. For those that it refuses, or answers with its
help, click says why; it may refuse more of them. Loads nothing but the standard library.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Form:
    """What a command takes, beside `--help`."""

    valued: frozenset[str]
    """Options with a value."""
    flags: frozenset[str]
    words: int
    """How many arguments without an option."""
    one_of: tuple[frozenset[str], ...] = field(default=())
    """Of each set, exactly one option must be there."""


_ABOUT = frozenset({"--dataset", "--data"})
_READ_AS = frozenset({"--answer", "--repair"})
_QUERY = frozenset({"--sql", "--plan", "--python", "--jsonl"})
FORMS: Mapping[str, Form] = {
    "ask": Form(_ABOUT | _READ_AS, frozenset({"--json"}), words=1, one_of=(_ABOUT,)),
    "run": Form(
        _ABOUT | _READ_AS | _QUERY | {"--question", "--timeout", "--max-rows", "--output"},
        frozenset({"--json", "--dry-run", "--no-cache", "--no-check"}),
        words=0,
        one_of=(_ABOUT, _QUERY),
    ),
}


def may_run(command: str, arguments: Sequence[str]) -> bool:
    """`arguments` are those after the name of the command."""
    form = FORMS[command]
    words, given, left = 0, set[str](), list(reversed(arguments))
    while left:
        argument = left.pop()
        if argument == "--":
            words += len(left)
            break
        if argument == "-" or not argument.startswith("-"):
            words += 1
            continue
        name, has_value, _ = argument.partition("=")
        if name in form.valued:
            if not has_value and not left:
                return False
            if not has_value:
                left.pop()
        elif name not in form.flags or has_value:
            return False
        given.add(name)
    return words == form.words and all(len(given & options) == 1 for options in form.one_of)
