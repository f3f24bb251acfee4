"""Errors of chat models, worded for the person who can act on them.

Invariant: a message never holds a key. Whatever a provider says passes `scrubbed` first, because some
providers quote the key they refuse.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
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
    "redirected",
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
    "redirected": ErrorCode.VALIDATION_ERROR,
    "rejected": ErrorCode.VALIDATION_ERROR,
    "too_long": ErrorCode.RUNNER_RESOURCE_EXCEEDED,
    "filtered": ErrorCode.VALIDATION_ERROR,
    "unreadable": ErrorCode.VALIDATION_ERROR,
}

_IN_SHORT: dict[Kind, str] = {
    "configuration": "cannot be used as it is set up",
    "missing_extra": "cannot be used as it is set up",
    "missing_key": "has no key",
    "refused_key": "refused the key",
    "unknown_model": "is not known at its address",
    "rate_limit": "takes no more requests for now",
    "no_credit": "has no credit left",
    "timeout": "did not answer in time",
    "unreachable": "could not be reached",
    "provider_error": "failed",
    "redirected": "is not at its address",
    "rejected": "rejected the request",
    "too_long": "could not take the question or write the reply in full",
    "filtered": "declined to answer",
    "unreadable": "gave no usable reply",
}

_MOST_QUOTED = 300
_OVERFLOW_WORDS = (
    "context length",
    "context_length",
    "context window",
    "prompt is too long",
    "maximum context",
)
_NO_CREDIT_WORDS = ("credit balance", "insufficient_quota", "exceeded your current quota", "billing")
_SETTINGS = ("temperature", "max_tokens", "max_completion_tokens", "max_output_tokens")
_METHOD_WORDS = ("tool", "function", "response_format", "json", "schema", "format")

Cause = Literal[
    "unreachable",
    "broken_off",
    "timeout",
    "unsendable",
    "unwritten",
    "status",
    "redirected",
    "compressed",
    "too_large",
    "unreadable",
]


class ModelTrouble(SandtableError):
    """`details["kind"]` is the specific kind; the code is the closest of the common error codes."""

    def __init__(self, kind: Kind, message: str, *, suggestion: str, model: str, **details: Any) -> None:
        super().__init__(message, suggestion=suggestion, kind=kind, model=model, **details)
        self.kind: Kind = kind
        self.model = model
        self.code = _CODES[kind]

    @property
    def in_short(self) -> str:
        """What the model did, after its name; none of it comes from the model or its provider."""
        return _IN_SHORT[self.kind]


@dataclass(frozen=True, slots=True)
class Fault:
    """One call without a reply that can be used."""

    cause: Cause
    status: int | None = None
    said: str = ""
    """The provider's words, without keys."""
    marks: str = ""
    """Its own codes for the error, which are not shown."""
    retry_after_s: float | None = None

    @property
    def transient(self) -> bool:
        """Whether the same call may succeed in a moment."""
        if self._no_credit:
            return False
        if self.status == 429:
            return self.retry_after_s is not None and self.retry_after_s <= 5
        if self.status is not None:
            return self.status == 408 or self.status >= 500
        return self.cause == "broken_off"

    @property
    def unsupported(self) -> bool:
        """Whether the endpoint may reject only this method of requesting a structured reply."""
        if self._overflow or self._no_credit:
            return False
        if self.status == 404:
            return "support" in self._words and any(word in self._words for word in _METHOD_WORDS)
        return self.status in {400, 405, 415, 422, 501}

    @property
    def perhaps_of_tools(self) -> bool:
        """Whether the endpoint may take the same request without tools."""
        if self.status is not None and self.status >= 500:
            # A server may answer a setting that it lacks with 500.
            return "tool" in self._words
        return self.unsupported or self._overflow

    def refuses(self, body: Mapping[str, Any]) -> set[str]:
        """The settings of a request that the endpoint's refusal names: it may take the request without them."""
        if self.status not in {400, 422}:
            return set()
        return {name for name in _SETTINGS if name in body and name in self._words}

    @property
    def _words(self) -> str:
        return f"{self.said} {self.marks}".lower()

    @property
    def _overflow(self) -> bool:
        return self.status is not None and any(word in self._words for word in _OVERFLOW_WORDS)

    @property
    def _no_credit(self) -> bool:
        return self.status in {400, 402, 403, 429} and any(word in self._words for word in _NO_CREDIT_WORDS)

    def trouble(self, model: str, address: str) -> ModelTrouble:
        kind, message, suggestion = self._described(model, address)
        details: dict[str, Any] = {"status": self.status} if self.status else {}
        if self.said:
            details["said"] = self.said
        if self.retry_after_s is not None:
            details["retry_after_s"] = self.retry_after_s
        return ModelTrouble(kind, message, suggestion=suggestion, model=model, **details)

    def _described(self, model: str, address: str) -> tuple[Kind, str, str]:
        if self._overflow:
            return "too_long", f"the question and its data are too long for {model}", _SHORTER
        if self.status is not None:
            return self._by_status(self.status, model, address)
        match self.cause:
            case "timeout":
                return "timeout", f"{model} did not answer in time", _LATER
            case "unreachable" | "broken_off":
                start = (
                    "Is Ollama running? Start it with `ollama serve`." if model.startswith("ollama:") else ""
                )
                suggestion = start or "Check the address (SANDTABLE_MODEL_BASE_URL) and the network."
                return "unreachable", f"no connection to {model} at {address}", suggestion
            case "unsendable":
                message = f"the address or the key of {model} holds a character that HTTP does not allow"
                return "configuration", message, "Check both for line breaks and characters beyond ASCII."
            case "unwritten":
                message = f"the client of {model} could not write a request"
                return "configuration", message, _OTHER_MODEL
            case "too_large":
                return "unreadable", f"the reply of {model} is larger than any that is read", _OTHER_MODEL
            case "compressed":
                message = f"the reply of {model} is compressed, which was not asked for"
                return "unreadable", message, "Switch compression off at the server or gateway."
            case _:
                return "unreadable", f"{model} answered something that is no chat reply", _OTHER_MODEL

    def _by_status(self, status: int, model: str, address: str) -> tuple[Kind, str, str]:
        provider = model.partition(":")[0]
        if self.cause == "redirected":
            target = f" to {quote(self.said, _MOST_QUOTED)}" if self.said else ""
            message = (
                f"{model} at {address} redirects{target} (HTTP {status}), and redirects are not followed"
            )
            return "redirected", message, "Set SANDTABLE_MODEL_BASE_URL to the address where the model is."
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


def scrubbed(text: str, secrets: Iterable[str]) -> str:
    """One line of it, bounded, without the secrets."""
    return one_line(without_secrets(text, secrets), _MOST_QUOTED)


def without_secrets(text: str, secrets: Iterable[str]) -> str:
    for secret in sorted(secrets, key=len, reverse=True):
        if secret:
            text = re.sub(re.escape(secret), "…", text, flags=re.IGNORECASE)
    return text
