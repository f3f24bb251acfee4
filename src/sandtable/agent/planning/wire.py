"""The protocol between a server and its planner processes over a socket: pickled values with a length prefix.

Both ends are Sandtable itself, started by the same user from the same modules; no other process has the socket.
"""

from __future__ import annotations

import pickle
import struct
from dataclasses import dataclass, field
from typing import Any

from sandtable.catalog.model import Dataset
from sandtable.catalog.profile import Profile
from sandtable.observing import Spent
from sandtable.planner.outcome import EarlierTurn, Outcome

LENGTH = struct.Struct("!Q")


@dataclass(frozen=True, slots=True)
class Data:
    """A dataset version to plan for; `key` names it from now on."""

    key: str
    dataset: Dataset
    profile: Profile


@dataclass(frozen=True, slots=True)
class Question:
    key: str
    text: str
    before: EarlierTurn | None
    timed: bool = False
    """Whether the time of each part of planning is to be reported."""


@dataclass(frozen=True, slots=True)
class Ready:
    """The process has loaded its parts, or knows the data that it was sent."""


@dataclass(frozen=True, slots=True)
class UnknownData:
    """The process has not seen this key, or has forgotten it: it must be sent the data first."""


@dataclass(frozen=True, slots=True)
class Planned:
    outcome: Outcome
    spent: dict[str, Spent] = field(default_factory=dict[str, Spent])
    """By part, where the question asked for it."""


@dataclass(frozen=True, slots=True)
class Failed:
    """Something raised; the process goes on."""

    traceback: str


Message = Data | Question
Reply = Ready | UnknownData | Planned | Failed


def packed(value: Message | Reply) -> bytes:
    body = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    return LENGTH.pack(len(body)) + body


def unpacked(body: bytes) -> Any:
    return pickle.loads(body)  # noqa: S301 - from a process of ours
