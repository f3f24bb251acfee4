"""Whether a text that a chat model wrote about a result may be said: only if the rows say the same.

A closed world instead of lists of what is forbidden: a text is read as statements in a small English (`lexicon`,
`reading`, `grammar`), and each statement is held against the rows (`truth`). A word that is not known, a sentence of
another form, another language, markup: not said. Invariant: a text wrongly refused costs nothing, because the plain
sentence is said instead; a text wrongly said is the worst failure there is.
"""

from sandtable.agent.grounding.facts import Facts, facts_of, printed_facts
from sandtable.agent.grounding.said import grounded, sentence_grounded
from sandtable.agent.grounding.unrun import own_words, suggestion_or_none

__all__ = [
    "Facts",
    "facts_of",
    "grounded",
    "own_words",
    "printed_facts",
    "sentence_grounded",
    "suggestion_or_none",
]
