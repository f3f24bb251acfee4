"""Request bodies of LangGraph clients. Irrelevant fields are ignored; unsupported ones are refused.

Invariant: of a client's input, only human messages, chosen plans and decisions reach the graph. The dataset, thread
and user of a turn are never read from `config` or from the state that a client sends.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from sandtable.agent.turn_events import with_plan
from sandtable.catalog.names import nearest
from sandtable.conversations.line import Strategy
from sandtable.conversations.model import SortBy, ThreadStatus
from sandtable.conversations.text import clean, plan_of, question_of
from sandtable.errors import InvalidInput
from sandtable.quoting import quote

MOST_METADATA = 16 << 10
MOST_DEEP = 32
MOST_MESSAGES = 20
MODES = ("values", "updates", "messages", "messages-tuple", "custom")
_PLACEHOLDER = "do-not-render-"
"""Prefix of the ids of tool messages that chat interfaces insert themselves."""


def _shallow(value: Any) -> Any:
    """Before anything that recurses over it."""
    level, deep = [value], 0
    while level:
        if deep > MOST_DEEP:
            raise InvalidInput(
                f"the body is nested more than {MOST_DEEP} levels deep", suggestion="Send something flatter."
            )
        level = [
            item
            for part in level
            if isinstance(part, dict | list)
            for item in (part.values() if isinstance(part, dict) else part)
        ]
        deep += 1
    return value


def _metadata(value: Any) -> Any:
    if isinstance(value, dict):
        value = {name: item for name, item in clean(_shallow(value)).items() if item is not None}
        if len(str(value)) > MOST_METADATA:
            raise InvalidInput(
                f"the metadata has more than {MOST_METADATA >> 10} KiB", suggestion="Keep less in it."
            )
    return value if value is not None else {}


ID = r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}"
Id = Annotated[str, Field(pattern=f"^{ID}$")]
Metadata = Annotated[dict[str, Any], BeforeValidator(_metadata)]
Json = Annotated[Any, BeforeValidator(_shallow)]


class _Body(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Checkpoint(_Body):
    checkpoint_id: Id | None = None
    checkpoint_ns: str | None = None


class NewThread(_Body):
    thread_id: Id | None = None
    metadata: Metadata = Field(default_factory=dict)
    if_exists: Literal["raise", "do_nothing"] | None = None


class ThreadChange(_Body):
    metadata: Metadata = Field(default_factory=dict)


class ThreadSearch(_Body):
    metadata: Metadata = Field(default_factory=dict)
    ids: list[Id] | None = Field(default=None, max_length=1000)
    status: ThreadStatus | None = None
    limit: int = Field(default=10, ge=1, le=1000)
    offset: int = Field(default=0, ge=0, le=1 << 31)
    sort_by: SortBy | None = None
    sort_order: Literal["asc", "desc"] | None = None


class AssistantSearch(_Body):
    graph_id: str | None = None
    name: str | None = None
    metadata: Metadata = Field(default_factory=dict)
    limit: int = Field(default=10, ge=1, le=1000)
    offset: int = Field(default=0, ge=0, le=1 << 31)


class HistoryWanted(_Body):
    limit: int = Field(default=10, ge=1, le=1000)
    before: Json = None
    checkpoint: Checkpoint | None = None

    @property
    def before_id(self) -> str | None:
        """Given as an id, as a checkpoint or as a whole config, by different clients."""
        before = self.before
        if isinstance(before, dict):
            before = before.get("checkpoint_id") or (before.get("configurable") or {}).get("checkpoint_id")
        return str(before)[:128] if before else None


class StateWanted(_Body):
    checkpoint: Checkpoint


class StateChange(_Body):
    values: Json = None
    checkpoint: Checkpoint | None = None
    checkpoint_id: Id | None = None


class Command(_Body):
    resume: Json = None
    update: Any = None
    goto: Any = None


class RunBody(_Body):
    assistant_id: str = Field(min_length=1, max_length=128)
    input: Json = None
    command: Command | None = None
    checkpoint: Checkpoint | None = None
    checkpoint_id: Id | None = None
    config: Json = None
    metadata: Metadata = Field(default_factory=dict)
    stream_mode: list[str] | str | None = None
    on_disconnect: Literal["cancel", "continue"] | None = None
    multitask_strategy: Strategy | None = None
    if_not_exists: Literal["create", "reject"] | None = None
    interrupt_before: Any = None
    interrupt_after: Any = None
    webhook: Any = None
    after_seconds: float | None = None

    @model_validator(mode="after")
    def _can_be_done(self) -> Self:
        for name in ("interrupt_before", "interrupt_after", "webhook", "after_seconds"):
            if getattr(self, name):
                raise InvalidInput(
                    f"{quote(name)} is not supported here", suggestion=f"Leave {quote(name)} out."
                )
        if self.command and (self.command.update is not None or self.command.goto is not None):
            raise InvalidInput(
                "of a command, only `resume` is supported here", suggestion="Leave `update` and `goto` out."
            )
        return self

    @property
    def modes(self) -> tuple[str, ...]:
        return modes_of(self.stream_mode)

    @property
    def from_checkpoint(self) -> str | None:
        config = self.config.get("configurable") if isinstance(self.config, dict) else None
        given = config.get("checkpoint_id") if isinstance(config, dict) else None
        named = self.checkpoint.checkpoint_id if self.checkpoint else None
        return named or self.checkpoint_id or (str(given)[:128] if given else None)


def modes_of(given: list[str] | str | None) -> tuple[str, ...]:
    """Raises InvalidInput for one that is not known."""
    wanted = [given] if isinstance(given, str) else given or ["values"]
    for mode in wanted:
        if mode not in MODES:
            alike = nearest(mode, MODES)
            hint = f"; did you mean {quote(alike)}?" if alike else ""
            raise InvalidInput(
                f"no stream mode {quote(mode)}{hint}",
                suggestion=f"The stream modes here: {', '.join(MODES)}.",
            )
    return tuple(wanted)


def human_messages(state: Any) -> list[dict[str, Any]]:
    """The person's messages in an `input`. Raises InvalidInput for anything else in it."""
    given = state.get("messages") if isinstance(state, dict) else None
    messages = given if isinstance(given, list) else [] if given is None else [given]
    found = [_human(message) for message in messages[-MOST_MESSAGES:] if not _made_up(message)]
    if not found:
        raise InvalidInput(
            "the input has no message of a person",
            suggestion='Send {"messages": [{"type": "human", "content": "…"}]}.',
            field="input.messages",
        )
    return found


