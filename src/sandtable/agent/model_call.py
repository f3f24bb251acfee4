"""One call to a chat model, the same for every provider: negotiated, retried, bounded.

The only module that touches LangChain's chat models; `agent.models` loads it when a model is configured. A
provider's client writes the request and never sees the reply, which may be anything and is read here.
Invariant: what comes back is a value or a ModelTrouble, whatever the endpoint sent.
"""

from __future__ import annotations

import asyncio
import json
import warnings
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NoReturn

import structlog
from langchain.chat_models import init_chat_model
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig

from sandtable.agent.endpoint import Endpoint
from sandtable.agent.model_http import HttpRequest, ModelHttp
from sandtable.agent.model_reply import ModelReply
from sandtable.agent.model_trouble import Fault
from sandtable.agent.model_wire import said_in
from sandtable.agent.negotiate import Method, Negotiated

MOST_RETRIES = 2
_CONTEXT_TOKENS = 16_384
_MOST_REPLY_TOKENS = 8_192
_MOST_LOCAL_TOKENS = 4_096
"""A plan has some hundred tokens, a thought before it a few thousand; a small model may repeat itself for ever."""
# A conversation's event stream shows messages to people; a proposal's tokens are none of them.
_CONFIG = RunnableConfig(callbacks=[], tags=["nostream", "langsmith:nostream"])
_log = structlog.get_logger(__name__)

Pause = Callable[[float], Awaitable[None]]


class ModelCall:
    def __init__(self, endpoint: Endpoint, known: Negotiated, timeout_s: float, pause: Pause) -> None:
        self._endpoint, self._known, self._pause = endpoint, known, pause
        self._model = open_chat_model(endpoint)
        self._http = ModelHttp(endpoint, timeout_s)
        self._ways: dict[tuple[Method, str], Any] = {}
        self._refused: set[str] = set()
        """Request settings that this endpoint rejects."""

    async def structured(self, system: str, user: str, schema: dict[str, Any]) -> ModelReply:
        """A reply in the schema's form as far as the endpoint can be held to it. The schema's title names it."""
        faults: list[Fault] = []
        for method in self._known.order(self._endpoint):
            way = self._model if method == "text" else self._way(method, schema)
            got = await self._retried(system, user, way)
            if isinstance(got, ModelReply):
                self._known.worked(self._endpoint, method)
                return got
            faults.append(got)
            if not got.unsupported:
                break
        raise faults[-1].trouble(self._endpoint.name, self._endpoint.address)

    async def offering(self, system: str, user: str, tools: Sequence[dict[str, Any]]) -> ModelReply | None:
        """A reply, or the call of a tool; None where the endpoint may take the request without tools only."""
        got = await self._retried(system, user, self._model.bind_tools(tools))
        if isinstance(got, ModelReply):
            return got
        if got.perhaps_of_tools:
            return None
        raise got.trouble(self._endpoint.name, self._endpoint.address)

    async def plain(self, system: str, user: str) -> ModelReply:
        got = await self._retried(system, user, self._model)
        if isinstance(got, Fault):
            raise got.trouble(self._endpoint.name, self._endpoint.address)
        return got

    async def _retried(self, system: str, user: str, way: Any) -> ModelReply | Fault:
        for retry in range(MOST_RETRIES + 1):
            got = await self._once(system, user, way)
            if isinstance(got, ModelReply) or not got.transient or retry == MOST_RETRIES:
                return got
            await self._pause(got.retry_after_s or 0.5 * 2**retry)
        raise AssertionError("the last retry returns")

    async def _once(self, system: str, user: str, way: Any) -> ModelReply | Fault:
        request = await _written(way.ainvoke([SystemMessage(system), HumanMessage(user)], _CONFIG))
        if request is None:
            return Fault("unwritten")
        while True:
            sent = replace(request, content=with_settings(request, self._endpoint, self._refused))
            reply = await self._http.ask(sent)
            said = reply if isinstance(reply, Fault) else said_in(sent, reply, self._endpoint.secrets)
            refused = said.refuses(json.loads(sent.content)) if isinstance(said, Fault) else set[str]()
            if not refused - self._refused:
                return said
            self._refused |= refused

    def _way(self, method: Method, schema: dict[str, Any]) -> Any:
        key = method, str(schema["title"])
        if key not in self._ways:
            with warnings.catch_warnings():
                # A model that cannot be forced to call a tool is asked all the same; the reply is read either way.
                warnings.simplefilter("ignore")
                way = self._model.with_structured_output(schema, method=method, include_raw=True)
            self._ways[key] = way
        return self._ways[key]


