"""The calls of the Kubernetes API that the tier needs, and their errors.

Invariant: no call can hang. A plain call has a timeout of seconds; a watch ends by the server's timeout and a little
later by ours; on a silent log, TCP keep-alive detects a dead peer.
"""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx2

from sandtable.errors import SandboxUnavailable
from sandtable.retrying import Backoff
from sandtable.sandbox.connecting import close_unfinished
from sandtable.sandbox.kubernetes.cluster import Cluster
from sandtable.sandbox.kubernetes.credentials import SignedIn

_CALL = httpx2.Timeout(15.0, connect=5.0)
_WATCH_S = 60
_WATCH = httpx2.Timeout(_WATCH_S + 15.0, connect=5.0)
_LOG = httpx2.Timeout(None, connect=5.0, write=15.0, pool=15.0)
_KEEP_ALIVE = (
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 10),
    (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 5),
    (socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3),
    (socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 25_000),
)
_CONNECTIONS = httpx2.Limits(max_connections=None, max_keepalive_connections=16, keepalive_expiry=30.0)
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
_GONE = 410
_LAST_TURNS = 5
OUTAGE = Backoff((0.1, 0.25, 0.5, 1.0, 2.0))
"""Backoff while the API does not answer."""

Object = dict[str, Any]


class ApiAway(Exception):
    """The API server cannot be reached, or cannot serve now: the same call may succeed later. If signing in failed, the
    cause is a SandboxUnavailable that says why."""


class ApiRefused(Exception):
    """The API server refused the request."""

    def __init__(self, status: int, reason: str, message: str, call: str) -> None:
        super().__init__(f"{call}: {status} {reason}: {message}")
        self.status = status
        self.reason = reason
        """The API's reason, such as `AlreadyExists`."""
        self.message = message
        self.call = call
        """Verb and resource, as a role names them: `create jobs`."""


class ApiGone(ApiAway):
    """The resource version of a watch has expired: list again."""


