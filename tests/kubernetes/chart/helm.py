"""Helm for the tests, in a process of its own (`helm_process`): the library brings a runtime with threads that pytest
should not have."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import yaml

ROOT = Path(__file__).resolve().parents[3]
CHART = ROOT / "deploy/helm/sandtable"
RELEASE, NAMESPACE = "st", "apps"

Manifest = dict[str, Any]
Values = Mapping[str, Any]


class Refused(Exception):
    """Helm did not do it; the message is Helm's."""


class Helm:
    def __init__(self, kubeconfig: str | None = None) -> None:
        command = [
            sys.executable,
            "-m",
            "tests.kubernetes.chart.helm_process",
            json.dumps({"kubeconfig": kubeconfig}),
        ]
        self._process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def call(self, what: str, **given: Any) -> Any:
        """One of the functions in `helm_process`, by its name."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps({"what": what, **given}) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        if "refused" in answer:
            raise Refused(answer["refused"])
        return answer["done"]

    def texts(
        self, values: Values | None = None, release: str = RELEASE, namespace: str = NAMESPACE
    ) -> dict[str, str]:
        """What the chart becomes, by the path of its template."""
        found = self.call("render", values=values or {}, release=release, namespace=namespace)
        return {path.removeprefix("sandtable/templates/"): text for path, text in found.items()}

    def manifests(
        self, values: Values | None = None, release: str = RELEASE, namespace: str = NAMESPACE
    ) -> list[Manifest]:
        texts = self.texts(values, release, namespace)
        documents = (
            yaml.load_all(text, yaml.CSafeLoader) for path, text in texts.items() if path.endswith(".yaml")
        )
        return [document for several in documents for document in several if document]
