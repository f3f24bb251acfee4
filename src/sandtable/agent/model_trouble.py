"""What goes wrong with a chat model, said to the person who can act on it.

Invariant: a message never holds a key. Whatever a provider says passes `scrubbed` first, because some
providers quote the key they refuse.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from sandtable.errors import ErrorCode, SandtableError
from sandtable.quoting import one_line, quote

Kind = Literal[
    "configuration",
    "missing_extra",
    "missing_key",
    "refused_key",
    "unknown_model",
    "rate_limit",
    "no_credit",
    "timeout",
    "unreachable",
    "provider_error",
    "rejected",
    "too_long",
    "filtered",
    "unreadable",
]

_CODES: dict[Kind, ErrorCode] = {
    "configuration": ErrorCode.VALIDATION_ERROR,
    "missing_extra": ErrorCode.VALIDATION_ERROR,
    "missing_key": ErrorCode.UNAUTHORIZED,
    "refused_key": ErrorCode.UNAUTHORIZED,
    "unknown_model": ErrorCode.NOT_FOUND,
    "rate_limit": ErrorCode.RUNNER_RESOURCE_EXCEEDED,
    "no_credit": ErrorCode.RUNNER_RESOURCE_EXCEEDED,
    "timeout": ErrorCode.RUNNER_TIMEOUT,
    "unreachable": ErrorCode.RUNNER_INTERNAL_ERROR,
    "provider_error": ErrorCode.RUNNER_INTERNAL_ERROR,
    "rejected": ErrorCode.VALIDATION_ERROR,
    "too_long": ErrorCode.RUNNER_RESOURCE_EXCEEDED,
    "filtered": ErrorCode.VALIDATION_ERROR,
    "unreadable": ErrorCode.VALIDATION_ERROR,
}

_MOST_QUOTED = 300
_TIMED_OUT = {"ModelTimeoutError", "APITimeoutError", "TimeoutException", "TimeoutError"}
_NOT_REACHED = {"ConnectError", "ConnectionRefusedError", "gaierror"}
_BROKEN_OFF = {"ModelConnectionError", "APIConnectionError", "TransportError", "ConnectionError"}
_OVERFLOW = {"ContextOverflowError"}
_OVERFLOW_WORDS = ("context length", "context window", "prompt is too long", "maximum context")
_NO_CREDIT_WORDS = ("credit balance", "insufficient_quota", "exceeded your current quota", "billing")
_METHOD_WORDS = ("tool", "function", "response_format", "json", "schema", "format")


class ModelTrouble(SandtableError):
    """`details["kind"]` tells the troubles apart; the code is the nearest of those every surface knows."""

    def __init__(self, kind: Kind, message: str, *, suggestion: str, model: str, **details: Any) -> None:
        super().__init__(message, suggestion=suggestion, kind=kind, model=model, **details)
        self.kind: Kind = kind
        self.code = _CODES[kind]


@dataclass(frozen=True, slots=True)
class Fault:
    """One failed call, as far as it can be told without knowing the provider's classes."""

    names: frozenset[str]
    status: int | None
    said: str
    """The provider's words, without keys."""
    retry_after_s: float | None

    @property
    def transient(self) -> bool:
        """Whether the same call may succeed in a moment."""
        if self._no_credit:
            return False
        if self.status == 429:
            return self.retry_after_s is not None and self.retry_after_s <= 5
        if self.status is not None:
            return self.status == 408 or self.status >= 500
        return bool(self.names & _BROKEN_OFF) and not self.names & (_NOT_REACHED | _TIMED_OUT)

    @property
    def unsupported(self) -> bool:
        """Whether the endpoint may only dislike the way in which a structured reply was asked for."""
        words = self.said.lower()
        if self._overflow or self._no_credit:
            return False
        if self.status == 404:
            return "support" in words and any(word in words for word in _METHOD_WORDS)
        named = {"NotImplementedError", "OutputParserException"} & self.names
        return self.status in {400, 405, 415, 422, 501} or (self.status is None and bool(named))

    @property
    def _overflow(self) -> bool:
        words = self.said.lower()
        return bool(self.names & _OVERFLOW) or any(word in words for word in _OVERFLOW_WORDS)

    @property
    def _no_credit(self) -> bool:
        words = self.said.lower()
        return self.status in {400, 402, 403, 429} and any(word in words for word in _NO_CREDIT_WORDS)

    def trouble(self, model: str, address: str) -> ModelTrouble:
        kind, message, suggestion = self._told(model, address)
        details: dict[str, Any] = {"status": self.status} if self.status else {}
        if self.said:
            details["said"] = self.said
        if self.retry_after_s is not None:
            details["retry_after_s"] = self.retry_after_s
        return ModelTrouble(kind, message, suggestion=suggestion, model=model, **details)

    def _told(self, model: str, address: str) -> tuple[Kind, str, str]:
        if self._overflow:
            return "too_long", f"the question and its data are too long for {model}", _SHORTER
        if self.names & {"LengthFinishReasonError"}:
            return cut_off(model)
        if self.names & {"ContentFilterFinishReasonError"}:
            return filtered(model)
        if self.status is not None:
            return self._by_status(self.status, model, address)
        if self.names & _TIMED_OUT:
            return "timeout", f"{model} did not answer in time", _LATER
        if self.names & (_BROKEN_OFF | _NOT_REACHED):
            start = "Is Ollama running? Start it with `ollama serve`." if model.startswith("ollama:") else ""
            suggestion = start or "Check the address (SANDTABLE_MODEL_BASE_URL) and the network."
            return "unreachable", f"no connection to {model} at {address}", suggestion
        return "unreadable", f"{model} answered something that is no chat reply", _OTHER_MODEL

    def _by_status(self, status: int, model: str, address: str) -> tuple[Kind, str, str]:
        provider = model.partition(":")[0]
        if self._no_credit or status == 402:
            return "no_credit", f"the account at {provider} has no credit left for {model}", _OTHER_MODEL
        if status in {401, 403}:
            suggestion = f"Check {provider.upper()}_API_KEY, and that the key may use this model."
            return "refused_key", f"{provider} refused the key for {model} (HTTP {status})", suggestion
        if status == 404:
            return "unknown_model", f"there is no {model} at {address}", _elsewhere(model, address)
        if status == 429:
            wait = f" in {self.retry_after_s:g} s" if self.retry_after_s is not None else " in a while"
            return "rate_limit", f"{model} takes no more requests for now", f"Ask again{wait}."
        if status >= 500 or status == 408:
            return "provider_error", f"{model} failed (HTTP {status}), also when asked again", _LATER
        said = f": {quote(self.said, _MOST_QUOTED)}" if self.said else ""
        return "rejected", f"{model} rejected the request (HTTP {status}){said}", _OTHER_MODEL


