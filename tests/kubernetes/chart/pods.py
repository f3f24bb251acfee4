"""Finding things among manifests: pods wherever they hide, and what belongs to whom."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.kubernetes.chart.helm import Manifest


@dataclass(frozen=True, slots=True)
class Pod:
    name: str
    """`server`, `execd`, `migrate`, `test` or `runner`."""
    spec: dict[str, Any]
    labels: dict[str, str]

    @property
    def containers(self) -> list[dict[str, Any]]:
        return [*self.spec["containers"], *self.spec.get("initContainers", ())]


def pods_of(manifests: list[Manifest]) -> Iterator[Pod]:
    """Every pod that can come of these: of workloads, of hooks, and of the Job that the server is given."""
    for manifest in manifests:
        kind = manifest["kind"]
        if kind in ("Deployment", "Job"):
            template = manifest["spec"]["template"]
            labels = template["metadata"]["labels"]
            yield Pod(labels["app.kubernetes.io/component"], template["spec"], labels)
        elif kind == "Pod":
            labels = manifest["metadata"]["labels"]
            yield Pod(labels["app.kubernetes.io/component"], manifest["spec"], labels)
        elif kind == "ConfigMap" and "job.json" in manifest["data"]:
            template = json.loads(manifest["data"]["job.json"])["spec"]["template"]
            yield Pod("runner", template["spec"], template["metadata"]["labels"])


def job_template(manifests: list[Manifest]) -> dict[str, Any]:
    (found,) = (m["data"]["job.json"] for m in of_kind(manifests, "ConfigMap") if "job.json" in m["data"])
    return json.loads(found)


def of_kind(manifests: list[Manifest], kind: str) -> list[Manifest]:
    return [manifest for manifest in manifests if manifest["kind"] == kind]


def only(manifests: list[Manifest], kind: str, name: str = "") -> Manifest:
    (found,) = (
        manifest for manifest in of_kind(manifests, kind) if name in ("", manifest["metadata"]["name"])
    )
    return found


def variables(container: dict[str, Any]) -> dict[str, Any]:
    return {one["name"]: one.get("value", one.get("valueFrom")) for one in container["env"]}
