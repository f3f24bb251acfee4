"""Question → plan, or a clarifying question. Pure and deterministic; no chat model, no clock, no network access."""

from __future__ import annotations

from dataclasses import replace

from sandtable.observing import timed_part
from sandtable.planner.candidates.constructions.construction import Doubt
from sandtable.planner.candidates.grammar.interpret import Interpretation
from sandtable.planner.candidates.network.fitting import beyond_sketches
from sandtable.planner.candidates.network.reader import Reader
from sandtable.planner.charting import Wish, drawn_as, is_about_chart, wish_alone, wish_in, without_wish
from sandtable.planner.conscience import account, offers_at, reason_for, unclear_words
from sandtable.planner.conscience.abstain import unknown_reason
from sandtable.planner.conscience.guards import stop
from sandtable.planner.dialogue import Followed, follow, is_fragment, points_back
from sandtable.planner.dialogue.soundness import misses_the_point, speaks_of_others
from sandtable.planner.mentions.correcting import corrected
from sandtable.planner.mentions.finding import look
from sandtable.planner.outcome import EarlierTurn, Outcome, Understood, Unsure
from sandtable.planner.ranking.asking import (
    BASE,
    NOTHING,
    THRESHOLD,
    about_fiscal_years,
    asked_about,
    doubtful,
    open_between,
    unsure,
)
from sandtable.planner.ranking.candidates import Candidate, Field
from sandtable.planner.ranking.choosing import answerable_account, weigh
from sandtable.planner.ranking.constructed import CERTAINTY, beside, instead
from sandtable.planner.ranking.conversation import as_answer, as_it_is, conversation_field, weigh_after
from sandtable.planner.ranking.offering import readings_to_offer
from sandtable.planner.ranking.renamed import by_real_names
from sandtable.planner.ranking.second_opinion import (
    as_understood,
    ask_lookup,
    better_guess,
    counts_rows,
    instead_of_nothing,
    weighed,
)
from sandtable.planner.ranking.tables import best_table
from sandtable.planner.ranking.weigher import the_weigher
from sandtable.planner.schema.defined import carrying, valid_plan, with_defined
from sandtable.planner.schema.entries import Json
from sandtable.planner.schema.index import SchemaIndex

LIKELY = 0.89
"""From this probability on a plan that the weigher chose is answered: the least at which 94 of 100 answers are right on
each of our own domains, Spider and WikiSQL, and 98 of 100 messages after an answer (`docs/reader.md`)."""
_NOT_FOLLOWED = (
    "I could not tell how this changes the answer before: name the column, value or time that is meant."
)
_UNANSWERED = "The message before had no answer that this could change. Please ask it as a whole question."
_FIRST = "There is no answer yet that this could change. Please ask it as a whole question."


def plan_question(
    question: str,
    index: SchemaIndex,
    before: EarlierTurn | None = None,
    *,
    defined: tuple[Json, ...] = (),
    threshold: float = THRESHOLD,
    reader: Reader | None = None,
) -> Outcome:
    """The plan that the question means, given the previous turn; Unsure with a reason below `threshold`.

    With a `reader`, its plans compete with those of the grammar and the lookup, and a learned weigher chooses; without
    one, only the grammar and the lookup are used.
    """
    if before is not None and "ties" in before.plan:
        before = replace(before, plan={k: v for k, v in before.plan.items() if k != "ties"})
    written = corrected(question, index)

    def planned(text: str) -> Outcome:
        return _planned(text, index, before, defined, threshold, reader)

    outcome = by_real_names(written.text, index, planned)
    if isinstance(outcome, Understood):
        return _with_ties(_with_remarks(outcome, written.remarks))
    choices = tuple(_with_ties(_with_remarks(each, written.remarks)) for each in outcome.choices)
    return replace(outcome, choices=choices)


def _with_remarks(understood: Understood, remarks: tuple[str, ...]) -> Understood:
    return replace(understood, used=(*understood.used, *remarks)) if remarks else understood


