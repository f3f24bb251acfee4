"""The cluster's name server, as clusters have it: a pod in kube-system behind the service `kube-dns`."""

from __future__ import annotations

from typing import Any

from tests.kubernetes.cluster.place import DNS_DOMAIN, DNS_SERVICE_IP

IMAGE = "sandtable.test/coredns:1"
SPACE = "kube-system"
LABELS = {"k8s-app": "kube-dns"}
COREFILE = f"""\
.:53 {{
  errors
  ready
  kubernetes {DNS_DOMAIN} in-addr.arpa ip6.arpa
}}
"""
_READS = [
    {"apiGroups": [""], "resources": ["services", "pods", "namespaces"], "verbs": ["list", "watch"]},
    {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": ["list", "watch"]},
]


def manifests() -> list[dict[str, Any]]:
    rights = "rbac.authorization.k8s.io"
    role = {"apiGroup": rights, "kind": "ClusterRole", "name": "coredns"}
    account = {"kind": "ServiceAccount", "name": "coredns", "namespace": SPACE}
    return [
        _thing("v1", "ServiceAccount", "coredns"),
        _thing(f"{rights}/v1", "ClusterRole", "coredns", rules=_READS),
        _thing(f"{rights}/v1", "ClusterRoleBinding", "coredns", roleRef=role, subjects=[account]),
        _thing("v1", "ConfigMap", "coredns", data={"Corefile": COREFILE}),
        _thing("v1", "Service", "kube-dns", spec=_service()),
        _thing("apps/v1", "Deployment", "coredns", spec=_deployment()),
    ]


def _thing(version: str, kind: str, name: str, **content: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": SPACE, "labels": LABELS}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **content}


def _service() -> dict[str, Any]:
    ports = [{"name": f"dns-{way.lower()}", "port": 53, "protocol": way} for way in ("UDP", "TCP")]
    return {"clusterIP": DNS_SERVICE_IP, "selector": LABELS, "ports": ports}


def _deployment() -> dict[str, Any]:
    rights = {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]},
    }
    container = {
        "name": "coredns",
        "image": IMAGE,
        "imagePullPolicy": "Never",
        "command": ["/bin/coredns", "-conf", "/etc/coredns/Corefile"],
        # The privileged port needs root inside: a capability does not survive the change of user.
        "securityContext": {**rights, "runAsUser": 0},
        "volumeMounts": [{"name": "settings", "mountPath": "/etc/coredns"}],
        "readinessProbe": {"httpGet": {"path": "/ready", "port": 8181}, "periodSeconds": 1},
    }
    pod = {
        "serviceAccountName": "coredns",
        "dnsPolicy": "Default",
        "priorityClassName": "system-cluster-critical",
        "terminationGracePeriodSeconds": 0,
        "containers": [container],
        "volumes": [{"name": "settings", "configMap": {"name": "coredns"}}],
    }
    template = {"metadata": {"labels": LABELS}, "spec": pod}
    return {"replicas": 1, "selector": {"matchLabels": LABELS}, "template": template}
