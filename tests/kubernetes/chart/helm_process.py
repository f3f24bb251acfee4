"""Helm's work: a line of JSON in, a line of JSON out. `helm.Helm` starts and asks it."""

from __future__ import annotations

import json
import sys
from typing import Any

import helm_python

from tests.kubernetes.chart.helm import CHART, NAMESPACE, Values


class _Work:
    """Each function takes and gives what JSON can say."""

    def __init__(self, kubeconfig: str | None) -> None:
        self._kubeconfig = kubeconfig
        self._chart = helm_python.Chart.load(CHART)

    def render(self, values: Values, release: str, namespace: str, chart: str | None = None) -> Any:
        """`chart`: another one than ours."""
        loaded = helm_python.Chart.load(chart) if chart else self._chart
        return loaded.render(dict(values), name=release, namespace=namespace)

    def lint(self, values: Values, **options: Any) -> Any:
        return helm_python.lint(CHART, dict(values), strict=True, namespace=NAMESPACE, **options)

    def install(self, release: str, namespace: str, values: Values, timeout: int) -> Any:
        with self._config(namespace) as config:
            return config.install(
                CHART, release, dict(values), wait="watcher", timeout=timeout, create_namespace=True
            )

    def upgrade(self, release: str, namespace: str, values: Values, timeout: int) -> Any:
        with self._config(namespace) as config:
            return config.upgrade(
                CHART, release, dict(values), wait="watcher", timeout=timeout, reset_values=True
            )

    def rollback(self, release: str, namespace: str, version: int, timeout: int) -> Any:
        with self._config(namespace) as config:
            return config.rollback(release, version=version, wait="watcher", timeout=timeout)

    def uninstall(self, release: str, namespace: str, timeout: int) -> Any:
        with self._config(namespace) as config:
            return config.uninstall(release, wait="watcher", timeout=timeout, ignore_not_found=True)

    def test(self, release: str, namespace: str, timeout: int) -> Any:
        with self._config(namespace) as config:
            return config.test(release, timeout=timeout, logs=True)

    def history(self, release: str, namespace: str) -> Any:
        with self._config(namespace) as config:
            return config.history(release)

    def _config(self, namespace: str) -> Any:
        return helm_python.Config(kubeconfig_path=self._kubeconfig, namespace=namespace)


def _serve(kubeconfig: str | None) -> None:
    work = _Work(kubeconfig)
    for line in sys.stdin:
        given = json.loads(line)
        try:
            answer = {"done": getattr(work, given.pop("what"))(**given)}
        except helm_python.HelmError as error:
            answer = {"refused": str(error)}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    _serve(**json.loads(sys.argv[1]))