def _with_ties(understood: Understood) -> Understood:
    """The plan that shows the best row together with its ties."""
    plan = understood.plan
    if plan.get("limit") != 1 or "order_by" not in plan:
        return understood
    return replace(understood, plan={**plan, "ties": True})


def _planned(
    question: str,
    index: SchemaIndex,
    before: EarlierTurn | None,
    defined: tuple[Json, ...],
    threshold: float,
    reader: Reader | None,
) -> Outcome:
    stopped = stop(question, follows=before is not None)
    if stopped is not None:
        return unsure(stopped.reason, question, index)
    if (undeclared := about_fiscal_years(question, index)) is not None:
        return unsure(undeclared, question, index)
    if before is not None and not defined:
        defined = tuple(before.plan.get("define", ()))
    earlier = str(before.plan.get("table", "")) if before is not None else ""
    whole = with_defined(index, defined, f"{question} {earlier}") if defined else index
    wish = None if is_about_chart(question) else wish_in(question, whole)
    rest = without_wish(question, wish) if wish is not None else question
    outcome = _outcome(rest, whole, before, threshold, reader)
    if isinstance(outcome, Understood) and wish is not None:
        outcome = _drawn(outcome, wish)
    if isinstance(outcome, Understood) and not outcome.follow_up and (wish or outcome.account is None):
        outcome = _accounted(question, whole, None, outcome)
    if isinstance(outcome, Unsure) and outcome.choices:
        return replace(outcome, choices=_offered(outcome.choices, question, whole, wish, defined))
    if isinstance(outcome, Understood) and defined:
        plan = carrying(outcome.plan, defined)
        if not valid_plan(plan, index):
            return unsure(NOTHING, question, index)
        return replace(outcome, plan=plan)
    return outcome


def _drawn(understood: Understood, wish: Wish) -> Understood:
    remarks = (wish.remark,) if wish.remark else ()
    return replace(understood, plan=drawn_as(understood.plan, wish), used=(*understood.used, *remarks))


def _offered(
    choices: tuple[Understood, ...],
    question: str,
    index: SchemaIndex,
    wish: Wish | None,
    defined: tuple[Json, ...],
) -> tuple[Understood, ...]:
    """The choices with the chart that the question asks for and the definitions of the named tables."""
    made: list[Understood] = []
    for each in choices:
        if wish is not None:
            each = _drawn(each, wish)
            found = account(question, each.plan, index)
            likely = each.account is not None and bool(each.account.likely)
            answerable = answerable_account(Candidate(each.plan, found, place=0), index) if likely else None
            each = replace(each, account=answerable or found)
        made.append(replace(each, plan=carrying(each.plan, defined)) if defined else each)
    return tuple(each for each in made if valid_plan(each.plan, index))


def _accounted(
    question: str,
    index: SchemaIndex,
    before: EarlierTurn | None,
    understood: Understood,
    followed: Followed | None = None,
) -> Outcome:
    """The final check: where a plan leaves a word unbound, the user is asked about that word."""
    found = account(
        question,
        understood.plan,
        index,
        before.plan if before is not None else None,
        answered=followed.answered if followed is not None else frozenset(),
        asking=followed.asking if followed is not None else frozenset(),
    )
    if found.clean:
        return replace(understood, account=found)
    if understood.account is not None and understood.account.likely:
        likely = answerable_account(Candidate(understood.plan, found, place=0), index)
        if likely is not None:
            return replace(understood, account=likely)
    word = unclear_words(found, question)
    offers = offers_at(question, found, index)
    return unsure(reason_for(found), question, index, (word,) if word else (), understood, offers)


