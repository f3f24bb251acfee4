"""Calls the proposer. The result is a proposal or a tool call, and is checked as untrusted text."""

from __future__ import annotations

from dataclasses import replace

from sandtable.agent.builtin import NAME
from sandtable.agent.events import Thought
from sandtable.agent.looking import offered
from sandtable.agent.markdown import sentence
from sandtable.agent.means import Means
from sandtable.agent.model_trouble import ModelTrouble
from sandtable.agent.named import Definitions
from sandtable.agent.nodes.classify import failed
from sandtable.agent.nodes.place import Config, dataset_of
from sandtable.agent.offers import asked_back
from sandtable.agent.proposer import (
    AnalysisProposal,
    AskBack,
    Asked,
    Final,
    PlanProposal,
    Proposal,
    Proposer,
    SqlProposal,
    Talk,
    ToolCall,
)
from sandtable.agent.replies import needs_python, not_understood, words_of
from sandtable.agent.state import (
    ClosingMessage,
    State,
    TurnNotes,
    added,
    attempts_of,
    changed,
    defined_of,
    exchanges_of,
    looks_of,
    turn_of,
)
from sandtable.agent.streaming import emit, outside_stream
from sandtable.capsule.trust import READER
from sandtable.catalog.model import Dataset
from sandtable.errors import ErrorCode, Problem, SandtableError
from sandtable.quoting import in_markdown, inert

_WITHOUT_PYTHON = "Answered with a plan, without Python"


async def propose(means: Means, state: State, config: Config) -> State:
    turn = turn_of(state)
    emit(Thought(text="Trying again…" if turn.get("attempts") else "Planning…"))
    try:
        dataset = await dataset_of(means, state, config)
        asked = await hinted(means, await asked_of(means, state, dataset))
    except SandtableError as error:
        return State(turn=changed(turn, TurnNotes(said=failed(error))))
    try:
        proposed = await outside_stream(means.proposer.propose(asked), means.observer.tracer)
    except SandtableError as error:
        return State(turn=changed(turn, await without_model(means, turn, asked, error)))
    origin = _origin(means.proposer, proposed.what, turn)
    changes = TurnNotes(usage=added(turn.get("usage"), proposed.usage), origin=origin)
    what = proposed.what if means.proposer.name == NAME else _checked(proposed.what, turn, dataset)
    if isinstance(what, ToolCall):
        spent = proposed.usage.latency_ms / 1000
        changes["look"] = {"tool": what.tool, "arguments": what.arguments, "model_s": spent}
    else:
        changes.update(_taken(means, what, turn, dataset, asked.defined))
    return State(turn=changed(turn, changes))


async def asked_of(means: Means, state: State, dataset: Dataset) -> Asked:
    turn = turn_of(state)
    return Asked(
        question=turn.get("question", ""),
        dataset=dataset,
        profile=await means.datasets.profile(dataset),
        history=() if turn.get("alone") else exchanges_of(state),
        attempts=attempts_of(turn),
        defined=defined_of(state),
        wants_sql=bool(turn.get("wants_sql")),
        python=means.analyses,
        tools=_tools(means, turn),
        looks=looks_of(turn),
        spent_s=sum(each["model_s"] for each in turn.get("looks") or ()),
    )


def _tools(means: Means, turn: TurnNotes) -> tuple[str, ...]:
    if means.looking is None:
        return ()
    gave = [each["gave"] for each in turn.get("looks") or ()]
    return offered(means.looking, gave, approval=means.approval != "off", python=means.python)


async def hinted(means: Means, asked: Asked) -> Asked:
    """With what the built-in planner makes of the question, where a chat model proposes."""
    return asked if means.hint is None else replace(asked, hints=await means.hint(asked))


async def without_model(means: Means, turn: TurnNotes, asked: Asked, trouble: SandtableError) -> TurnNotes:
    """The built-in planner's plan and a note on why it is its; the trouble where it has none."""
    if means.planner is None or not isinstance(trouble, ModelTrouble):
        return TurnNotes(said=failed(trouble))
    # What the model tried before is no attempt of the planner's.
    proposed = await outside_stream(means.planner.propose(replace(asked, attempts=())), means.observer.tracer)
    if not isinstance(proposed.what, PlanProposal):
        return TurnNotes(said=_unanswered(trouble, proposed.what))
    note = sentence(f"the built-in planner answered this, because {inert(trouble.model)} {trouble.in_short}")
    note = f"{note} {in_markdown(trouble.suggestion)}".strip()
    emit(Thought(text=note))
    taken = _taken(means, proposed.what, turn, asked.dataset, asked.defined)
    origin = _origin(means.planner, proposed.what, turn)
    ours = TurnNotes(origin=origin, note=note, attempts=[], usage=added(None, proposed.usage))
    return changed(taken, ours)


