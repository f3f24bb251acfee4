"""Question → plan, or an honest question back. Pure and deterministic; no model, no clock, no network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sandtable.errors import InvalidInput
from sandtable.plan.validate import check_plan, parse_plan
from sandtable.planner.abstain import unknown_reason, unsure
from sandtable.planner.charting import Wish, drawn_as, is_about_chart, wish_in, without_wish
from sandtable.planner.conscience import account, blamed_word, offers_at, reason_for
from sandtable.planner.defined import carrying, with_defined
from sandtable.planner.dialogue import Followed, follow, is_fragment, points_back
from sandtable.planner.draft import Draft, Json
from sandtable.planner.guards import stop
from sandtable.planner.index import SchemaIndex
from sandtable.planner.interpret import Interpretation, interpret
from sandtable.planner.linking import Found, look
from sandtable.planner.outcome import Outcome, Turn, Understood, Unsure
from sandtable.planner.second_opinion import (
    ask_lookup,
    better_guess,
    counts_rows,
    instead_of_nothing,
    weighed,
)

THRESHOLD = 0.5
MOST_TABLES = 12
_BASE = 0.98
_NOT_FOLLOWED = (
    "I could not tell how this changes the answer before: name the column, value or time that is meant."
)
_UNANSWERED = "The message before had no answer that this could change. Please ask it as a whole question."
_FIRST = "There is no answer yet that this could change. Please ask it as a whole question."
_NOTHING = "I could not find in this question what to show: name a column, a metric or something to count."


def plan_question(
    question: str,
    index: SchemaIndex,
    before: Turn | None = None,
    *,
    defined: tuple[Json, ...] = (),
    threshold: float = THRESHOLD,
) -> Outcome:
    """The plan that the question means, given the turn before; Unsure with a reason below `threshold`."""
    stopped = stop(question, follows=before is not None)
    if stopped is not None:
        return _unsure(stopped.reason, question, index)
    if before is not None and not defined:
        defined = tuple(before.plan.get("define", ()))
    earlier = str(before.plan.get("table", "")) if before is not None else ""
    whole = with_defined(index, defined, f"{question} {earlier}") if defined else index
    wish = None if is_about_chart(question) else wish_in(question, whole)
    rest = without_wish(question, wish) if wish is not None else question
    outcome = _outcome(rest, whole, before, threshold)
    if isinstance(outcome, Understood) and wish is not None:
        outcome = _drawn(outcome, wish)
    if isinstance(outcome, Understood) and not outcome.follow_up:
        outcome = _accounted(question, whole, None, outcome)
    if isinstance(outcome, Understood) and defined:
        plan = carrying(outcome.plan, defined)
        if not valid_plan(plan, index):
            return _unsure(_NOTHING, question, index)
        return replace(outcome, plan=plan)
    return outcome


def _drawn(understood: Understood, wish: Wish) -> Understood:
    remarks = (wish.remark,) if wish.remark else ()
    return replace(understood, plan=drawn_as(understood.plan, wish), used=(*understood.used, *remarks))


def _accounted(
    question: str,
    index: SchemaIndex,
    before: Turn | None,
    understood: Understood,
    followed: Followed | None = None,
) -> Outcome:
    """The last word: a plan that does not account for every word is asked about at that word."""
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
    word = blamed_word(found)
    offers = offers_at(question, found, index)
    return _unsure(reason_for(found), question, index, (word,) if word else (), understood, offers)


def _outcome(question: str, index: SchemaIndex, before: Turn | None, threshold: float) -> Outcome:
    answered = before is not None and bool(before.plan)
    if not answered and points_back(question, first=before is None):
        return _unsure(_UNANSWERED if before is not None else _FIRST, question, index)
    best = _best(question, index, look(question, index))
    if before is not None and answered:
        followed = follow(question, index, before, best)
        changed = _changed(question, index, before, followed, threshold) if followed is not None else None
        if (
            changed is not None
            and followed is not None
            and (isinstance(changed, Understood) or not followed.whole)
        ):
            return changed
    elif before is not None and best is not None and is_fragment(question, best.draft):
        return _unsure(_UNANSWERED, question, index)
    return _judged(question, index, best, threshold)


def _changed(
    question: str, index: SchemaIndex, before: Turn, followed: Followed, threshold: float
) -> Outcome:
    """The plan before as the message changes it, or a question back at the word that was not understood."""
    if followed.unknown:
        return _unsure(unknown_reason(followed.unknown, index), question, index, followed.unknown)
    confidence = round(_BASE * 0.95 * followed.certainty, 4)
    if followed.plan is None or not valid_plan(followed.plan, index) or confidence < threshold:
        return _unsure(_NOT_FOLLOWED, question, index)
    understood = Understood(followed.plan, confidence, followed.used, follow_up=True)
    return _accounted(question, index, before, understood, followed)


def _unsure(
    reason: str,
    question: str,
    index: SchemaIndex,
    unknown: tuple[str, ...] = (),
    guess: Understood | None = None,
    offers: Sequence[str] = (),
) -> Unsure:
    def answerable(offer: str) -> bool:
        best = _best(offer, index, look(offer, index))
        understood = best is not None and best.plan is not None and not best.unknown
        if best is None or best.plan is None or not understood or best.draft.certainty * _BASE < THRESHOLD:
            return False
        return valid_plan(best.plan, index) and account(offer, best.plan, index).clean

    return unsure(reason, question, index, unknown, guess, answerable=answerable, nearer=offers)


def _best(question: str, index: SchemaIndex, found: Found) -> Interpretation | None:
    """The table from which the question makes most sense."""
    read = [interpret(question, index, home, found) for home in index.tables[:MOST_TABLES]]
    read.sort(key=lambda r: _merit(r, index), reverse=True)
    valid = (r for r in read if r.plan is not None and valid_plan(r.plan, index))
    return next(valid, read[0] if read else None)


def _merit(read: Interpretation, index: SchemaIndex) -> tuple[float, float]:
    draft = read.draft
    own = 0.0
    for spot in draft.spots:
        column = spot.column
        if spot.table is not None:
            own += 0.6 if spot.table.name == draft.home.name else -0.1
        elif column is not None:
            said = spot.columns[0].coverage if spot.columns else 1.0
            near = column.table == draft.home.name
            own += 0.2 * said if near else -0.1 * draft.reach.get(column.table, 1)
        elif spot.metric is not None:
            own += 0.3
    if draft.bucket is not None or draft.time is not None:
        own += _time_merit(draft)
    place = next(i for i, t in enumerate(index.tables) if t.name == draft.home.name)
    return (round(draft.certainty + 0.3 * own, 6) - 1.5 * len(read.unknown), -place)


def _time_merit(draft: Draft) -> float:
    """Time is best told by a table's own time column."""
    if draft.bucket_column is not None:
        return 0.5 if draft.bucket_column.name == draft.home.time_column else -0.5
    column = str((draft.time or {}).get("column", ""))
    if column in {"", draft.home.time_column}:
        return 0.5 if draft.home.time_column else -0.5
    said = any(s.column is not None and s.column.name == column for s in draft.spots)
    return 0.2 if draft.home.column(column) and (said or draft.home.time_column) else -0.3


