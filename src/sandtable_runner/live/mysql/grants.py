"""Lines of SHOW GRANTS, read: which privilege is held where.

Invariant: what is not understood is reported as a privilege that is not known, never left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_TOKEN = re.compile(
    r"`(?:[^`]|``)*`|'(?:[^'\\]|''|\\.)*'|\"(?:[^\"\\]|\"\"|\\.)*\"|[(),]|[^\s`'\"(),]+", re.DOTALL
)
_KINDS = frozenset({"TABLE", "FUNCTION", "PROCEDURE", "PACKAGE", "BODY"})
EVERYWHERE = "*"


@dataclass(frozen=True, slots=True)
class Grant:
    privilege: str
    """In capitals."""
    schema: str
    table: str
    """A table or routine."""

    @property
    def place(self) -> str:
        return f"{self.schema}.{self.table}"


def grants_of(line: str) -> Iterator[Grant]:
    tokens = _TOKEN.findall(line)
    if tokens[:1] != ["GRANT"]:
        # A default role is one of those that are looked at; a privilege that is taken back in places is held in others.
        if tokens[:1] not in (["SET"], ["REVOKE"]):
            yield Grant("UNKNOWN", EVERYWHERE, EVERYWHERE)
        return
    on, to = _position(tokens, "ON"), _position(tokens, "TO")
    if on is None or to is None or on > to:
        if to is None:
            yield Grant("UNKNOWN", EVERYWHERE, EVERYWHERE)
        return
    schema, table = _place(tokens[on + 1 : to])
    for privilege in _privileges(tokens[1:on]):
        yield Grant(privilege, schema, table)
    if "GRANT" in tokens[to:]:
        yield Grant("GRANT OPTION", schema, table)


def roles_of(line: str) -> list[tuple[str, str]]:
    """Name and host of each role that MySQL says is granted: such a line names no place."""
    tokens = _TOKEN.findall(line)
    to = _position(tokens, "TO")
    if tokens[:1] != ["GRANT"] or to is None or _position(tokens[:to], "ON") is not None:
        return []
    found: list[tuple[str, str]] = []
    for at, each in enumerate(tokens[:to]):
        if each == "@" and 0 < at < to - 1:
            found.append((_plain(tokens[at - 1]), _plain(tokens[at + 1])))
    return found


def _position(tokens: Sequence[str], word: str) -> int | None:
    return tokens.index(word) if word in tokens else None


def _privileges(tokens: Sequence[str]) -> Iterator[str]:
    """Without the columns that some are limited to."""
    words: list[str] = []
    depth = 0
    for each in (*tokens, ","):
        depth += {"(": 1, ")": -1}.get(each, 0)
        if each == "," and depth == 0:
            yield " ".join(words).upper()
            words = []
        elif depth == 0 and each != ")":
            words.append(each)


def _place(tokens: Sequence[str]) -> tuple[str, str]:
    """`*.*`, `shop`.*, `shop`.`orders`, PROCEDURE `shop`.`p`. A schema may be a pattern."""
    parts = "".join(token for token in tokens if token not in _KINDS)
    names = re.findall(r"`(?:[^`]|``)*`|\*|[^.`*@]+", parts)
    schema, table = (*map(_plain, names), EVERYWHERE, EVERYWHERE)[:2]
    return schema.replace("\\_", "_").replace("\\%", "%"), table


def _plain(token: str) -> str:
    if token[:1] in "`'\"" and len(token) > 1:
        return token[1:-1].replace(token[0] * 2, token[0])
    return token
