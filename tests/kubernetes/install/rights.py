"""What the accounts of a release may do, asked of the API server's own authorizer. `group:resource/part` → verbs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.kubernetes.target import Target

Rights = Mapping[str, str]

ALLOWED: Rights = {
    "batch:jobs": "create get list watch delete",
    "pods": "get list watch",
    "pods/log": "get",
}
DENIED_AMONG_RUNNERS: Rights = {
    "batch:jobs": "update patch deletecollection",
    "batch:jobs/status": "update patch",
    "batch:cronjobs": "create get list",
    "pods": "create update patch delete deletecollection",
    "pods/exec": "create get",
    "pods/attach": "create get",
    "pods/portforward": "create get",
    "pods/ephemeralcontainers": "update patch",
    "pods/eviction": "create",
    "secrets": "create get list watch",
    "configmaps": "create get list",
    "serviceaccounts": "create get impersonate",
    "serviceaccounts/token": "create",
    "events": "list",
    "resourcequotas": "get update delete",
    "limitranges": "update delete",
    "services": "create get",
    "persistentvolumeclaims": "create get",
    "networking.k8s.io:networkpolicies": "create update delete",
    "rbac.authorization.k8s.io:roles": "create update bind escalate",
    "rbac.authorization.k8s.io:rolebindings": "create update",
}
DENIED_ELSEWHERE: Rights = {
    "batch:jobs": "create get list watch delete",
    "pods": "create get list watch",
    "pods/log": "get",
    "pods/exec": "create",
    "secrets": "get list",
}
DENIED_IN_THE_CLUSTER: Rights = {
    "namespaces": "list create delete",
    "nodes": "get list",
    "nodes/proxy": "get",
    "persistentvolumes": "list create",
    "rbac.authorization.k8s.io:clusterroles": "create bind escalate",
    "admissionregistration.k8s.io:validatingadmissionpolicies": "get delete update",
}


def may(cluster: Target, user: str, space: str | None, asked: Rights) -> dict[str, bool]:
    """`verb what` → whether it is allowed. Without a namespace: in all of them."""
    named = {
        f"{verb} {what}": _review(user, space, what, verb)
        for what, verbs in asked.items()
        for verb in verbs.split()
    }
    given = {"apiVersion": "v1", "kind": "List", "items": list(named.values())}
    answers = cluster.kubectl("create", "-f", "-", "-o", 'jsonpath={.status.allowed}{"\\n"}', given=given)
    return {name: answer == "true" for name, answer in zip(named, answers.split(), strict=True)}


def _review(user: str, space: str | None, what: str, verb: str) -> dict[str, Any]:
    group, _, thing = what.rpartition(":")
    resource, _, part = thing.partition("/")
    attributes = {"group": group, "resource": resource, "subresource": part, "verb": verb}
    attributes |= {"namespace": space} if space else {}
    return {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {"user": user, "resourceAttributes": attributes},
    }
