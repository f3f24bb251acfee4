"""A release of the chart on the cluster under test: installed, changed, asked and removed as an operator would."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.kubernetes.chart.helm import Helm, Refused
from tests.kubernetes.target import Target

PATIENCE_S = 180
_FORWARDING = re.compile(r"127\.0\.0\.1:(\d+) ->")


@dataclass(frozen=True, slots=True)
class Release:
    cluster: Target
    helm: Helm
    name: str
    """Also that of its namespace; it holds the chart's name, so that everything is called so."""

    @property
    def runners(self) -> str:
        return f"{self.name}-runners"

    def install(self, values: Mapping[str, Any]) -> Any:
        return self._call("install", values=values)

    def upgrade(self, values: Mapping[str, Any]) -> Any:
        return self._call("upgrade", values=values)

    def rollback(self, version: int) -> None:
        self._call("rollback", version=version)

    def uninstall(self) -> None:
        self._call("uninstall")

    def test(self) -> str:
        """What the test pods said."""
        return self._call("test")["logs"]

    def history(self) -> list[dict[str, Any]]:
        return self.helm.call("history", release=self.name, namespace=self.name)

    def _call(self, what: str, **given: Any) -> Any:
        try:
            return self.helm.call(what, release=self.name, namespace=self.name, timeout=PATIENCE_S, **given)
        except Refused as error:
            raise Refused(f"{error}\n{self.report()}") from error

    def report(self) -> str:
        """For a person who wants to know why it did not work."""
        parts = [self._said("get", "events", "-n", space) for space in (self.name, self.runners)]
        pods = self._said("get", "pods", "-n", self.name, "-o", "name").split()
        for pod in pods:
            parts += [
                self._said("logs", pod, "-n", self.name, "--tail=60", *which)
                for which in ((), ("--previous",))
            ]
        return "\n".join(part for part in parts if part)

    def _said(self, *arguments: str) -> str:
        """Also where it fails: this is read when something is broken."""
        try:
            return self.cluster.kubectl(*arguments)
        except AssertionError as error:
            return str(error)

    @contextmanager
    def door(self, to: str = "", port: int = 80) -> Iterator[Door]:
        """A way to the installed server, or to one of its pods, that works on every cluster."""
        kubectl = shutil.which("kubectl")
        assert kubectl
        command = [kubectl, f"--kubeconfig={self.cluster.kubeconfig}", "port-forward", "-n", self.name]
        command += [to or f"service/{self.name}", f":{port}"]
        forwarding = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert forwarding.stdout
            found = _FORWARDING.search(forwarding.stdout.readline())
            assert found, "kubectl port-forward named no port"
            yield Door(f"http://127.0.0.1:{found[1]}")
        finally:
            forwarding.terminate()
            forwarding.communicate()


@dataclass(frozen=True, slots=True)
class Door:
    address: str

    def get(self, path: str) -> Any:
        return self._ask("GET", path)

    def post(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        return self._ask("POST", path, body or {})

    def run(self, sql: str) -> dict[str, Any]:
        """A run that has ended well."""
        body = {"dataset_id": "ecommerce", "sql": sql, "cache": False}
        run = self.post("/runs?wait=60", body)
        until = time.monotonic() + 120
        while run["status"] in ("pending", "running") and time.monotonic() < until:
            run = self.get(f"/runs/{run['run_id']}?wait=30")
        assert run["status"] == "succeeded", run
        return run

    def verifies(self, run: Mapping[str, Any]) -> bool:
        return self.post(f"/runs/{run['run_id']}/verify")["ok"]

    def _ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        request = urllib.request.Request(
            self.address + path,
            data=None if body is None else json.dumps(body).encode(),
            method=method,
            headers={"Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{method} {path}: {error.code} {error.read(4000)!r}") from error
