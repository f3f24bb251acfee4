"""A message after an answer: every plan that it may mean, as a change of that answer or as a standalone question."""

from __future__ import annotations

from sandtable.observing import timed_part
from sandtable.planner.candidates.grammar.interpret import Interpretation
from sandtable.planner.candidates.network.reader import Reader
from sandtable.planner.dialogue import Followed
from sandtable.planner.dialogue.soundness import misses_the_point
from sandtable.planner.outcome import Understood
from sandtable.planner.ranking.candidates import Candidate, Field
from sandtable.planner.ranking.choosing import Weighed, weigh
from sandtable.planner.ranking.second_opinion import as_understood, ask_lookup
from sandtable.planner.ranking.weigher import Weigher
from sandtable.planner.schema.entries import Json
from sandtable.planner.schema.index import SchemaIndex

_SURE = 0.6


@timed_part("candidates")
def conversation_field(
    question: str,
    index: SchemaIndex,
    before: Json,
    best: Interpretation | None,
    followed: Followed | None,
    reader: Reader,
) -> Field:
    """`before` is the plan of the answer, `best` the grammar's reading of the message as a standalone question."""
    rule = 0.0 if followed is None else 0.5 if followed.plan is None else 1.0
    among = Field(question, index, before=before, rule=rule)
    among.add_read(reader.read(question, index, before))
    among.without_the_answer_before()
    if followed is not None and followed.plan is not None and not followed.unknown:
        among.add_followed(followed, followed.plan)
    among.without_unasked_conditions()
    among.without_other_rows()
    if followed is not None and not followed.whole:
        return among
    if best is not None and best.plan is not None and not best.unknown:
        among.add_understood(Understood(best.plan, best.draft.certainty, tuple(best.draft.used)))
    lookup = ask_lookup(question, index)
    if lookup is not None:
        among.add_understood(as_understood(lookup, index), lookup=True)
    return among


def weigh_after(among: Field, weigher: Weigher) -> list[Weighed]:
    """All candidates, the likeliest first, without those that change the answer into one that misses the point."""
    return [each for each in weigh(among, weigher) if not _misses(each.candidate, among)]


def as_it_is(among: Field) -> Understood | None:
    """`sort it, highest first` of what is sorted so: the answer again, if the network is sure and each word fits it."""
    same = among.repeated
    if same is None or among.before is None or same.likelihood < _SURE or not same.account.clean:
        return None
    if not any(part.words for part in same.account.parts):
        return None
    return Understood(
        among.before, round(same.likelihood, 4), ("it is so already",), follow_up=True, account=same.account
    )


def as_answer(chosen: Weighed, among: Field) -> Understood:
    """The answer; one that follows from the previous answer is drawn as that was."""
    candidate = chosen.candidate
    follows, plan = _keeps(candidate, among), candidate.plan
    if follows and among.before is not None and "chart" in among.before and "chart" not in plan:
        plan = {**plan, "chart": among.before["chart"]}
    return Understood(
        plan, round(chosen.probability, 4), candidate.used, follow_up=follows, account=chosen.account
    )


def _keeps(candidate: Candidate, among: Field) -> bool:
    """Whether a condition, window, group or measure of the previous plan is in the candidate: it follows from it."""
    telling = {(part.kind, part.label) for part in candidate.account.parts if part.kind != "shape"}
    return bool(telling & among.earlier)


def _misses(candidate: Candidate, among: Field) -> bool:
    if among.before is None or not _keeps(candidate, among):
        return False
    if among.is_answered(candidate.plan):
        return True
    return misses_the_point(among.question, candidate.plan, among.before, among.index) is not None