async def instead_of_refused(means: Means, turn: TurnNotes, asked: Asked, problem: Problem) -> TurnNotes:
    """What the built-in planner makes of a question for which the model had no plan that fits."""
    assert means.planner is not None
    proposed = await outside_stream(means.planner.propose(replace(asked, attempts=())), means.observer.tracer)
    if isinstance(proposed.what, PlanProposal):
        model = inert(turn.get("origin", ""))
        note = sentence(f"the built-in planner answered this, because {model} proposed no plan that fits")
        emit(Thought(text=note))
        origin = _origin(means.planner, proposed.what, turn)
        ours = TurnNotes(origin=origin, note=note, attempts=[], usage=added(None, proposed.usage))
        return changed(_taken(means, proposed.what, turn, asked.dataset, asked.defined), ours)
    why = f"I found no query that answers this: {problem.message}."
    what = proposed.what if isinstance(proposed.what, AskBack) else AskBack("")
    return TurnNotes(
        said=asked_back(replace(what, reason=f"{why} {what.reason}".strip()), asked.dataset, asked.defined)
    )


def _origin(proposer: Proposer, what: Proposal, turn: TurnNotes) -> str:
    """Who is recorded for what will run. After a question back that is the last attempt, by its own proposer."""
    if isinstance(what, PlanProposal):
        return READER if what.alignment is not None and what.alignment.likely else proposer.name
    return turn.get("origin") or proposer.name


def _unanswered(trouble: ModelTrouble, what: Proposal) -> ClosingMessage:
    if not isinstance(what, AskBack):
        return failed(trouble)
    said = failed_and(trouble, f"The built-in planner could not answer it either. {sentence(what.reason)}")
    said["suggestions"] = list(what.suggestions)
    return said


def failed_and(error: SandtableError, further: str) -> ClosingMessage:
    """The error in words, and a further sentence, also for clients that show the problem instead of the text."""
    said, problem = failed(error), error.problem
    said["text"] = f"{said.get('text', '')}\n\n{in_markdown(further)}"
    whole = {"suggestion": f"{sentence(problem.suggestion)} {further}".strip()}
    said["problem"] = problem.model_copy(update=whole).model_dump(mode="json")
    return said


def _taken(means: Means, what: Final, turn: TurnNotes, dataset: Dataset, defined: Definitions) -> TurnNotes:
    match what:
        case AnalysisProposal() if means.analyses:
            return TurnNotes(analyse=True)
        case AnalysisProposal():
            return TurnNotes(said=needs_python(dataset, model=means.coder is not None, python=means.python))
        case AskBack() if turn.get("wants_python") and not turn.get("attempts"):
            return TurnNotes(said=needs_python(dataset, model=means.coder is not None, python=means.python))
        case PlanProposal(plan, used, confidence, alignment):
            used = (*used, _WITHOUT_PYTHON) if turn.get("wants_python") else used
            return TurnNotes(
                plan=plan,
                sql=None,
                used=list(used),
                confidence=confidence,
                alignment=alignment.model_dump(mode="json") if alignment else None,
                problem=None,
                run_ids=[],
            )
        case SqlProposal(sql):
            return TurnNotes(plan=None, sql=sql, used=[], confidence=None, problem=None, run_ids=[])
        case AskBack() if _asks_about_a_refused_plan(means, turn):
            return TurnNotes(said=asked_back(what, dataset, defined))
        case AskBack() | Talk() if turn.get("attempts"):
            # No better proposal: the last attempt stands, and its refusal is reported.
            return TurnNotes(given_up=True)
        case AskBack():
            return TurnNotes(said=asked_back(what, dataset, defined))
        case Talk(text):
            return TurnNotes(said=ClosingMessage(text=in_markdown(text), ending="conversed"))


def _asks_about_a_refused_plan(means: Means, turn: TurnNotes) -> bool:
    """A model that found out what is missing may say so. What the gate refused or a sandbox ran stays on record."""
    attempts = turn.get("attempts") or ()
    return (
        bool(attempts)
        and means.proposer.name != NAME
        and not turn.get("run_ids")
        and all(
            each["plan"] is not None and each["problem"]["code"] == ErrorCode.VALIDATION_ERROR
            for each in attempts
        )
    )


def _checked(what: Proposal, turn: TurnNotes, dataset: Dataset) -> Proposal:
    """A model's text that no run supports is labelled, or replaced by ours."""
    from sandtable.agent.grounding import own_words, suggestion_or_none  # only for a chat model's text

    known = f"{turn.get('asked', '')}\n{words_of(dataset)}"
    match what:
        case Talk(text):
            said = own_words(text, known)
            return Talk(said) if said else AskBack(not_understood(dataset))
        case AskBack(reason, suggestions):
            said = own_words(reason, known) or not_understood(dataset)
            kept = (suggestion_or_none(text, known) for text in suggestions)
            return AskBack(said, tuple(text for text in kept if text))
        case _:
            return what


def after_propose(state: State) -> str:
    turn = turn_of(state)
    if turn.get("look"):
        return "look"
    if turn.get("said"):
        return "converse"
    if turn.get("analyse"):
        return "plan_steps"
    if turn.get("given_up"):
        return "answer" if turn.get("run_ids") else "run"
    return "validate"
