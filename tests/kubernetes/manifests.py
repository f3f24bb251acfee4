"""What the tests give the cluster, in the form that a namespace with the profile `restricted` takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_CONTAINER_RIGHTS = {
    "allowPrivilegeEscalation": False,
    "readOnlyRootFilesystem": True,
    "capabilities": {"drop": ["ALL"]},
}
_POD_RIGHTS = {"runAsNonRoot": True, "runAsUser": 65532, "seccompProfile": {"type": "RuntimeDefault"}}


def namespace(name: str, profile: str = "restricted") -> dict[str, Any]:
    labels = {"pod-security.kubernetes.io/enforce": profile}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def pod(
    name: str, space: str, image: str, *command: str, labels: Mapping[str, str] | None = None
) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": space, "labels": {"app": name, **(labels or {})}},
        "spec": _pod_spec(image, *command),
    }


def job(name: str, space: str, image: str, *command: str) -> dict[str, Any]:
    template = {"metadata": {"labels": {"app": name}}, "spec": _pod_spec(image, *command)}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": space},
        "spec": {"backoffLimit": 0, "activeDeadlineSeconds": 60, "template": template},
    }


def service(name: str, space: str, port: int) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": space},
        "spec": {"selector": {"app": name}, "ports": [{"port": 80, "targetPort": port}]},
    }


def nothing_may(direction: str, space: str, app: str) -> dict[str, Any]:
    """A policy that allows the pods of `app` no connection in this direction (Ingress or Egress)."""
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": f"no-{direction.lower()}-{app}", "namespace": space},
        "spec": {"podSelector": {"matchLabels": {"app": app}}, "policyTypes": [direction]},
    }


def _pod_spec(image: str, *command: str) -> dict[str, Any]:
    container = {
        "name": "main",
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "command": list(command),
        "securityContext": {**_CONTAINER_RIGHTS},
        "resources": {"limits": {"cpu": "500m", "memory": "64Mi"}},
    }
    return {
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 0,
        "automountServiceAccountToken": False,
        "securityContext": _POD_RIGHTS,
        "containers": [container],
    }