def _made_up(message: Any) -> bool:
    if not isinstance(message, dict):
        return False
    return message.get("type") == "tool" and str(message.get("id", "")).startswith(_PLACEHOLDER)


def _human(message: Any) -> dict[str, Any]:
    if isinstance(message, str):
        return {"type": "human", "content": question_of(message, "input.messages")}
    kind = message.get("type") or message.get("role") if isinstance(message, dict) else None
    if kind not in ("human", "user"):
        raise InvalidInput(
            "only a person's messages can be sent",
            suggestion='Give each message the type "human"; answers come from the server alone.',
            field="input.messages",
        )
    made: dict[str, Any] = {
        "type": "human",
        "content": question_of(_text(message.get("content")), "input.messages"),
    }
    if message.get("id"):
        made["id"] = clean(str(message["id"]))[:128]
    plan = plan_of(_chosen(message))
    if plan is not None:
        made["additional_kwargs"] = with_plan(plan)
    return made


def _chosen(message: dict[str, Any]) -> dict[str, Any] | None:
    """The plan of a choice; all else in `additional_kwargs` is ignored."""
    about = message.get("additional_kwargs")
    ours = about.get("sandtable") if isinstance(about, dict) else None
    plan = ours.get("plan") if isinstance(ours, dict) else None
    return plan if isinstance(plan, dict) else None


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        texts = [part if isinstance(part, str) else _block_text(part) for part in content]
        return "\n".join(text for text in texts if text)
    return ""


def _block_text(block: Any) -> str:
    if isinstance(block, dict) and block.get("type") == "text":
        return str(block.get("text", ""))
    kind = block.get("type") if isinstance(block, dict) else None
    raise InvalidInput(
        f"a message can hold text only, not {f'a block of type {quote(str(kind), 40)}' if kind else 'this'}",
        suggestion="Data is added as a dataset; ask about it in words.",
        field="input.messages",
    )
