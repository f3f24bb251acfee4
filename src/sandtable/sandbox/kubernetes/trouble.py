"""Errors of the cluster as messages for the operator: what was wrong, and what to do about it."""

from __future__ import annotations

from sandtable.errors import SandboxUnavailable
from sandtable.sandbox.kubernetes.api import Api, ApiAway, ApiRefused

PERMISSIONS = (
    ("create", "batch", "jobs", ""),
    ("get", "batch", "jobs", ""),
    ("list", "batch", "jobs", ""),
    ("delete", "batch", "jobs", ""),
    ("list", "", "pods", ""),
    ("watch", "", "pods", ""),
    ("get", "", "pods", "log"),
)
"""All permissions that the tier needs: verb, API group, resource, subresource."""
_UNAUTHORIZED, _FORBIDDEN, _NOT_FOUND = 401, 403, 404


def is_full(refused: ApiRefused) -> bool:
    """A quota is used up: the same call may succeed when another run has ended."""
    return refused.status == _FORBIDDEN and "exceeded quota" in refused.message


def unavailable(error: ApiAway | ApiRefused, api: Api) -> SandboxUnavailable:
    namespace = api.namespace
    if isinstance(error.__cause__, SandboxUnavailable):
        return error.__cause__
    if isinstance(error, ApiAway):
        return SandboxUnavailable(
            f"the Kubernetes API does not answer: {error}",
            suggestion=f"Check that the address of {api.cluster.origin} is right and can be reached from here",
        )
    if error.status == _UNAUTHORIZED:
        return SandboxUnavailable(
            f"the Kubernetes API at {api.cluster.server} does not accept our credentials:"
            f" {error.message or 'unauthorized'}",
            suggestion=f"Get a new credential for {api.cluster.origin}: this one is wrong or has ended",
        )
    if error.status == _NOT_FOUND and "namespaces" in error.message:
        return SandboxUnavailable(
            f"the namespace {namespace!r} does not exist",
            suggestion=f"`kubectl create namespace {namespace}`, or name another in SANDTABLE_KUBERNETES_NAMESPACE",
        )
    if is_full(error):
        return SandboxUnavailable(
            f"the quota of namespace {namespace!r} is used up: {error.message}",
            suggestion="Raise the ResourceQuota, or lower SANDTABLE_CONCURRENCY to what it allows",
        )
    if error.status == _FORBIDDEN and "cannot" in error.message:
        return SandboxUnavailable(
            f"our account may not {error.call} in namespace {namespace!r}: {error.message}",
            suggestion=f"Let its Role allow `{error.call}` (the chart's Role has all that is needed)",
        )
    return SandboxUnavailable(
        f"the cluster refuses our Job: {error.message or error.reason}",
        suggestion="Change the Job template, or the admission policy of the namespace, so that they agree",
    )


async def check_permissions(api: Api) -> None:
    """Reports all missing permissions at once. Raises SandboxUnavailable."""
    lacking = [
        f"{verb} {resource}{'/' + part if part else ''}"
        for verb, group, resource, part in PERMISSIONS
        if not await api.may(verb, group, resource, part)
    ]
    if lacking:
        raise SandboxUnavailable(
            f"our account may not do this in namespace {api.namespace!r}: {', '.join(lacking)}",
            suggestion="Give its Role these verbs (the chart's Role has all that are needed)",
        )
