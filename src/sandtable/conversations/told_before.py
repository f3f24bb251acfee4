"""Exchanges of another system, before the first message of a thread: context for a model.

Invariant: no run proves them, so the thread's own record leaves them out and no number is taken from them.
"""

from __future__ import annotations

from collections.abc import Iterable

from sandtable.agent.proposer import Exchange
from sandtable.conversations.text import clean


def exchanges_before(told: Iterable[tuple[bool, str]], question: str) -> tuple[Exchange, ...]:
    """`told` says of each message, oldest first, whether the person wrote it, and its text."""
    said = [(asks, clean(text)) for asks, text in told if text.strip()]
    if said and said[-1] == (True, question):
        # Some clients include the current question in the history.
        said.pop()
    made: list[tuple[str, list[str]]] = []
    for asks, text in said:
        if asks or not made:
            made.append((text if asks else "", []))
        if not asks:
            made[-1][1].append(text)
    return tuple(Exchange(asked, "\n\n".join(answers), "conversed") for asked, answers in made)
