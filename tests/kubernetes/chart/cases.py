"""Ways to install the chart, by name: every one must render, be valid, and be safe."""

from __future__ import annotations

from typing import Any

DIGEST = "sha256:" + "0123456789abcdef" * 4
_DATABASE = {"existingSecret": "database"}
_PLACE: dict[str, Any] = {
    "nodeSelector": {"pool": "runs"},
    "tolerations": [{"key": "runs", "operator": "Exists", "effect": "NoSchedule"}],
    "affinity": {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchExpressions": [{"key": "pool", "operator": "Exists"}]}]
            }
        }
    },
    "priorityClassName": "runs",
}

CASES: dict[str, dict[str, Any]] = {
    "as it comes": {},
    "inside the server's pod": {"backend": "local"},
    "execution service": {
        "backend": "remote",
        "execd": {"enabled": True, "existingSecret": "token", **_PLACE},
    },
    "execution service elsewhere": {
        "backend": "remote",
        "execd": {"url": "https://execd.example.com", "existingSecret": "token"},
    },
    "chat interface": {
        "chat": {"enabled": True, "replicas": 2, "image": {"digest": DIGEST}},
        "networkPolicy": {"ingressFrom": [{"podSelector": {"matchLabels": {"app": "edge"}}}]},
    },
    "agents": {"server": {"a2a": {"enabled": True, "port": 8101, "grpcPort": 50061}}},
    "warm pods": {"runners": {"warm": 3}},
    "several servers": {"server": {"replicas": 3}, "database": {"existingSecret": "db", "key": "address"}},
    "scaled by load": {"server": {"autoscaling": {"enabled": True}}, "database": _DATABASE},
    "migrated by hand": {"database": _DATABASE, "migrations": {"enabled": False}},
    "one key for all": {"database": _DATABASE, "signingKey": {"existingSecret": "signing", "key": "k.pem"}},
    "chat model": {
        "model": {
            "name": "openai:some-model",
            "baseUrl": "https://models.example.com/v1",
            "existingSecret": "keys",
            "openaiKey": "openai",
            "anthropicKey": "anthropic",
        }
    },
    "by digest": {
        "imagePullSecrets": ["registry"],
        "server": {"image": {"repository": "example.com/server", "digest": DIGEST}},
        "runners": {
            "image": {"repository": "example.com/runner", "digest": DIGEST, "pullPolicy": "Always"},
            "imagePullSecrets": ["registry"],
        },
    },
    "data on a volume": {"data": {"existingClaim": "data", "serverClaim": "data"}},
    "claim that exists": {"server": {"home": {"existingClaim": "mine"}}},
    "claim of a class": {
        "server": {
            "home": {"storageClass": "fast", "accessModes": ["ReadWriteMany"], "size": "20Gi", "keep": False}
        }
    },
    "namespace that exists": {"runners": {"namespace": "runs", "createNamespace": False}},
    "no admission policy": {"admissionPolicy": {"enabled": False}},
    "any image": {"admissionPolicy": {"pinImage": False}},
    "no network policy": {"networkPolicy": {"enabled": False}},
    "narrow network": {
        "database": _DATABASE,
        "networkPolicy": {
            "ingressFrom": [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "edge"}}}],
            "dns": {
                "to": [{"namespaceSelector": {}, "podSelector": {"matchLabels": {"k8s-app": "kube-dns"}}}]
            },
            "apiServer": {"to": [{"ipBlock": {"cidr": "10.0.0.1/32"}}], "ports": [6443]},
            "database": {"to": [{"ipBlock": {"cidr": "10.1.0.0/16"}}]},
            "extraEgress": [{"to": [{"ipBlock": {"cidr": "10.2.0.0/16"}}]}],
        },
    },
    "no bounds": {"runners": {"quota": {"enabled": False}, "limitRange": {"enabled": False}}},
    "ingress": {
        "server": {"trustedProxies": ["10.1.0.0/16", "fd00::/8"]},
        "ingress": {
            "enabled": True,
            "className": "nginx",
            "hosts": [{"host": "a.example.com", "paths": [{"path": "/", "pathType": "Prefix"}]}],
            "tls": [{"hosts": ["a.example.com"], "secretName": "certificate"}],
        },
    },
    "route": {
        "server": {"insecure": True, "allowedHosts": [".b.example.com"]},
        "gateway": {"enabled": True, "parentRefs": [{"name": "outer"}], "hostnames": ["a.example.com"]},
    },
    "watched": {
        "serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
        "dashboard": {"enabled": True, "namespace": "grafana", "annotations": {"grafana_folder": "Data"}},
        "alerts": {"enabled": True, "labels": {"release": "prometheus"}},
    },
    "placed": {
        "server": {
            **_PLACE,
            "topologySpreadConstraints": [],
            "podLabels": {"a": "b"},
            "podAnnotations": {"c": "d"},
        },
        "runners": {
            **_PLACE,
            "runtimeClassName": "gvisor",
            "kueueQueue": "runs",
            "podLabels": {"a": "b"},
            "podAnnotations": {"c": "d"},
            "security": {"hostUsers": False},
        },
    },
    "watched without an operator": {
        "dashboard": {"enabled": True, "labels": {"dashboards": "yes"}},
        "alerts": {"enabled": True, "kind": "ConfigMap"},
    },
    "users chosen by the cluster": {
        "server": {"security": {"runAsUser": None, "runAsGroup": None, "fsGroup": None}},
        "runners": {"security": {"runAsUser": None, "runAsGroup": None}},
    },
    "filter of its own": {
        "runners": {"security": {"seccompProfile": {"type": "Localhost", "localhostProfile": "runner.json"}}}
    },
    "further things": {
        "commonLabels": {"team": "data"},
        "limits": {"timeoutSeconds": 120, "memoryMb": 2048, "tmpMb": 0, "threads": 4},
        "fullnameOverride": "answers",
        "server": {
            "settings": {"SANDTABLE_MAX_ROWS": 500, "SANDTABLE_PYTHON": "on"},
            "extraEnv": [{"name": "TZ", "value": "UTC"}],
            "extraEnvFrom": [{"configMapRef": {"name": "more"}}],
            "extraVolumes": [{"name": "datasets", "configMap": {"name": "datasets"}}],
            "extraVolumeMounts": [{"name": "datasets", "mountPath": "/datasets", "readOnly": True}],
            "command": ["sandtable"],
            "args": ["serve"],
            "drainSeconds": 0,
            "serviceAccount": {"name": "answers", "annotations": {"role": "none"}},
            "insecure": True,
            "service": {"type": "LoadBalancer", "port": 8080, "annotations": {"internal": "true"}},
            "disruptionBudget": {"enabled": False},
        },
    },
}
