"""The interface between a conversation and its proposer: the built-in planner or a chat model.

Invariant: a proposer only proposes. It sees the schema, the profile, the conversation and the results of the tools
that it called; it never runs anything, and its proposals are validated and judged as untrusted text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from sandtable.agent.events import Ending
from sandtable.agent.prompting.hints import NO_HINTS, Hints
from sandtable.agent.read_as.model import Aligned, Offered
from sandtable.catalog.model import Dataset
from sandtable.catalog.profile import Profile
from sandtable.errors import Problem
from sandtable.runs.model import Run


@dataclass(frozen=True, slots=True)
class Exchange:
    """One earlier turn, as far as a follow-up may need it."""

    question: str
    answer: str
    ending: Ending
    plan: dict[str, Any] | None = None
    sql: str | None = None
    run_id: str | None = None
    problem: Problem | None = None
    code: tuple[str, ...] = ()
    """The cells of an analysis that ran, in order: what they made is still there."""
    likely: tuple[tuple[str, str], ...] = ()
    """Kind and label of the plan's parts that were shown as likely."""
    choices: tuple[Offered, ...] = ()
    """The readings that a question back offered."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """An earlier proposal for this question, and why it was rejected."""

    plan: dict[str, Any] | None
    sql: str | None
    problem: Problem


@dataclass(frozen=True, slots=True)
class Look:
    """One call of a tool for this question, and what it gave, as far as the model may see it."""

    tool: str
    arguments: dict[str, Any]
    gave: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Asked:
    question: str
    dataset: Dataset
    profile: Profile
    history: tuple[Exchange, ...] = ()
    """Oldest first."""
    attempts: tuple[Attempt, ...] = ()
    defined: tuple[dict[str, Any], ...] = ()
    """Tables that the conversation has named, in the form of a plan's `define`."""
    wants_sql: bool = False
    """The person asked for SQL in so many words."""
    python: bool = False
    """Whether an analysis in Python may be proposed."""
    hints: Hints = NO_HINTS
    """What the built-in planner makes of the question, for a chat model."""
    tools: tuple[str, ...] = ()
    """Names of the tools that a chat model may call before it proposes; empty when no call is left."""
    looks: tuple[Look, ...] = ()
    """Oldest first."""
    spent_s: float = 0.0
    """Time that the model took to ask for the looks: it is part of the time for the proposal."""


@dataclass(frozen=True, slots=True)
class PlanProposal:
    plan: dict[str, Any]
    used: tuple[str, ...] = ()
    """Readings to show beside the plan."""
    confidence: float | None = None
    """How likely the plan is what was meant, from 0 to 1; a chat model does not say."""
    alignment: Aligned | None = None
    """Which words each part of the plan came from; a chat model does not say. Where parts are likely, the plan is the
    built-in reader's, whatever the proposer is called."""


@dataclass(frozen=True, slots=True)
class SqlProposal:
    sql: str


@dataclass(frozen=True, slots=True)
class AskBack:
    """It does not understand, or the data cannot tell: why, and what could be asked instead."""

    reason: str
    suggestions: tuple[str, ...] = ()
    choices: tuple[PlanProposal, ...] = ()
    """The built-in reader's readings that a person may choose, the likeliest first; a chat model has none."""


@dataclass(frozen=True, slots=True)
class Talk:
    """No question about the data: a reply that holds no number of it."""

    text: str


@dataclass(frozen=True, slots=True)
class AnalysisProposal:
    """Neither a plan nor SQL will do: it needs Python, perhaps in several steps."""

    reason: str = ""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """Not a proposal yet: the model calls a tool first."""

    tool: str
    arguments: str
    """JSON, as the model wrote it; not checked."""


Final = PlanProposal | SqlProposal | AskBack | Talk | AnalysisProposal
Proposal = Final | ToolCall


@dataclass(frozen=True, slots=True)
class Usage:
    """What a proposal or a wording cost; all zero for the built-in planner."""

    prompts: tuple[tuple[str, str], ...] = ()
    """Name and SHA-256 of each prompt file used."""
    tokens_in: int = 0
    tokens_out: int = 0
    latency_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class Proposed:
    what: Proposal
    usage: Usage


@dataclass(frozen=True, slots=True)
class Worded:
    text: str
    usage: Usage


class Proposer(Protocol):
    @property
    def name(self) -> str:
        """`builtin`, or provider and model such as `openai:gpt-5`."""
        ...

    async def propose(self, asked: Asked) -> Proposed:
        """Raises `agent.models.ModelTrouble` (a SandtableError) for a key, a limit, a time-out."""
        ...

    async def word(self, asked: Asked, run: Run, plain: str) -> Worded | None:
        """Say the result better than `plain`, the locally made sentence; None leaves that as it is."""
        ...