def valid_plan(plan: Json, index: SchemaIndex) -> bool:
    if index.dataset.table(str(plan["table"])) is None and "define" not in plan:
        # A named table: its definition is added, and the whole judged, when the plan is handed out.
        return index.table(str(plan["table"])) is not None
    try:
        return not check_plan(parse_plan(plan), index.dataset)
    except InvalidInput:
        return False


def _judged(question: str, index: SchemaIndex, best: Interpretation | None, threshold: float) -> Outcome:
    lookup = ask_lookup(question, index)
    if lookup is not None and not valid_plan(lookup.plan, index):
        lookup = None
    understood: Understood | None = None
    unknown = best.unknown if best else ()
    if best is not None and best.plan is not None and valid_plan(best.plan, index):
        understood = Understood(best.plan, round(_BASE * best.draft.certainty, 4), tuple(best.draft.used))
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
        return _unsure(unknown_reason(unknown, index), question, index, unknown, guess)
    if understood is None or best is None:
        return _unsure(_NOTHING, question, index, (), guess)
    return _unsure(_doubtful(best), question, index, (), guess)


def _doubtful(best: Interpretation) -> str:
    worst = sorted(best.draft.doubts)[:2]
    why = "; ".join(reason for _, reason in worst)
    return f"I am not sure enough what is meant: {why}. Could you say it in other words?"


__all__ = ["THRESHOLD", "Outcome", "Turn", "Understood", "Unsure", "plan_question"]
