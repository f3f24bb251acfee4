"""Which of the weighed readings a clarifying question offers for a person to choose from.

Invariant: pure. What is offered is valid for the dataset. A plan that leaves out a negation, comparison, number, unit,
superlative, time or quoted value of the question, that adds a time or a limit, or that adds up codes, is never offered:
its label would look like the answer to the question. Readings that may be answered come first.
"""

from __future__ import annotations

from sandtable.planner.conscience import known_pieces
from sandtable.planner.conscience.pieces import adds_codes
from sandtable.planner.outcome import Understood
from sandtable.planner.ranking.candidates import Candidate, Field
from sandtable.planner.ranking.choosing import Weighed
from sandtable.planner.schema.index import SchemaIndex

MOST = 6
"""More than are shown: of those that have the same words only the first is."""
LEAST = 0.08
"""From this probability on a reading is offered."""
_NOTHING = 0.5
"""Above this probability that the dataset does not answer the question, no reading is offered."""
_MAY_BE_LEFT_OUT = frozenset({"content", "aggregate", "chart"})
_NEVER_ADDED = frozenset({"when", "limit"})


def readings_to_offer(found: list[Weighed], among: Field) -> tuple[Understood, ...]:
    """`found` are all candidates, the likeliest first; no two of them compute the same."""
    if among.nothing > _NOTHING:
        return ()
    likely = [each for each in found if each.probability >= LEAST]
    answerable = [each for each in likely if each.account is not None]
    others = [each for each in likely if each.account is None and _is_harmless(each.candidate, among.index)]
    return tuple(_as_understood(each) for each in (*answerable, *others)[:MOST])


def _is_harmless(candidate: Candidate, index: SchemaIndex) -> bool:
    """Whether its label and the words that it leaves out say all of how it differs from the question."""
    found = candidate.account
    return (
        all(word.kind in _MAY_BE_LEFT_OUT for word in found.unbound)
        and all(part.kind not in _NEVER_ADDED for part in found.unasked)
        and not any(adds_codes(piece) for piece in known_pieces(candidate.plan, index))
    )


def _as_understood(found: Weighed) -> Understood:
    chosen = found.candidate
    return Understood(
        chosen.plan, round(found.probability, 4), chosen.used, account=found.account or chosen.account
    )
