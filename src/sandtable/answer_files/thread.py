"""The answers in a thread's state, as its messages hold them.

Invariant: pure; total for every state that a version of Sandtable has kept. Table and reading, which an answer's text
repeats for readers who have only text, are left out of its sentence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sandtable.agent.state import text_of

_REPEATED = re.compile(r"\|.*\||\*Read as: |Shown: the first ")


@dataclass(frozen=True, slots=True)
class ThreadAnswer:
    question: str
    """What the person wrote; a message can hold several questions."""
    sentence: str
    reading: str = ""
    run_ids: tuple[str, ...] = ()
    """The main one first."""


def answers_in(values: Mapping[str, Any]) -> list[ThreadAnswer]:
    """Oldest first. What is not answered yet, and a greeting, is left out."""
    readings = _readings(values)
    asked: str | None = None
    found: list[ThreadAnswer] = []
    for message in values.get("messages") or ():
        if message.type == "human":
            asked = text_of(message)
        about = message.additional_kwargs.get("sandtable") if message.type == "ai" else None
        if asked is None or not isinstance(about, Mapping) or "ending" not in about:
            continue
        text = about.get("text")
        found.append(
            ThreadAnswer(
                question=asked,
                sentence=sentence_of(text if isinstance(text, str) else text_of(message)),
                reading=readings.get(str(message.id), ""),
                run_ids=tuple(str(run_id) for run_id in about.get("run_ids") or ()),
            )
        )
    return found


def sentence_of(text: str) -> str:
    paragraphs = re.split(r"\n{2,}", text)
    return "\n\n".join(one for one in paragraphs if not _REPEATED.match(one)).strip()


def _readings(values: Mapping[str, Any]) -> dict[str, str]:
    found: dict[str, str] = {}
    for component in values.get("ui") or ():
        about, props = component.get("metadata") or {}, component.get("props") or {}
        if component.get("name") == "answer" and isinstance(props.get("reading"), str):
            found[str(about.get("message_id"))] = props["reading"]
    return found
