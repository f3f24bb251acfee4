"""Every manifest is one that the API of every supported Kubernetes takes, field by field."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from sandtable import __version__
from tests.kubernetes.chart.cases import CASES
from tests.kubernetes.chart.helm import CHART, Helm, Manifest
from tests.kubernetes.chart.pods import job_template, of_kind

pytestmark = pytest.mark.needs("helm")

OLDEST = (1, 30)
OF_OTHERS = {"HTTPRoute", "ServiceMonitor", "PrometheusRule"}
"""Kinds that do not come with Kubernetes."""


def _schemas() -> Path | None:
    found = find_spec("kubernetes_validate")
    return Path(found.origin).with_name("kubernetes-json-schema") if found and found.origin else None


def _versions() -> list[str]:
    """Every Kubernetes from the oldest supported to the newest known, as `1.30.0`."""
    folders = SCHEMAS.glob("v*-local-strict") if SCHEMAS else ()
    known = (path.name.split("-")[0].removeprefix("v") for path in folders)
    supported = [version for version in known if tuple(map(int, version.split(".")[:2])) >= OLDEST]
    return sorted(supported, key=lambda version: [int(part) for part in version.split(".")])


SCHEMAS = _schemas()


@cache
def _validator(version: str, kind: str, api: str) -> Draft202012Validator:
    group, _, number = api.rpartition("/")
    name = "-".join(filter(None, (kind.lower(), group.partition(".")[0], number)))
    return Draft202012Validator(_read(version, name), registry=_definitions(version))


@cache
def _definitions(version: str) -> Registry[Any]:
    resource = Resource.from_contents(_read(version, "_definitions"))
    return resource @ Registry()


def _read(version: str, name: str) -> Any:
    assert SCHEMAS
    return json.loads((SCHEMAS / f"v{version}-local-strict/{name}.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="package")
def distinct(rendered: dict[str, list[Manifest]]) -> list[tuple[str, Manifest]]:
    """Of all cases, each thing once; with the Jobs that are made from the template."""
    found = {
        json.dumps(manifest, sort_keys=True): (case, manifest)
        for case, manifests in rendered.items()
        for manifest in _with_jobs(manifests)
        if manifest["kind"] not in OF_OTHERS
    }
    return list(found.values())


def _with_jobs(manifests: list[Manifest]) -> Iterator[Manifest]:
    yield from manifests
    if any("job.json" in manifest["data"] for manifest in of_kind(manifests, "ConfigMap")):
        yield job_template(manifests)


@pytest.mark.parametrize("version", _versions())
def test_manifests_are_valid(distinct: list[tuple[str, Manifest]], version: str) -> None:
    assert len(distinct) > 50
    for case, manifest in distinct:
        validator = _validator(version, manifest["kind"], manifest["apiVersion"])
        wrong = [f"{'.'.join(map(str, e.path))}: {e.message}" for e in validator.iter_errors(manifest)]
        assert not wrong, f"{case}: {manifest['kind']} {manifest['metadata'].get('name')}"


def test_a_mistake_would_be_noticed(distinct: list[tuple[str, Manifest]]) -> None:
    _, deployment = next(one for one in distinct if one[1]["kind"] == "Deployment")
    broken = json.loads(json.dumps(deployment).replace('"readinessProbe"', '"readynessProbe"'))
    validator = _validator(_versions()[-1], "Deployment", "apps/v1")
    assert validator.is_valid(deployment)
    assert not validator.is_valid(broken)


def test_lint_has_nothing_to_say(helm: Helm, case: str) -> None:
    found = helm.call("lint", values=CASES[case])
    said = [message for message in found["messages"] if message["error"] != "icon is recommended"]
    assert (said, found["errors"]) == ([], [])


def test_the_chart_installs_this_version() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))
    assert chart["appVersion"] == __version__
    assert chart["kubeVersion"] == ">={}.{}.0-0".format(*OLDEST)
