"""The cluster's API as a pod sees it: its service account, and the few calls that the tests need."""

from __future__ import annotations

import json
import ssl
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


class ClusterApi:
    def __init__(self, host: str, port: str, namespace: str) -> None:
        self._namespace = namespace
        self._server = f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"
        self._tls = ssl.create_default_context(cafile=str(_ACCOUNT / "ca.crt"))

    def jobs(self, name: str = "", query: str = "") -> str:
        return f"/apis/batch/v1/namespaces/{self._namespace}/jobs" + self._tail(name, query)

    def pods(self, name: str = "", query: str = "") -> str:
        return f"/api/v1/namespaces/{self._namespace}/pods" + self._tail(name, query)

    @staticmethod
    def _tail(name: str, query: str) -> str:
        return (f"/{name}" if name else "") + (f"?{query}" if query else "")

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        with self._open(method, path, body) as answer:
            return json.load(answer)

    def text(self, path: str) -> str:
        with self._open("GET", path) as answer:
            return answer.read().decode("utf-8", errors="replace")

    def lines(self, path: str) -> Iterator[dict[str, Any]]:
        """Of a watch, until the server ends it."""
        with self._open("GET", path) as answer:
            for line in answer:
                yield json.loads(line)

    def _open(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        token = (_ACCOUNT / "token").read_text(encoding="ascii").strip()
        request = urllib.request.Request(  # noqa: S310 - the cluster's own address
            self._server + path,
            data=None if body is None else json.dumps(body).encode(),
            method=method,
            headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
        )
        return urllib.request.urlopen(request, context=self._tls, timeout=60)  # noqa: S310 - as above