_LATER = "Ask again in a moment; SANDTABLE_MODEL=builtin works without a chat model."
_SHORTER = "Ask a shorter question, or start a new conversation."
_OTHER_MODEL = "Choose another model with SANDTABLE_MODEL, or builtin for none."


def _elsewhere(model: str, address: str) -> str:
    provider, _, name = model.partition(":")
    if provider == "ollama":
        return f"Run `ollama pull {name}`, or check SANDTABLE_MODEL."
    if provider == "openai" and not address.endswith("/v1"):
        return "Check SANDTABLE_MODEL, and the address: most end in /v1."
    return "Check SANDTABLE_MODEL, and that the key may use this model."


def cut_off(model: str) -> tuple[Kind, str, str]:
    return "too_long", f"the reply of {model} was cut off at its length limit", "Ask for less at once."


def filtered(model: str) -> tuple[Kind, str, str]:
    return "filtered", f"{model} declined to answer", "Ask in other words."


def fault_of(error: BaseException, secrets: Iterable[str]) -> Fault:
    chain = tuple(_chain(error))
    names = frozenset(kind.__name__ for each in chain for kind in type(each).__mro__)
    status = next((code for each in chain if (code := _status(each))), None)
    return Fault(names, status, scrubbed(str(error), secrets), _retry_after(chain))


def scrubbed(text: str, secrets: Iterable[str]) -> str:
    for secret in secrets:
        text = text.replace(secret, "…")
    return one_line(text, _MOST_QUOTED)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _status(error: BaseException) -> int | None:
    status = getattr(error, "status_code", None)
    # Ollama says -1 when there was no answer to take a status from.
    return status if isinstance(status, int) and status >= 400 else None


def _retry_after(chain: Iterable[BaseException]) -> float | None:
    for error in chain:
        headers = getattr(getattr(error, "response", None), "headers", None)
        given = headers.get("retry-after") if headers is not None else None
        if isinstance(given, str) and given.strip().replace(".", "", 1).isdigit():
            return float(given)
    return None
