"""SQL text as a sequence of tokens, for edits that leave strings and comments unchanged.

Not a parser, and no decision depends on it: the gate judges an edited text like any other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sandtable.policy.names import fold

# An unclosed literal or comment extends to the end, so that no text is scanned twice.
_TOKEN = re.compile(
    r"""(?P<space>\s+)
    |(?P<comment>--[^\n]*+|/\*.*?(?:\*/|\Z))
    |(?P<string>[eE]'(?:[^'\\]|\\.|'')*+(?:'|\Z)|'(?:[^']|'')*+(?:'|\Z)|\$(?P<tag>\w*)\$.*?(?:\$(?P=tag)\$|\Z))
    |(?P<quoted>"(?:[^"]|"")*+(?:"|\Z)|`[^`]*+(?:`|\Z))
    |(?P<number>\d[\w.]*+)
    |(?P<name>[^\W\d]\w*+)
    |(?P<symbol>.)""",
    re.DOTALL | re.VERBOSE,
)
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Words that a table or column cannot be called by without quotes.
_RESERVED = frozenset(
    """
    all analyse analyze and any array as asc asymmetric both case cast check collate column constraint create
    default deferrable desc describe distinct do else end except false fetch for foreign from group having in
    initially intersect into lambda lateral leading limit not null offset on only or order pivot placing primary
    qualify references returning select show some summarize symmetric table then to trailing true union unique
    unpivot using variadic when where window with
    """.split()
)


class Token(NamedTuple):
    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def is_name(self) -> bool:
        return self.kind in ("name", "quoted")

    @property
    def name(self) -> str:
        """The name as the engine compares it; of anything else, its text in capitals folded."""
        if self.kind == "quoted":
            mark = self.text[0]
            return fold(self.text[1:-1].replace(mark * 2, mark))
        return fold(self.text)

    @property
    def value(self) -> str:
        """The content of a plain string."""
        return self.text[1:-1].replace("''", "'") if self.text.startswith("'") else ""

    def says(self, *words: str) -> bool:
        """Whether it is one of these words (in small letters) or signs, unquoted."""
        return self.kind in ("name", "symbol") and fold(self.text) in words


class Edit(NamedTuple):
    start: int
    end: int
    new: str


def tokens_of(text: str) -> list[Token]:
    """Without spaces and comments."""
    return [
        Token(str(found.lastgroup), found.group(), found.start())
        for found in _TOKEN.finditer(text)
        if found.lastgroup not in ("space", "comment")
    ]


def edited(text: str, edits: Iterable[Edit]) -> str:
    for edit in sorted(edits, reverse=True):
        text = text[: edit.start] + edit.new + text[edit.end :]
    return text


def spelled(name: str) -> str:
    """A name as it can be written in a query."""
    plain = _PLAIN.fullmatch(name) and fold(name) not in _RESERVED
    return name if plain else '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def without_end(tokens: Sequence[Token]) -> Sequence[Token]:
    """Without semicolons at the end."""
    last = len(tokens)
    while last and tokens[last - 1].says(";"):
        last -= 1
    return tokens[:last]


def statements(tokens: Sequence[Token]) -> list[Sequence[Token]]:
    """What stands between semicolons, where there is anything."""
    found: list[list[Token]] = [[]]
    for token in tokens:
        if token.says(";"):
            found.append([])
        else:
            found[-1].append(token)
    return [part for part in found if part]


def chain(tokens: Sequence[Token], at: int) -> Sequence[Token]:
    """The names of `a.b.c` from this token on."""
    end = at + 1
    while end + 1 < len(tokens) and tokens[end].says(".") and tokens[end + 1].is_name:
        end += 2
    return tokens[at:end:2]


def closing(tokens: Sequence[Token], opening: int) -> int | None:
    """Where the bracket that opens here is closed."""
    depth = 0
    for index in range(opening, len(tokens)):
        depth += tokens[index].says("(", "[", "{") - tokens[index].says(")", "]", "}")
        if depth == 0:
            return index
    return None


def depths(tokens: Sequence[Token]) -> list[int]:
    """How many brackets are open around each token."""
    made: list[int] = []
    depth = 0
    for token in tokens:
        depth -= token.says(")", "]", "}")
        made.append(depth)
        depth += token.says("(", "[", "{")
    return made
