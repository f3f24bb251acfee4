"""The API server's address and our credentials: from a kubeconfig, or from the files mounted into a pod.

Invariant: nothing is read from the environment here; the settings pass in its values.
"""

from __future__ import annotations

import base64
import binascii
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from sandtable.errors import SandboxUnavailable
from sandtable.sandbox.kubernetes.credentials import (
    Fixed,
    Plugin,
    Source,
    TokenFile,
    context_for,
    load_client_certificate,
)

MOUNTED = Path("/var/run/secrets/kubernetes.io/serviceaccount")
USUAL = Path("~/.kube/config")
SERVICE = ("kubernetes.default.svc", 443)
"""Address of the API inside a pod whose environment names none."""
_HOW = "Set KUBECONFIG to a kubeconfig file, or run the server in the cluster with its service account's token mounted"


@dataclass(frozen=True, slots=True)
class Cluster:
    server: str
    tls: ssl.SSLContext
    source: Source
    namespace: str
    origin: str
    """For messages: the file, or `the pod's service account`."""
    proxy: str | None = None
    server_name: str | None = None
    """The name in the server's certificate, where it differs from the address."""


def find_cluster(kubeconfig: Sequence[Path] = (), service: tuple[str, int] | None = None) -> Cluster:
    """A named kubeconfig first, then the service account of our own pod, then the default file. Raises
    SandboxUnavailable."""
    if kubeconfig:
        return read_kubeconfig(kubeconfig)
    if (MOUNTED / "token").is_file():
        return _of_pod(service or SERVICE)
    usual = USUAL.expanduser()
    if usual.is_file():
        return read_kubeconfig([usual])
    raise SandboxUnavailable("no Kubernetes cluster is configured here", suggestion=_HOW)


def _of_pod(service: tuple[str, int]) -> Cluster:
    host, port = service
    server = f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"
    namespace = MOUNTED / "namespace"
    return Cluster(
        server=server,
        tls=context_for(_read(MOUNTED / "ca.crt"), insecure=False),
        source=TokenFile(MOUNTED / "token"),
        namespace=_read(namespace).strip() if namespace.is_file() else "default",
        origin="the pod's service account",
    )


def read_kubeconfig(paths: Sequence[Path]) -> Cluster:
    """Files are merged, earlier ones win. Missing files count as empty."""
    present = [path for path in paths if path.is_file()]
    if not present:
        named = ", ".join(str(path) for path in paths)
        raise SandboxUnavailable(f"there is no kubeconfig at {named}", suggestion=_HOW)
    return _Config(present).cluster()


class _Config:
    def __init__(self, paths: Sequence[Path]) -> None:
        self._origin = ", ".join(str(path) for path in paths)
        self._parts = [(path.parent, self._load(path)) for path in paths]

    def cluster(self) -> Cluster:
        current = next(
            (part["current-context"] for _, part in self._parts if part.get("current-context")), ""
        )
        if not current:
            raise self._unusable("it has no current-context", "choose one with `kubectl config use-context`")
        _, context = self._named("contexts", "context", current)
        folder, cluster = self._named("clusters", "cluster", context.get("cluster", ""))
        user_folder, user = self._named("users", "user", context.get("user", ""))
        server = cluster.get("server")
        if not server:
            raise self._unusable(f"its cluster {context.get('cluster')!r} has no server", "name its address")
        try:
            tls = context_for(
                self._text(folder, cluster, "certificate-authority"),
                insecure=bool(cluster.get("insecure-skip-tls-verify")),
            )
            certificate = self._text(user_folder, user, "client-certificate")
            key = self._text(user_folder, user, "client-key")
            if certificate and key:
                load_client_certificate(tls, certificate, key)
        except (ssl.SSLError, UnicodeError) as error:
            raise self._unusable(f"a certificate in it cannot be read: {error}", "make a new one") from error
        return Cluster(
            server=str(server).rstrip("/"),
            tls=tls,
            source=self._source(user_folder, user, tls),
            namespace=context.get("namespace") or "default",
            origin=self._origin,
            proxy=cluster.get("proxy-url"),
            server_name=cluster.get("tls-server-name"),
        )

    def _source(self, folder: Path, user: dict[str, Any], tls: ssl.SSLContext) -> Source:
        if user.get("tokenFile"):
            return TokenFile(folder / user["tokenFile"])
        if user.get("token"):
            return Fixed(f"Bearer {user['token']}")
        if user.get("username"):
            return Fixed.of_password(user["username"], user.get("password") or "")
        plugin = user.get("exec")
        if plugin:
            command = str(plugin.get("command") or "")
            # A bare name is looked up on the PATH; a path is relative to the file that names it.
            command = str(folder / command) if "/" in command else command
            return Plugin(
                command=command,
                arguments=tuple(plugin.get("args") or ()),
                environment={entry["name"]: entry["value"] for entry in plugin.get("env") or ()},
                api_version=plugin.get("apiVersion", "client.authentication.k8s.io/v1"),
                tls=tls,
                advice=plugin.get("installHint") or "",
            )
        if user.get("auth-provider"):
            raise self._unusable(
                "it signs in by an auth-provider, which Kubernetes has given up", "use its `exec` successor"
            )
        return Fixed(None)

    def _named(self, section: str, inner: str, name: str) -> tuple[Path, dict[str, Any]]:
        """The folder is that of the file with the entry: paths in the entry are relative to it."""
        for folder, part in self._parts:
            for entry in part.get(section) or ():
                if isinstance(entry, dict) and entry.get("name") == name:
                    return folder, entry.get(inner) or {}
        raise self._unusable(
            f"it names a {inner} {name!r} that it does not have", "look at `kubectl config view`"
        )

    def _text(self, folder: Path, entry: dict[str, Any], field: str) -> str | None:
        if data := entry.get(f"{field}-data"):
            try:
                return base64.b64decode(data, validate=True).decode("ascii")
            except (binascii.Error, UnicodeError) as error:
                raise self._unusable(f"its {field}-data is not base64", "make a new file") from error
        return _read(folder / entry[field]) if entry.get(field) else None

    def _load(self, path: Path) -> dict[str, Any]:
        try:
            content = yaml.safe_load(_read(path))
        except yaml.YAMLError as error:
            raise self._unusable("it is not YAML", "look at it with `kubectl config view`") from error
        if content is not None and not isinstance(content, dict):
            raise self._unusable("it is not a kubeconfig", "name another file")
        return content or {}

    def _unusable(self, why: str, advice: str) -> SandboxUnavailable:
        return SandboxUnavailable(f"the kubeconfig {self._origin} cannot be used: {why}", suggestion=advice)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise SandboxUnavailable(f"{path} cannot be read: {reason}", suggestion=_HOW) from error