class _Written(Exception):
    """A request that a provider's client wanted to send."""

    def __init__(self, request: HttpRequest) -> None:
        super().__init__()
        self.request = request


class _Intercept:
    """A transport that hands over the request instead of sending it, for clients of `httpx` and of `httpx2`."""

    def handle_request(self, request: Any) -> NoReturn:
        raise _Written(_copied(request, request.read()))

    async def handle_async_request(self, request: Any) -> NoReturn:
        raise _Written(_copied(request, await request.aread()))

    def close(self) -> None:
        """Does nothing: no resources are held."""

    async def aclose(self) -> None:
        """Does nothing: no resources are held."""


def _copied(request: Any, content: bytes) -> HttpRequest:
    url = request.url
    return HttpRequest(
        method=request.method,
        scheme=url.raw_scheme,
        host=url.raw_host,
        port=url.port,
        target=url.raw_path,
        headers=tuple(request.headers.raw),
        content=_unstreamed(content),
    )


def with_settings(request: HttpRequest, endpoint: Endpoint, refused: set[str]) -> bytes:
    """The body with `temperature` 0 and a limit of tokens, as far as the endpoint takes them.

    OpenAI's own models take no temperature when they reason, and most of them do.
    """
    body = json.loads(request.content)
    if endpoint.provider == "ollama":
        body["options"] = {**body.get("options", {}), "num_predict": _MOST_LOCAL_TOKENS}
        return json.dumps(body).encode()
    wanted: dict[str, Any] = {}
    if endpoint.provider == "anthropic" or endpoint.is_compatible:
        wanted["temperature"] = 0
    if endpoint.is_compatible:
        wanted["max_tokens"] = _MOST_LOCAL_TOKENS
    elif endpoint.provider == "openai":
        responses = request.path.endswith("/responses")
        wanted["max_output_tokens" if responses else "max_completion_tokens"] = _MOST_REPLY_TOKENS
    body |= {name: value for name, value in wanted.items() if name not in refused}
    return json.dumps(body).encode()


def _unstreamed(content: bytes) -> bytes:
    """Ollama's client asks for a stream, which says the same with a head for every token."""
    body = json.loads(content)
    return json.dumps({**body, "stream": False}).encode() if body.get("stream") else content


async def _written(asking: Awaitable[Any]) -> HttpRequest | None:
    [got] = await asyncio.gather(asking, return_exceptions=True)
    for error in _chain(got if isinstance(got, BaseException) else None):
        if isinstance(error, _Written):
            return error.request
    _log.warning("chat request not written", got=type(got).__name__)
    return None


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def open_chat_model(endpoint: Endpoint) -> BaseChatModel:
    """A model whose every request is intercepted. Raises ImportError when the provider's package is missing."""
    # The environment could name proxies, which a client would send its requests to itself.
    client: dict[str, Any] = {"transport": _Intercept(), "trust_env": False}
    given: dict[str, Any] = {"base_url": endpoint.url, "disable_streaming": True}
    if endpoint.provider != "ollama":
        given["api_key"] = endpoint.key.get_secret_value() if endpoint.key else "none"
        # Retries are ours alone, so that every provider gets the same number.
        given["max_retries"] = 0
    match endpoint.provider:
        case "ollama":
            given |= {"num_ctx": _CONTEXT_TOKENS, "temperature": 0, "client_kwargs": client}
        case "anthropic":
            given["max_tokens"] = _MOST_REPLY_TOKENS
        case "openai":
            given |= _openai_clients(client)
            if endpoint.is_compatible:
                # Chosen by name otherwise, which servers that are merely compatible know nothing of.
                given["use_responses_api"] = False
    model = init_chat_model(endpoint.model, model_provider=endpoint.provider, **given)
    if endpoint.provider == "anthropic":
        _replace_anthropic_client(model, client)
    return model


def _openai_clients(client: dict[str, Any]) -> dict[str, Any]:
    import openai

    return {
        "http_client": openai.DefaultHttpxClient(**client),
        "http_async_client": openai.DefaultAsyncHttpxClient(**client),
        # Read from OPENAI_PROXY otherwise, and refused beside a client.
        "openai_proxy": None,
    }


def _replace_anthropic_client(model: Any, client: dict[str, Any]) -> None:
    """LangChain's class takes no client, and makes its own when it is first asked for."""
    import anthropic

    http_client = anthropic.DefaultAsyncHttpxClient(**client)
    made = anthropic.AsyncClient(**model._client_params, http_client=http_client)
    model.__dict__["_async_client"] = made