def _outcome(
    question: str, index: SchemaIndex, before: EarlierTurn | None, threshold: float, reader: Reader | None
) -> Outcome:
    answered = before is not None and bool(before.plan)
    if not answered and points_back(question, first=before is None):
        return unsure(_UNANSWERED if before is not None else _FIRST, question, index)
    best = best_table(question, index, look(question, index))
    special = instead(question, index)
    if isinstance(special, Doubt):
        return open_between(special, question, index)
    if before is not None and answered:
        alone = replace(best, plan=special, unknown=()) if best is not None and special is not None else best
        followed = follow(question, index, before, alone)
        if reader is not None and special is None and wish_alone(question, index) is None:
            return _continued(question, index, before, best, followed, threshold, reader)
        changed = _changed(question, index, before, followed, threshold) if followed is not None else None
        if (
            changed is not None
            and followed is not None
            and (isinstance(changed, Understood) or not followed.whole)
        ):
            return changed
    elif before is not None and best is not None and is_fragment(question, best.draft):
        return unsure(_UNANSWERED, question, index)
    if special is not None:
        return _constructed(special)
    if reader is not None:
        return _weighed(question, index, best, threshold, reader)
    return _read(question, index, best, threshold)


def _read(question: str, index: SchemaIndex, best: Interpretation | None, threshold: float) -> Outcome:
    """The grammar with the lookup; else a rule for what they cannot express."""
    judged = _judged(question, index, best, threshold)
    if isinstance(judged, Understood) and account(question, judged.plan, index).clean:
        return judged
    found = beside(question, index)
    if isinstance(found, Doubt):
        return open_between(found, question, index)
    return _constructed(found) if found is not None else judged


def _constructed(plan: Json) -> Understood:
    return Understood(plan, round(BASE * CERTAINTY, 4), ())


def _changed(
    question: str, index: SchemaIndex, before: EarlierTurn, followed: Followed, threshold: float
) -> Outcome:
    """The previous plan as the message changes it, or a clarifying question at the word that was not understood."""
    if followed.unknown:
        return unsure(unknown_reason(followed.unknown, index), question, index, followed.unknown)
    confidence = round(BASE * 0.95 * followed.certainty, 4)
    if followed.plan is None or not valid_plan(followed.plan, index) or confidence < threshold:
        return unsure(_NOT_FOLLOWED, question, index)
    missed = misses_the_point(question, followed.plan, before.plan, index)
    if missed is not None:
        return unsure(missed, question, index)
    understood = Understood(followed.plan, confidence, followed.used, follow_up=True)
    return _accounted(question, index, before, understood, followed)


def _continued(
    question: str,
    index: SchemaIndex,
    before: EarlierTurn,
    best: Interpretation | None,
    followed: Followed | None,
    threshold: float,
    reader: Reader,
) -> Outcome:
    """The likeliest plan for a message after an answer, or a clarifying question that offers the likely ones."""
    changed = _changed(question, index, before, followed, threshold) if followed is not None else None
    sure = followed is not None and followed.sure
    if isinstance(changed, Understood) and (sure or beyond_sketches(changed.plan)):
        return changed
    ruled = _by_rule(question, index, best, threshold) if followed is None else None
    if ruled is not None:
        return ruled
    among = conversation_field(question, index, before.plan, best, followed, reader)
    found = weigh_after(among, the_weigher())
    answerable = next((each for each in found if each.account is not None), None)
    least = max(threshold, LIKELY) if threshold > 0 else 0.0
    if answerable is not None and answerable.probability >= least:
        return as_answer(answerable, among)
    if followed is not None and (same := as_it_is(among)) is not None:
        return same
    choices = readings_to_offer(found, among)
    if followed is None:
        # It does not point back: read alone, it may be clearer.
        alone = _weighed(question, index, best, threshold, reader)
        if isinstance(alone, Understood):
            missed = speaks_of_others(question, alone.plan, before.plan)
            return alone if missed is None else replace(unsure(missed, question, index), choices=choices)
        return replace(alone, choices=choices or alone.choices)
    asked = changed if isinstance(changed, Unsure) else unsure(_NOT_FOLLOWED, question, index)
    return replace(asked, choices=choices)


