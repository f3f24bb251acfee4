"""Which stems people use for each other: `related("client")` holds `customer`."""

from __future__ import annotations

from collections import defaultdict

from sandtable.planner.language.lexicon import SYNONYM_GROUPS
from sandtable.planner.language.words import stem


def _pairs() -> dict[str, frozenset[str]]:
    together: defaultdict[str, set[str]] = defaultdict(set)
    for group in SYNONYM_GROUPS:
        stems = [stem(word) for word in group]
        # The first word is the head: the others stand for it and it for them, not for each other.
        for other in stems[1:]:
            together[stems[0]].add(other)
            together[other].add(stems[0])
    return {word: frozenset(others - {word}) for word, others in together.items()}


_RELATED = _pairs()
_NONE: frozenset[str] = frozenset()


def related(word_stem: str) -> frozenset[str]:
    """Stems that may stand for this one."""
    return _RELATED.get(word_stem, _NONE)
