"""A template may add to the walls around a run, and take none away."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sandtable.errors import SandboxUnavailable
from sandtable.sandbox.kubernetes.template import (
    built_in,
    checked,
    layers_of,
    pod_of,
    read_template,
    runner_of,
    weaknesses,
)

Change = Callable[[dict[str, Any]], Any]


def _security(template: dict[str, Any]) -> dict[str, Any]:
    return runner_of(template)["securityContext"]


_WEAKER: dict[str, tuple[Change, str]] = {
    "restarts": (lambda t: pod_of(t).update(restartPolicy="OnFailure"), "restartPolicy"),
    "has a token": (lambda t: pod_of(t).pop("automountServiceAccountToken"), "automountServiceAccountToken"),
    "host network": (lambda t: pod_of(t).update(hostNetwork=True), "hostNetwork"),
    "host processes": (lambda t: pod_of(t).update(hostPID=True), "hostPID"),
    "a folder of the host": (
        lambda t: pod_of(t).update(volumes=[{"name": "etc", "hostPath": {"path": "/etc"}}]),
        "'etc' must not be a hostPath",
    ),
    "root": (lambda t: pod_of(t)["securityContext"].pop("runAsNonRoot"), "runAsNonRoot"),
    "root by number": (lambda t: _security(t).update(runAsUser=0), "runAsNonRoot"),
    "more privileges": (lambda t: _security(t).pop("allowPrivilegeEscalation"), "allowPrivilegeEscalation"),
    "a root that can be written": (
        lambda t: _security(t).update(readOnlyRootFilesystem=False),
        "readOnlyRootFilesystem",
    ),
    "privileged": (lambda t: _security(t).update(privileged=True), "privileged"),
    "capabilities": (lambda t: _security(t).pop("capabilities"), "capabilities.drop"),
    "a capability more": (
        lambda t: _security(t)["capabilities"].update(add=["NET_ADMIN"]),
        "capabilities.add",
    ),
    "no filter of system calls": (
        lambda t: pod_of(t)["securityContext"].update(seccompProfile={"type": "Unconfined"}),
        "seccompProfile",
    ),
    "a second container without walls": (
        lambda t: pod_of(t)["containers"].append({"name": "side", "image": "x"}),
        "container 'side'",
    ),
    "a first container without walls": (
        lambda t: pod_of(t).update(initContainers=[{"name": "before", "image": "x"}]),
        "container 'before'",
    ),
}
_SHAPELESS: dict[str, tuple[object, str]] = {
    "a list": ([], "kind Job"),
    "a pod": ({"apiVersion": "v1", "kind": "Pod"}, "kind Job"),
    "an old Job": ({"apiVersion": "batch/v1beta1", "kind": "Job"}, "batch/v1"),
    "an empty Job": ({"apiVersion": "batch/v1", "kind": "Job"}, "containers is missing"),
    "no container": (
        {"apiVersion": "batch/v1", "kind": "Job", "spec": {"template": {"spec": {"containers": []}}}},
        "'runner'",
    ),
}


def test_the_built_in_template_has_all_walls() -> None:
    assert weaknesses(built_in("r")) == []


@pytest.mark.parametrize(("change", "named"), _WEAKER.values(), ids=list(_WEAKER))
def test_a_weaker_template_is_refused_by_the_field(change: Change, named: str) -> None:
    template = built_in("r")
    change(template)
    with pytest.raises(SandboxUnavailable, match="the chart's") as caught:
        checked(template, "r", "the chart's")
    assert named in caught.value.message


@pytest.mark.parametrize(("template", "named"), _SHAPELESS.values(), ids=list(_SHAPELESS))
def test_what_is_no_job_is_refused(template: object, named: str) -> None:
    with pytest.raises(SandboxUnavailable, match=named):
        checked(template, "r", "x")


def test_everything_wrong_is_told_at_once() -> None:
    template = built_in("r")
    pod_of(template).update(restartPolicy="Always", hostIPC=True)
    with pytest.raises(SandboxUnavailable) as caught:
        checked(template, "r", "x")
    assert "restartPolicy" in caught.value.message
    assert "hostIPC" in caught.value.message


def test_an_image_is_given_where_the_template_names_none(tmp_path: Path) -> None:
    template = built_in("own:2")
    path = tmp_path / "job.json"
    path.write_text(json.dumps(template))
    assert runner_of(read_template(path, "other:1"))["image"] == "own:2"
    del runner_of(template)["image"]
    path.write_text(json.dumps(template))
    assert runner_of(read_template(path, "other:1"))["image"] == "other:1"


@pytest.mark.parametrize("content", [None, "kind: Job"], ids=["missing", "YAML"])
def test_a_file_that_cannot_be_read_says_so(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "job.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(SandboxUnavailable, match=r"job\.json cannot be read as JSON"):
        read_template(path, "r")


def test_the_layers_name_a_runtime_of_ones_own() -> None:
    template = built_in("r")
    assert "runtime:gvisor" not in layers_of(template)
    pod_of(template)["runtimeClassName"] = "gvisor"
    assert layers_of(template)[:3] == ("container:kubernetes", "runtime:gvisor", "pod-security:restricted")
