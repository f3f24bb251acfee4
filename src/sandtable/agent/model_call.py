"""One call to a chat model, the same for every provider: negotiated, retried, bounded.

The only module that touches LangChain's chat models; `agent.models` loads it when a model is configured.
Invariant: what comes back is a value or a ModelTrouble, whatever the endpoint sent.
"""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Awaitable, Callable
from typing import Any

from langchain.chat_models import init_chat_model
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig

from sandtable.agent.endpoint import Endpoint
from sandtable.agent.model_reply import Said
from sandtable.agent.model_trouble import Fault, fault_of
from sandtable.agent.negotiate import Method, Negotiated

MOST_RETRIES = 2
_CONTEXT_TOKENS = 16_384
_MOST_REPLY_TOKENS = 8_192
_OPENAI_NAMES = ("gpt-", "codex-", "o1", "o3", "o4")
_LENGTH_ENDINGS = {"length", "max_tokens", "max_output_tokens", "model_context_window_exceeded"}
_FILTER_ENDINGS = {"content_filter", "refusal"}
# A conversation's event stream shows messages to people; a proposal's tokens are none of them.
_CONFIG = RunnableConfig(callbacks=[], tags=["nostream", "langsmith:nostream"])

Pause = Callable[[float], Awaitable[None]]


class ModelCall:
    def __init__(self, endpoint: Endpoint, known: Negotiated, timeout_s: float, pause: Pause) -> None:
        self._endpoint, self._known, self._pause = endpoint, known, pause
        self._model = open_chat_model(endpoint, timeout_s)
        self._ways: dict[tuple[Method, str], Any] = {}

    async def structured(self, system: str, user: str, schema: dict[str, Any]) -> Said:
        """A reply in the schema's form as far as the endpoint can be held to it. The schema's title names it."""
        faults: list[Fault] = []
        for method in self._known.order(self._endpoint):
            way = self._model if method == "text" else self._way(method, schema)
            got = await self._retried(system, user, way)
            if isinstance(got, Said):
                # A reply without the form that was asked for says little about the endpoint; a refusal does.
                if all(fault.status for fault in faults):
                    self._known.worked(self._endpoint, method)
                return got
            faults.append(got)
            if not got.unsupported:
                break
        raise faults[-1].trouble(self._endpoint.name, self._endpoint.address)

    async def plain(self, system: str, user: str) -> Said:
        got = await self._retried(system, user, self._model)
        if isinstance(got, Fault):
            raise got.trouble(self._endpoint.name, self._endpoint.address)
        return got

    async def _retried(self, system: str, user: str, way: Any) -> Said | Fault:
        for retry in range(MOST_RETRIES + 1):
            got = await self._once(system, user, way)
            if isinstance(got, Said) or not got.transient or retry == MOST_RETRIES:
                return got
            await self._pause(got.retry_after_s or 0.5 * 2**retry)
        raise AssertionError("the last retry returns")

    async def _once(self, system: str, user: str, way: Any) -> Said | Fault:
        messages = [SystemMessage(system), HumanMessage(user)]
        asking = way.ainvoke(messages, _CONFIG)
        # An endpoint may send anything, and each client breaks on it in its own way: take the failure as a value.
        [got] = await asyncio.gather(asking, return_exceptions=True)
        if isinstance(got, BaseException):
            return fault_of(got, self._endpoint.secrets)
        raw = got if isinstance(got, AIMessage) else got["raw"]
        return _said(raw)

    def _way(self, method: Method, schema: dict[str, Any]) -> Any:
        key = method, str(schema["title"])
        if key not in self._ways:
            with warnings.catch_warnings():
                # A model that cannot be forced to call a tool is asked all the same; the reply is read either way.
                warnings.simplefilter("ignore")
                way = self._model.with_structured_output(schema, method=method, include_raw=True)
            self._ways[key] = way
        return self._ways[key]


def open_chat_model(endpoint: Endpoint, timeout_s: float) -> BaseChatModel:
    """Raises ImportError when the provider's package is not installed."""
    # Retries are ours alone, so that every provider gets the same number. Connections are not kept: the clients
    # share them between event loops, where a second `asyncio.run` would meet the first one's dead ones.
    alone = {"Connection": "close"}
    given: dict[str, Any] = {"base_url": endpoint.url, "disable_streaming": True}
    key = endpoint.key.get_secret_value() if endpoint.key else "none"
    if endpoint.provider == "ollama":
        given |= {"num_ctx": _CONTEXT_TOKENS, "temperature": 0}
        given["client_kwargs"] = {"timeout": timeout_s, "headers": alone}
    else:
        given |= {"api_key": key, "timeout": timeout_s, "max_retries": 0, "default_headers": alone}
    if endpoint.provider == "anthropic":
        given["max_tokens"] = _MOST_REPLY_TOKENS
    if endpoint.provider == "openai" and not endpoint.model.startswith(_OPENAI_NAMES):
        # Chosen by name otherwise, which servers that are merely compatible know nothing of.
        given["use_responses_api"] = False
    return init_chat_model(endpoint.model, model_provider=endpoint.provider, **given)


def _said(raw: AIMessage) -> Said:
    about = raw.response_metadata
    incomplete = about.get("incomplete_details") or {}
    ending = {
        about.get("finish_reason"),
        about.get("stop_reason"),
        about.get("done_reason"),
        incomplete.get("reason") if isinstance(incomplete, dict) else None,
    }
    usage = raw.usage_metadata
    broken = next((call["args"] for call in raw.invalid_tool_calls if call["args"]), None)
    return Said(
        text=broken or str(raw.text),
        given=raw.tool_calls[0]["args"] if raw.tool_calls else None,
        cut_off=bool(ending & _LENGTH_ENDINGS),
        filtered=bool(ending & _FILTER_ENDINGS) or bool(raw.additional_kwargs.get("refusal")),
        tokens_in=usage["input_tokens"] if usage else 0,
        tokens_out=usage["output_tokens"] if usage else 0,
    )