def _judged(question: str, index: SchemaIndex, best: Interpretation | None, threshold: float) -> Outcome:
    lookup = ask_lookup(question, index)
    if lookup is not None and not valid_plan(lookup.plan, index):
        lookup = None
    understood: Understood | None = None
    unknown = best.unknown if best else ()
    if best is not None and best.plan is not None and valid_plan(best.plan, index):
        understood = Understood(best.plan, round(BASE * best.draft.certainty, 4), tuple(best.draft.used))
        if not unknown and understood.confidence >= threshold:
            understood = weighed(understood, lookup, index, question)
            if understood.confidence >= threshold:
                return understood
    rescued = instead_of_nothing(lookup, index)
    if rescued is not None and rescued.confidence >= threshold:
        if not (unknown and counts_rows(rescued.plan)):
            return rescued
        understood = rescued
    guess = better_guess(understood, lookup, index)
    if unknown:
        return unsure(unknown_reason(unknown, index), question, index, unknown, guess)
    if understood is None or best is None:
        return unsure(NOTHING, question, index, (), guess)
    return unsure(doubtful(best), question, index, (), guess)


def field_of(question: str, index: SchemaIndex, reader: Reader) -> Field | None:
    """Every candidate plan for a whole question; None where a rule answers it or leaves it open."""
    question = corrected(question, index).text
    if instead(question, index) is not None:
        return None
    best = best_table(question, index, look(question, index))
    return _field(question, index, best, reader) if _beside(question, index, best) is None else None


def _beside(question: str, index: SchemaIndex, best: Interpretation | None) -> Json | Doubt | None:
    """The plan or doubt of a rule, for a question that the grammar does not read word by word."""
    plan = best.plan if best is not None and not best.unknown else None
    if plan is not None and valid_plan(plan, index) and account(question, plan, index).clean:
        return None
    return beside(question, index)


@timed_part("candidates")
def _field(question: str, index: SchemaIndex, best: Interpretation | None, reader: Reader) -> Field:
    among = Field(question, index, unknown=best.unknown if best else ())
    among.add_read(reader.read(question, index))
    if best is not None and best.plan is not None:
        grammar = Understood(best.plan, round(BASE * best.draft.certainty, 4), tuple(best.draft.used))
        among.add_understood(grammar)
    lookup = ask_lookup(question, index)
    if lookup is not None:
        among.add_understood(as_understood(lookup, index), lookup=True)
    among.without_unasked_conditions()
    among.without_other_rows()
    among.without_other_days()
    return among


def _weighed(
    question: str, index: SchemaIndex, best: Interpretation | None, threshold: float, reader: Reader
) -> Outcome:
    """The likeliest of all proposed plans, if it is likely enough and the rules of `choosing` allow it."""
    ruled = _by_rule(question, index, best, threshold)
    if ruled is not None:
        return ruled
    among = _field(question, index, best, reader)
    found = weigh(among, the_weigher())
    answerable = next((each for each in found if each.account is not None), None)
    least = max(threshold, LIKELY) if threshold > 0 else 0.0
    if answerable is not None and answerable.probability >= least:
        chosen = answerable.candidate
        return Understood(
            chosen.plan, round(answerable.probability, 4), chosen.used, account=answerable.account
        )
    asked = asked_about(question, index, best, among, found)
    return replace(asked, choices=readings_to_offer(found, among))


def _by_rule(
    question: str, index: SchemaIndex, best: Interpretation | None, threshold: float
) -> Outcome | None:
    """The outcome of the grammar or a rule where no sketch can express the plan; None where candidates are weighed."""
    if best is not None and best.plan is not None and beyond_sketches(best.plan):
        judged = _read(question, index, best, threshold)
        if isinstance(judged, Understood) and account(question, judged.plan, index).clean:
            return judged
    built = _beside(question, index, best)
    if isinstance(built, Doubt):
        return open_between(built, question, index)
    return _constructed(built) if built is not None else None


__all__ = ["THRESHOLD", "EarlierTurn", "Outcome", "Understood", "Unsure", "plan_question"]
