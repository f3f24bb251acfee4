"""Ends every answer: adds the message and its record, and clears the notes for the next question."""

from __future__ import annotations

from typing import Any

from sandtable.agent.events import EVENT
from sandtable.agent.outlet import outlet
from sandtable.agent.proposer import Exchange
from sandtable.agent.read_as.model import Offer
from sandtable.agent.state import (
    ClosingMessage,
    State,
    TurnNotes,
    look_runs,
    pending_of,
    turn_of,
    with_exchange,
)
from sandtable.agent.streaming import emit, stream_message

DONE = ""
"""In place of the next node's name: the turn has ended."""
MOST_DETAILED = 8
"""Answers of a thread whose rows and figure the state keeps; older ones keep the id to read them by."""
_HEAVY = ("rows", "figure", "plan", "read_as", "logs", "stats", "steps", "artifacts")


async def end_turn(state: State, said: ClosingMessage, exchange: Exchange) -> tuple[State, str]:
    """The change of the state, and the id of the answer's message."""
    about: dict[str, Any] = {
        "ending": said.get("ending", "conversed"),
        "run_ids": _runs_of(state, said),
        "suggestions": said.get("suggestions") or [],
        "problem": said.get("problem"),
    }
    if choices := said.get("choices"):
        about["choices"] = [{field: each[field] for field in Offer.model_fields} for each in choices]
    remaining = len(pending_of(state))
    if remaining:
        about["remaining"] = remaining
    text = said.get("text", "")
    message = await stream_message(text, about, said.get("markdown"))
    emit(EVENT.validate_python({"type": "message", "text": text, **about}))
    _lighten(state)
    update = State(messages=[message], exchanges=with_exchange(state, exchange), turn=TurnNotes())
    if about["ending"] == "answered" and state.get("title") is None:
        update["title"] = said.get("title", "")
    defined = said.get("define")
    if defined:
        update["defined"] = [*(state.get("defined") or ()), defined]
    return update, str(message.id)


def _runs_of(state: State, said: ClosingMessage) -> list[str]:
    """The answer's own runs first, then those that a chat model looked at before it proposed."""
    own = said.get("run_ids") or []
    return [*own, *(run_id for run_id in look_runs(turn_of(state)) if run_id not in own)]


def after_answer(state: State) -> str:
    """The next question of the message, or the end of the turn."""
    return "classify" if pending_of(state) else DONE


def _lighten(state: State) -> None:
    """Clients get the whole state with every step: older answers lose their tables, so that it stays small."""
    answers = [ui for ui in state.get("ui") or () if ui["type"] == "ui" and ui["name"] == "answer"]
    for ui in answers[:-MOST_DETAILED]:
        if any(ui["props"].get(name) for name in _HEAVY):
            light = {name: value for name, value in ui["props"].items() if name not in _HEAVY}
            about = str(ui["metadata"].get("message_id"))
            outlet().show("answer", light, id=ui["id"], message_id=about, merge=False)
