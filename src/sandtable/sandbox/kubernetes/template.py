"""The Job that every run is made from: the built-in one, or the operator's, which may add but never weaken.

Invariant: whatever the template, its pod meets the `restricted` pod security standard, has a read-only root, no service
account token, no restart, and no access to the host. Other templates are refused when the server starts.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

from sandtable.errors import SandboxUnavailable

CONTAINER = "runner"
USER = 65532
Object = dict[str, Any]


def built_in(image: str) -> Object:
    container = {
        "name": CONTAINER,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
    }
    pod = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        # A run has no clean-up: with a grace period, a cancelled run would continue that long.
        "terminationGracePeriodSeconds": 0,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": USER,
            "runAsGroup": USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [container],
    }
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {}, "spec": {"template": {"spec": pod}}}


def read_template(path: Path, image: str) -> Object:
    """The operator's template. `image` is used where it names none. Raises SandboxUnavailable with all faults."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SandboxUnavailable(
            f"the Job template {path} cannot be read as JSON: {error}",
            suggestion="Name a JSON file with a Job in SANDTABLE_KUBERNETES_TEMPLATE, or none for the built-in one",
        ) from error
    return checked(found, image, str(path))


def checked(template: object, image: str, origin: str) -> Object:
    problems = _shape(template)
    if not problems:
        assert isinstance(template, dict)
        template = copy.deepcopy(template)
        template.setdefault("metadata", {})
        runner_of(template).setdefault("image", image)
        problems = weaknesses(template)
    if problems or not isinstance(template, dict):
        raise SandboxUnavailable(
            f"the Job template {origin} cannot be used: {'; '.join(problems)}",
            suggestion="Correct these fields; docs/kubernetes.md shows a template that works",
        )
    return template


def pod_of(template: Object) -> Object:
    return template["spec"]["template"]["spec"]


def runner_of(template: Object) -> Object:
    """The container that runs the job: the one with the expected name, or the only one."""
    containers = pod_of(template)["containers"]
    return next((entry for entry in containers if entry.get("name") == CONTAINER), containers[0])


def _shape(template: object) -> list[str]:
    if not isinstance(template, dict) or template.get("kind") != "Job":
        return ["it is not an object of kind Job"]
    if template.get("apiVersion") != "batch/v1":
        return ["its apiVersion is not batch/v1"]
    try:
        containers = pod_of(template)["containers"]
        named = [entry["name"] for entry in containers]
    except (KeyError, TypeError):
        return ["spec.template.spec.containers is missing, or one of them has no name"]
    if not named or (len(named) > 1 and CONTAINER not in named):
        return [f"it needs a container called {CONTAINER!r}"]
    return []


def weaknesses(template: Object) -> list[str]:
    """Missing restrictions, each by the field that would set it."""
    pod = pod_of(template)
    given = pod.get("securityContext") or {}
    found: list[str] = []
    for field, wanted in (("restartPolicy", "Never"), ("automountServiceAccountToken", False)):
        if pod.get(field) != wanted:
            found.append(f"spec.template.spec.{field} must be {json.dumps(wanted)}")
    found += [f"{field} must not be set" for field in ("hostNetwork", "hostPID", "hostIPC") if pod.get(field)]
    found += [
        f"volume {volume.get('name')!r} must not be a hostPath"
        for volume in pod.get("volumes") or ()
        if "hostPath" in volume
    ]
    for container in [*pod["containers"], *(pod.get("initContainers") or ())]:
        found += _of_container(container, given)
    return found


def _of_container(container: Object, pod: Object) -> list[str]:
    own = container.get("securityContext") or {}
    both = {**pod, **own}
    capabilities = own.get("capabilities") or {}
    walls = {
        "runAsNonRoot must be true": both.get("runAsNonRoot") is True and both.get("runAsUser") != 0,
        "allowPrivilegeEscalation must be false": own.get("allowPrivilegeEscalation") is False,
        "readOnlyRootFilesystem must be true": own.get("readOnlyRootFilesystem") is True,
        "privileged must not be set": not own.get("privileged"),
        'capabilities.drop must be ["ALL"]': "ALL" in (capabilities.get("drop") or ()),
        "capabilities.add must be empty": not capabilities.get("add"),
        "seccompProfile.type must be RuntimeDefault or Localhost": (both.get("seccompProfile") or {}).get(
            "type"
        )
        in ("RuntimeDefault", "Localhost"),
    }
    return [f"container {container.get('name')!r}: {wall}" for wall, stands in walls.items() if not stands]


def layers_of(template: Object) -> tuple[str, ...]:
    """Isolation layers outside the run's own process. Those that `weaknesses` checks are always present."""
    runtime = pod_of(template).get("runtimeClassName")
    named = (f"runtime:{runtime}",) if runtime else ()
    return ("container:kubernetes", *named, "pod-security:restricted", "read-only-root", "no-token")
