"""How the server signs in to the Kubernetes API: by a certificate in the TLS context, or by a header made here.

Invariant: a credential that can change (a mounted token, a plugin's output) is read again when the server no longer
accepts it, so a rotated token never needs a restart.
"""

from __future__ import annotations

import asyncio
import base64
import json
import ssl
import tempfile
import time
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

import httpx2

from sandtable.errors import SandboxUnavailable

_REREAD_S = 60.0
_PLUGIN_S = 60.0
_EARLY_S = 30.0


def load_client_certificate(context: ssl.SSLContext, certificate: str, key: str) -> None:
    """From PEM text. `ssl` reads files only: they exist for a moment, readable by this user alone."""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for name, text in (("certificate", certificate), ("key", key)):
            path = Path(folder, name)
            path.touch(mode=0o600)
            path.write_text(text, encoding="ascii")
            paths.append(path)
        context.load_cert_chain(*paths)


def context_for(authority: str | None, *, insecure: bool) -> ssl.SSLContext:
    """`authority`: PEM text of the authority that signs the server's certificate; None for the system's authorities."""
    context = ssl.create_default_context(cadata=authority)
    if insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


class Source(Protocol):
    async def authorization(self, *, renew: bool) -> str | None:
        """The header's value. `renew`: the last one was refused."""
        ...


@dataclass(frozen=True, slots=True)
class Fixed:
    """A token, a name and password, or nothing beside a certificate."""

    value: str | None

    async def authorization(self, *, renew: bool) -> str | None:
        return self.value

    @classmethod
    def of_password(cls, user: str, password: str) -> Fixed:
        return cls("Basic " + base64.b64encode(f"{user}:{password}".encode()).decode())


@dataclass(slots=True)
class TokenFile:
    """A mounted service account's token, which the kubelet replaces before it expires."""

    path: Path
    _value: str = ""
    _read_at: float = field(default=float("-inf"))

    async def authorization(self, *, renew: bool) -> str | None:
        now = time.monotonic()
        if renew or now - self._read_at > _REREAD_S:
            try:
                token = await asyncio.to_thread(self.path.read_text)
            except OSError as error:
                raise SandboxUnavailable(
                    f"the Kubernetes token {self.path} cannot be read: {error.strerror or error}",
                    suggestion="Mount the service account's token into the server's pod",
                ) from error
            self._value, self._read_at = f"Bearer {token.strip()}", now
        return self._value


@dataclass(slots=True)
class Plugin:
    """A program named by the kubeconfig that prints a credential."""

    command: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    api_version: str
    tls: ssl.SSLContext
    advice: str = ""
    _value: str | None = None
    _ends: float = field(default=float("-inf"))

    async def authorization(self, *, renew: bool) -> str | None:
        if renew or time.time() > self._ends:
            await self._ask()
        return self._value

    async def _ask(self) -> None:
        status = (await self._run()).get("status") or {}
        if status.get("clientCertificateData") and status.get("clientKeyData"):
            load_client_certificate(self.tls, status["clientCertificateData"], status["clientKeyData"])
        token = status.get("token")
        self._value = f"Bearer {token}" if token else None
        self._ends = _moment(status.get("expirationTimestamp"))

    async def _run(self) -> dict[str, Any]:
        request = {"apiVersion": self.api_version, "kind": "ExecCredential", "spec": {"interactive": False}}
        given = {**self.environment, "KUBERNETES_EXEC_INFO": json.dumps(request)}
        # `env` extends the environment without this process reading it.
        words = ("env", *(f"{name}={value}" for name, value in given.items()), self.command, *self.arguments)
        try:
            process = await asyncio.create_subprocess_exec(
                *words,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
        except OSError as error:
            raise self._trouble(f"cannot be started: {error.strerror or error}") from error
        try:
            async with asyncio.timeout(_PLUGIN_S):
                said, complained = await process.communicate()
        except TimeoutError:
            process.kill()
            raise self._trouble(f"gave no credential within {_PLUGIN_S:g} s") from None
        if process.returncode != 0:
            last = complained.decode(errors="replace").strip().splitlines()[-1:] or ["no message"]
            raise self._trouble(f"failed: {last[0]}")
        try:
            answer = json.loads(said)
        except ValueError:
            raise self._trouble("did not print a credential as JSON") from None
        return answer if isinstance(answer, dict) else {}

    def _trouble(self, what: str) -> SandboxUnavailable:
        advice = self.advice or f"run `{self.command}` by hand and see what it says"
        return SandboxUnavailable(
            f"the program that the kubeconfig names for signing in, {self.command!r}, {what}",
            suggestion=advice,
        )


def _moment(text: str | None) -> float:
    """Seconds since 1970, a little early; infinity when the credential does not expire."""
    if not text:
        return float("inf")
    try:
        return datetime.fromisoformat(text).timestamp() - _EARLY_S
    except ValueError:
        return float("-inf")


class SignedIn(httpx2.Auth):
    """Puts the credential on each request; asks for a new one, once, when it is refused."""

    def __init__(self, source: Source) -> None:
        self._source = source

    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        for renew in (False, True):
            value = await self._source.authorization(renew=renew)
            if value is not None:
                request.headers["Authorization"] = value
            response = yield request
            if response.status_code != httpx2.codes.UNAUTHORIZED:
                return