class Api:
    def __init__(self, cluster: Cluster, namespace: str = "") -> None:
        self.cluster = cluster
        self.namespace = namespace or cluster.namespace
        self._jobs = f"/apis/batch/v1/namespaces/{self.namespace}/jobs"
        self._pods = f"/api/v1/namespaces/{self.namespace}/pods"
        self._events = f"/api/v1/namespaces/{self.namespace}/events"
        transport = httpx2.AsyncHTTPTransport(
            verify=cluster.tls,
            proxy=cluster.proxy,
            limits=_CONNECTIONS,
            socket_options=_KEEP_ALIVE,
            trust_env=False,
        )
        self._client = httpx2.AsyncClient(
            base_url=cluster.server,
            transport=transport,
            auth=SignedIn(cluster.source),
            timeout=_CALL,
            trust_env=False,
            headers={"Accept": "application/json", "User-Agent": "sandtable"},
        )
        self._names = {"sni_hostname": cluster.server_name} if cluster.server_name else {}

    async def aclose(self) -> None:
        await self._client.aclose()
        # An aborted connection closes its socket in the next iterations of the event loop, which may be about to end.
        for _ in range(_LAST_TURNS):
            await asyncio.sleep(0)

    async def create_job(self, manifest: Object) -> Object:
        return await self._call("create jobs", "POST", self._jobs, body=manifest)

    async def job(self, name: str) -> Object | None:
        return await self._unless_missing("get jobs", f"{self._jobs}/{name}")

    async def jobs(self, selector: str) -> list[Object]:
        answer = await self._call("list jobs", "GET", self._jobs, {"labelSelector": selector})
        return answer.get("items") or []

    async def delete_job(self, name: str, uid: str = "") -> bool:
        """Deletes its pods too, without a grace period. False when there was none (with that uid)."""
        options: Object = {"propagationPolicy": "Background", "gracePeriodSeconds": 0}
        if uid:
            options["preconditions"] = {"uid": uid}
        try:
            await self._call("delete jobs", "DELETE", f"{self._jobs}/{name}", body=options)
        except ApiRefused as refused:
            if refused.status in (httpx2.codes.NOT_FOUND, httpx2.codes.CONFLICT):
                return False
            raise
        return True

    async def pods(self, selector: str) -> tuple[list[Object], str]:
        """The pods, and the resource version of the list."""
        answer = await self._call("list pods", "GET", self._pods, {"labelSelector": selector})
        return answer.get("items") or [], answer.get("metadata", {}).get("resourceVersion", "")

    async def watch_pods(self, selector: str, version: str) -> AsyncGenerator[tuple[str, Object], None]:
        """Changes after `version`: the kind of change, and the pod. Ends when the server ends it; raises ApiGone when
        that version has expired."""
        query = {
            "labelSelector": selector,
            "watch": "1",
            "resourceVersion": version,
            "timeoutSeconds": str(_WATCH_S),
        }
        async with self._stream("watch pods", self._pods, query, _WATCH) as response:
            async for line in _lines(response):
                event = _object("watch pods", line)
                if event.get("type") == "ERROR":
                    status = event.get("object") or {}
                    if status.get("code") == _GONE:
                        raise ApiGone(status.get("message", "gone"))
                    raise ApiAway(f"watch pods: {status.get('message', 'broken off')}")
                if event.get("type") != "BOOKMARK":
                    yield str(event.get("type")), event.get("object") or {}

    async def log(self, pod: str, container: str, *, follow: bool) -> AsyncGenerator[bytes, None]:
        """From its beginning. Raises ApiRefused with status 400 until the container has started."""
        query = {"container": container, "follow": "true" if follow else "false"}
        async with self._stream("get pods/log", f"{self._pods}/{pod}/log", query, _LOG) as response:
            async for chunk in response.aiter_bytes():
                yield chunk

    async def events_of(self, name: str) -> list[Object]:
        """Events of one object. Raises ApiRefused (403) where the installation does not grant that permission."""
        query = {"fieldSelector": f"involvedObject.name={name}"}
        return (await self._call("list events", "GET", self._events, query)).get("items") or []

    async def may(self, verb: str, group: str, resource: str, subresource: str = "") -> bool:
        """Whether our account may do this here."""
        asked = {
            "namespace": self.namespace, "verb": verb, "group": group,
            "resource": resource, "subresource": subresource,
        }  # fmt: skip
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": asked},
        }
        path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
        answer = await self._call("create selfsubjectaccessreviews", "POST", path, body=review)
        return bool(answer.get("status", {}).get("allowed"))

    async def _unless_missing(self, call: str, path: str) -> Object | None:
        try:
            return await self._call(call, "GET", path)
        except ApiRefused as refused:
            if refused.status == httpx2.codes.NOT_FOUND:
                return None
            raise

    async def _call(
        self,
        call: str,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        body: Object | None = None,
    ) -> Object:
        try:
            response = await self._client.request(
                method, path, params=query, json=body, extensions=self._extensions()
            )
        except (httpx2.TransportError, httpx2.DecodingError) as error:
            raise ApiAway(f"{call}: {self._reason(error)}") from error
        except SandboxUnavailable as error:
            raise ApiAway(error.message) from error
        if response.is_success:
            return _object(call, response.content)
        raise _trouble(call, response.status_code, response.content)

    @asynccontextmanager
    async def _stream(
        self, call: str, path: str, query: Mapping[str, str], limits: httpx2.Timeout
    ) -> AsyncIterator[httpx2.Response]:
        try:
            async with self._client.stream(
                "GET", path, params=query, timeout=limits, extensions=self._extensions()
            ) as response:
                if not response.is_success:
                    raise _trouble(call, response.status_code, await response.aread())
                yield response
        except (httpx2.TransportError, httpx2.StreamError, httpx2.DecodingError) as error:
            raise ApiAway(f"{call}: {self._reason(error)}") from error
        except SandboxUnavailable as error:
            raise ApiAway(error.message) from error

    def _extensions(self) -> dict[str, Any]:
        return {**self._names, "trace": close_unfinished()}

    def _reason(self, error: Exception) -> str:
        return f"{self.cluster.server}: {str(error) or type(error).__name__}"


def _object(call: str, content: bytes) -> Object:
    """Parses defensively: a proxy before the API may have answered instead."""
    try:
        answer = json.loads(content)
    except ValueError as error:
        raise ApiAway(f"{call}: an answer that is not JSON: {content[:80]!r}") from error
    if not isinstance(answer, dict):
        raise ApiAway(f"{call}: an answer that is not an object: {content[:80]!r}")
    return answer


def _trouble(call: str, status: int, content: bytes) -> ApiAway | ApiRefused:
    try:
        answer = json.loads(content)
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        answer = {"message": content[:500].decode(errors="replace")}
    message = str(answer.get("message") or "")
    if status == _GONE:
        return ApiGone(message)
    if status in _PASSING:
        return ApiAway(f"{call}: {status} {message}")
    return ApiRefused(status, str(answer.get("reason") or ""), message, call)


async def _lines(response: httpx2.Response) -> AsyncIterator[bytes]:
    """Splits at line feeds only, unlike the library's method."""
    rest = b""
    async for chunk in response.aiter_bytes():
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            if line:
                yield line
