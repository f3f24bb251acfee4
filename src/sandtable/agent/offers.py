"""A question back that offers readings: each is a plan with words for what it computes, and a person chooses one.

Invariant: pure. What is offered fits the dataset, and no two offers of a question have the same label. An offer that
is taken is known by its plan: only a plan that this thread was offered runs as the built-in reader's, or as that of
the proposer whose plan it corrects.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from sandtable.agent.named import Definitions, complete
from sandtable.agent.proposer import AskBack, Exchange, PlanProposal
from sandtable.agent.read_as.model import Aligned, Offered
from sandtable.agent.replies import prompts_of
from sandtable.agent.state import ClosingMessage, TurnNotes
from sandtable.capsule.trust import BUILTIN, READER
from sandtable.catalog.model import Dataset
from sandtable.plan.lookup import Correction
from sandtable.quoting import in_markdown
from sandtable.runs.empty_sql import SqlCorrection
from sandtable.wording.emptiness import corrected_conditions
from sandtable.wording.phrases import words
from sandtable.wording.titles import title_of

MOST = 3
MOST_VALUES = 5
_ANY_ROWS = 1_000_000_000
"""A title names a limit where it may have cut rows; before the run it may."""
_PLACES = ("first", "second", "third", "fourth", "fifth")
_PICK = re.compile(
    r"(?:(?:i mean|i meant|take|choose|pick)\s+)?(?:the\s+)?(?:number\s+|option\s+|choice\s+|#)?"
    rf"(?P<place>[1-{len(_PLACES)}]|{'|'.join(_PLACES)})(?:\s+one|\s+reading)?(?:[,\s]+please)?"
)
_YES = re.compile(r"(?:yes|y|yep|yeah|right|exactly)(?:[,\s]+please)?")


def asked_back(what: AskBack, dataset: Dataset, defined: Definitions) -> ClosingMessage:
    """The reason, the readings that may be chosen, and questions that could be asked instead."""
    offers = offers_of(what.choices, dataset, defined)
    return _asked(what.reason, offers, list(what.suggestions) or ([] if offers else prompts_of(dataset)[:2]))


def asked_about_values(
    reason: str, found: Sequence[Correction | SqlCorrection], turn: TurnNotes, run_ids: Sequence[str]
) -> ClosingMessage:
    """The plans, or the SQL, with other values that may be chosen for one whose values are in no row."""
    kept, origin = turn.get("alignment"), turn.get("origin")
    made: dict[str, Offered] = {}
    for correction in found:
        label = corrected_conditions(correction.changes)
        offer = Offered(
            label=label,
            message=f"Read it as “{label}”",
            plan=correction.plan if isinstance(correction, Correction) else None,
            sql=correction.sql if isinstance(correction, SqlCorrection) else None,
            alignment=Aligned.model_validate(kept) if kept else _unaligned(turn),
            used=tuple(turn.get("used") or ()),
            # The built-in planner's name stands for plans whose every part is in the words.
            proposer=None if origin in (BUILTIN, READER) else origin or "",
        )
        made.setdefault(label, offer)
    said = _asked(reason, tuple(made.values())[:MOST_VALUES], [])
    if run_ids:
        said["run_ids"] = list(run_ids)
    return said


def _unaligned(turn: TurnNotes) -> Aligned | None:
    return Aligned(question=turn.get("question", "")) if turn.get("origin") else None


def _asked(reason: str, offers: Sequence[Offered], nearest: list[str]) -> ClosingMessage:
    paragraphs = [in_markdown(reason)]
    if offers:
        lead = "Which of these do you mean?" if len(offers) > 1 else "Do you mean this?"
        listed = (f"{place}. {in_markdown(offer.label)}" for place, offer in enumerate(offers, start=1))
        paragraphs.append("\n".join((lead, *listed)))
    if nearest:
        paragraphs.append("\n".join(("You could ask:", *(f"- {in_markdown(text)}" for text in nearest))))
    said = ClosingMessage(text="\n\n".join(paragraphs), ending="asked", suggestions=nearest)
    if offers:
        said["choices"] = [offer.model_dump(mode="json") for offer in offers]
    return said


def offers_of(
    choices: Sequence[PlanProposal], dataset: Dataset, defined: Definitions = ()
) -> tuple[Offered, ...]:
    """The first few whose labels differ."""
    made: dict[str, Offered] = {}
    for label, plan, alignment, choice in _labelled(choices, dataset, defined):
        made.setdefault(
            label,
            Offered(
                label=label,
                message=f"Read it as “{label}”",
                plan=plan,
                alignment=alignment,
                used=choice.used,
                confidence=choice.confidence,
            ),
        )
    return tuple(made.values())[:MOST]


def _labelled(
    choices: Sequence[PlanProposal], dataset: Dataset, defined: Definitions
) -> Iterator[tuple[str, dict[str, Any], Aligned, PlanProposal]]:
    plans = [complete(choice.plan, dataset.id, defined) for choice in choices]
    titles = [title_of(plan, dataset, _ANY_ROWS) for plan in plans]
    tables: dict[str, set[str]] = {}
    for title, plan in zip(titles, plans, strict=True):
        tables.setdefault(title, set()).add(str(plan.get("table", "")))
    for title, plan, choice in zip(titles, plans, choices, strict=True):
        if not title or choice.alignment is None:
            continue
        # The same words over the rows of another table may give other numbers.
        label = f"{title}, over {words(str(plan.get('table', '')))}" if len(tables[title]) > 1 else title
        left_out = ", ".join(f"“{each.text}”" for each in choice.alignment.unread)
        yield f"{label} (leaves out {left_out})" if left_out else label, plan, choice.alignment, choice


def taken_offer(
    text: str, plan: dict[str, Any] | None, history: tuple[Exchange, ...]
) -> tuple[str, Offered] | None:
    """The question and the reading that a message takes: by its plan, or by its number or its label.

    Without a plan, an offer of the question back that came last is meant, or an older one of SQL by its message. With a
    plan, the message of an older offer must come along: a choice of a part may have the same plan, and is the person's
    own.
    """
    said, last = _bare(text), history[-1] if history else None
    for each in reversed(history):
        for place, offer in enumerate(each.choices):
            named = said in (_bare(offer.label), _bare(offer.message))
            if plan is None and each is last:
                taken = named or place == _place(said, len(each.choices))
            elif plan is None:
                taken = offer.sql is not None and said == _bare(offer.message)
            else:
                taken = offer.plan == plan and (named or each is last)
            if taken:
                return each.question, offer
    return None


def _place(said: str, offered: int) -> int | None:
    """Counted from 0."""
    if offered == 1 and _YES.fullmatch(said):
        return 0
    found = _PICK.fullmatch(said)
    if found is None:
        return None
    place = found["place"]
    return _PLACES.index(place) if place in _PLACES else int(place) - 1


def _bare(text: str) -> str:
    return " ".join(text.split()).casefold().strip(" .!?()\"'“”")
