"""The clarifying question when no plan is likely and allowed: the reason, the words, and offers that have answers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from sandtable.planner.candidates.constructions.construction import Doubt
from sandtable.planner.candidates.grammar.interpret import Interpretation
from sandtable.planner.conscience import account, offers_at, reason_for, unclear_words
from sandtable.planner.conscience.abstain import suggest, unknown_reason
from sandtable.planner.language.fiscal import MENTION
from sandtable.planner.language.reading import Reading
from sandtable.planner.language.vocabulary import AGGREGATES, FILLER
from sandtable.planner.language.words import fold
from sandtable.planner.mentions.finding import look
from sandtable.planner.outcome import Understood, Unsure
from sandtable.planner.ranking.candidates import Field
from sandtable.planner.ranking.choosing import Weighed
from sandtable.planner.ranking.tables import best_table
from sandtable.planner.schema.defined import valid_plan
from sandtable.planner.schema.index import SchemaIndex
from sandtable.quoting import quote

THRESHOLD = 0.5
"""From this confidence on the grammar's plan is answered."""
BASE = 0.98
"""The grammar's highest confidence."""
NOTHING = "I could not find in this question what to show: name a column, a metric or something to count."
_MOST_TRIED = 4
"""Most offers that are tried: each costs as much as a question."""


def about_fiscal_years(question: str, index: SchemaIndex) -> str | None:
    """Why a question about fiscal years cannot be read: nothing says when they begin."""
    mention = MENTION.search(Reading.of(question).line)
    if mention is None or index.dataset.fiscal_month is not None or index.has_fiscal_name:
        return None
    said = mention.group().strip()
    if said in index.name_words or index.find_value(said) or index.values_with_word(said):
        return None
    return (
        f"I do not know when a fiscal year begins here, which {quote(said)} needs. Declare `fiscal_year_start` in the "
        "dataset's catalog, or name the months that are meant."
    )


def open_between(found: Doubt, question: str, index: SchemaIndex) -> Unsure:
    """Two readings that are equally near: both are offered."""
    names = [quote(name) for name in found.names]
    several = f"{', '.join(names[:-1])} or {names[-1]}"
    reason = f"It is open whether {quote(found.words)} means {several}. Which of them do you mean?"
    return unsure(reason, question, index, (found.words,), None, found.readings)


def unsure(
    reason: str,
    question: str,
    index: SchemaIndex,
    unknown: tuple[str, ...] = (),
    guess: Understood | None = None,
    nearer: Sequence[str] = (),
) -> Unsure:
    """A clarifying question; only offers that have an answer are made.

    `nearer` are offers that change the question at the word in doubt: up to two of them come first.
    """

    def answerable(offer: str) -> bool:
        best = best_table(offer, index, look(offer, index))
        understood = best is not None and best.plan is not None and not best.unknown
        if best is None or best.plan is None or not understood or best.draft.certainty * BASE < THRESHOLD:
            return False
        return valid_plan(best.plan, index) and account(offer, best.plan, index).clean

    tried = list(nearer)[:_MOST_TRIED]
    first = list(islice((offer for offer in tried if answerable(offer)), 2))
    others = (offer for offer in suggest(question, index) if offer not in first and answerable(offer))
    rest = list(islice(others, 1 if len(first) > 1 else 2 - len(first)))
    return Unsure(reason, unknown, (*first, *rest), guess)


def asked_about(
    question: str, index: SchemaIndex, best: Interpretation | None, among: Field, found: list[Weighed]
) -> Unsure:
    """The clarifying question when no plan is likely enough and allowed."""
    guess = None
    if found:
        guess = Understood(found[0].candidate.plan, round(found[0].probability, 4), found[0].candidate.used)
    unknown = tuple(word for word in among.unknown if not _is_of_questions(word))
    if unknown:
        return unsure(unknown_reason(unknown, index), question, index, unknown, guess)
    if found and found[0].account is None:
        unclear = found[0].candidate.account
        word = unclear_words(unclear, question)
        offers = offers_at(question, unclear, index)
        return unsure(reason_for(unclear), question, index, (word,) if word else (), guess, offers)
    if best is None or not found:
        return unsure(NOTHING, question, index, (), guess)
    return unsure(doubtful(best), question, index, (), guess)


def _is_of_questions(word: str) -> bool:
    """`average`, `rate`: a word that the planner knows is not reported as an unknown column."""
    lower = fold(word)
    return lower in FILLER or lower in AGGREGATES


def doubtful(best: Interpretation) -> str:
    worst = sorted(best.draft.doubts)[:2]
    why = "; ".join(reason for _, reason in worst)
    said = f": {why}" if why else ""
    return f"I am not sure enough what is meant{said}. Could you say it in other words?"
