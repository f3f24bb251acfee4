"""The names of people, teams and keys.

Invariant: names of people and teams are in lower case, so that two of them never differ in case alone, and no name of a
person begins with `@`, which only addresses do.
"""

from __future__ import annotations

import re

from sandtable.errors import InvalidInput
from sandtable.quoting import quote

_NAME = re.compile(r"[a-z0-9][a-z0-9._@+-]{0,63}")
_RESERVED = frozenset({"local", "everyone", "anonymous"})
"""`local` is the user of the command line and of the library; the others would mislead in lists."""
LONGEST_KEY_NAME = 80


def person_name(given: str) -> str:
    """Raises InvalidInput."""
    return _checked(given, "user")


def team_name(given: str) -> str:
    """Raises InvalidInput."""
    return _checked(given, "team")


def is_name(given: str) -> bool:
    return _NAME.fullmatch(given) is not None and given not in _RESERVED


def key_name(given: str) -> str:
    """Raises InvalidInput."""
    name = given.strip()
    if not name or len(name) > LONGEST_KEY_NAME or not name.isprintable():
        raise InvalidInput(
            "the name of an API key is empty, too long or not printable",
            suggestion=f"Say what the key is for, in up to {LONGEST_KEY_NAME} characters.",
            field="name",
        )
    return name


def _checked(given: str, kind: str) -> str:
    name = given.strip().lower()
    if name in _RESERVED:
        raise InvalidInput(
            f"the name {quote(name)} is reserved", suggestion="Choose another name.", field="name"
        )
    if not _NAME.fullmatch(name):
        raise InvalidInput(
            f"{quote(given)} cannot be the name of a {kind}",
            suggestion="Use up to 64 letters, digits and . _ @ + - and begin with a letter or digit.",
            field="name",
        )
    return name
