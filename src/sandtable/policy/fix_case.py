"""A refusal with the text it is about: the input of the functions that suggest corrections."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher, get_close_matches
from functools import cached_property

from sandtable.catalog.model import Dataset
from sandtable.catalog.names import nearest
from sandtable.engines.rules import Functions
from sandtable.policy.names import fold
from sandtable.policy.tokens import Edit, Token, edited, tokens_of
from sandtable.policy.verdict import Refused

MOST_FIXES = 3


@dataclass(frozen=True)
class Case:
    text: str
    refused: Refused
    dataset: Dataset
    functions: Functions

    @cached_property
    def tokens(self) -> list[Token]:
        return tokens_of(self.text)

    @cached_property
    def at(self) -> int | None:
        """The token at the place of the refused construct."""
        place = self.refused.position
        return next((i for i, token in enumerate(self.tokens) if token.start == place), None)

    @cached_property
    def tables(self) -> dict[str, str]:
        return {fold(table.name): table.name for table in self.dataset.tables}

    def replaced(self, edits: Iterable[Edit]) -> str:
        return edited(self.text, edits)


def alike(name: str, known: Iterable[str], cutoff: float, spread: float = 0.2) -> list[str]:
    """The most similar known names, the nearest first, in their own spelling."""
    by_fold = {fold(k): k for k in known}
    first = nearest(name, by_fold.values())
    close = get_close_matches(fold(name), sorted(by_fold), n=MOST_FIXES, cutoff=cutoff)
    best = max((likeness(name, k) for k in close), default=0.0)
    near = [by_fold[k] for k in close if likeness(name, k) >= best - spread]
    ordered = [first, *near] if first else near
    return list(dict.fromkeys(ordered))[:MOST_FIXES]


def likeness(name: str, other: str) -> float:
    return SequenceMatcher(None, other, fold(name)).ratio()
