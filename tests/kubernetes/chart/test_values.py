"""Values that cannot be meant are refused before anything is installed, and the message says which and why."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from sandtable.settings import Settings
from tests.kubernetes.chart.cases import CASES
from tests.kubernetes.chart.helm import CHART, NAMESPACE, ROOT, Helm, Refused

pytestmark = pytest.mark.needs("helm")

BAD: dict[str, tuple[dict[str, Any], str]] = {
    "unknown value": ({"replicas": 2}, "replicas"),
    "misspelt value": ({"server": {"image": {"digset": "sha256:1"}}}, "/server/image"),
    "unknown value deep down": ({"runners": {"security": {"privileged": True}}}, "privileged"),
    "security that is not to be had": (
        {"server": {"security": {"allowPrivilegeEscalation": True}}},
        "/server/security",
    ),
    "root": ({"runners": {"security": {"runAsUser": 0}}}, "/runners/security/runAsUser"),
    "no filter": (
        {"runners": {"security": {"seccompProfile": {"type": "Unconfined"}}}},
        "/runners/security/seccompProfile/type",
    ),
    "unknown backend": ({"backend": "docker"}, "/backend"),
    "servers without a database": ({"server": {"replicas": 2}}, "/database/existingSecret"),
    "scaling without a database": (
        {"server": {"autoscaling": {"enabled": True}}},
        "/database/existingSecret",
    ),
    "replicas in words": ({"server": {"replicas": "two"}}, "/server/replicas"),
    "fewer than none": ({"server": {"replicas": -1}}, "/server/replicas"),
    "short digest": ({"runners": {"image": {"digest": "sha256:abc"}}}, "/runners/image/digest"),
    "digest in the repository": (
        {"server": {"image": {"repository": "server@sha256:" + "0" * 64}}},
        "/server/image/repository",
    ),
    "no image": ({"server": {"image": {"repository": ""}}}, "/server/image/repository"),
    "unknown pull policy": ({"server": {"image": {"pullPolicy": "Sometimes"}}}, "/server/image/pullPolicy"),
    "a run without memory": ({"limits": {"memoryMb": 0}}, "/limits/memoryMb"),
    "a run without end": ({"limits": {"timeoutSeconds": 0}}, "/limits/timeoutSeconds"),
    "a thread for every core": ({"limits": {"threads": 0}}, "/limits/threads"),
    "size without unit": ({"server": {"tmpSize": "256"}}, "/server/tmpSize"),
    "unlimited scratch": ({"server": {"tmpSize": ""}}, "/server/tmpSize"),
    "too many warm pods": ({"runners": {"warm": 1000}}, "/runners/warm"),
    "namespace that cannot be": ({"runners": {"namespace": "My_Runs"}}, "/runners/namespace"),
    "secret among the settings": (
        {"server": {"settings": {"SANDTABLE_OPENAI_API_KEY": "sk-…"}}},
        "SANDTABLE_OPENAI_API_KEY",
    ),
    "database among the settings": (
        {"server": {"settings": {"SANDTABLE_DATABASE_URL": "postgresql://…"}}},
        "SANDTABLE_DATABASE_URL",
    ),
    "setting of the chart": ({"server": {"settings": {"SANDTABLE_HOME": "/x"}}}, "SANDTABLE_HOME"),
    "setting of nobody": ({"server": {"settings": {"timeout_s": 5}}}, "timeout_s"),
    "unknown model": ({"model": {"name": "gpt"}}, "/model/name"),
    "execution service without token": (
        {"backend": "remote", "execd": {"enabled": True}},
        "/execd/existingSecret",
    ),
    "execution service nowhere": ({"backend": "remote", "execd": {"existingSecret": "t"}}, "/execd"),
    "no port": ({"networkPolicy": {"apiServer": {"ports": []}}}, "/networkPolicy/apiServer/ports"),
    "agents at a privileged port": ({"server": {"a2a": {"port": 80}}}, "/server/a2a/port"),
    "agents at the server's port": (
        {"server": {"a2a": {"enabled": True, "grpcPort": 8000}}},
        "two ports of its own",
    ),
    "agents at one port": ({"server": {"a2a": {"enabled": True, "grpcPort": 8001}}}, "two ports of its own"),
    "impossible port": ({"server": {"service": {"port": 70000}}}, "/server/service/port"),
    "ingress without hosts": ({"ingress": {"enabled": True, "hosts": []}}, "/ingress/hosts"),
    "route of no gateway": ({"gateway": {"enabled": True}}, "/gateway/parentRefs"),
    "relative path": (
        {"ingress": {"hosts": [{"host": "a.example.com", "paths": [{"path": "x", "pathType": "Prefix"}]}]}},
        "/path",
    ),
    "target without port": ({"tests": {"egressTarget": "example.com"}}, "/tests/egressTarget"),
    "table that is SQL": ({"tests": {"table": "orders; drop"}}, "/tests/table"),
    "an ingress without a choice of users": ({"ingress": {"enabled": True}}, "server.trustedProxies"),
    "a route without a choice of users": (
        {"gateway": {"enabled": True, "parentRefs": [{"name": "outer"}]}},
        "server.insecure",
    ),
    "a load balancer without a choice of users": (
        {"server": {"service": {"type": "LoadBalancer"}}},
        "reachable from outside the cluster",
    ),
    "a proxy by its name": ({"server": {"trustedProxies": ["proxy.example.com"]}}, "/server/trustedProxies"),
    "a name with a scheme": ({"server": {"allowedHosts": ["http://a.example.com"]}}, "/server/allowedHosts"),
    "names among the settings": (
        {"server": {"settings": {"SANDTABLE_ALLOWED_HOSTS": "*"}}},
        "SANDTABLE_ALLOWED_HOSTS",
    ),
    "runs in the release's namespace": ({"runners": {"namespace": NAMESPACE}}, "namespace of their own"),
    "execution service that nobody asks": ({"execd": {"enabled": True}}, "backend is kubernetes"),
    "secret without its keys": ({"model": {"existingSecret": "keys"}}, "model.anthropicKey"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_values_are_refused(helm: Helm, name: str) -> None:
    values, about = BAD[name]
    with pytest.raises(Refused) as refused:
        helm.texts(values)
    assert about in str(refused.value)


@pytest.mark.parametrize(
    "server", [{"replicas": 2}, {"autoscaling": {"enabled": True}}], ids=["replicas", "autoscaling"]
)
def test_who_skips_the_schema_is_told_in_words(helm: Helm, tmp_path: Path, server: dict[str, Any]) -> None:
    chart = shutil.copytree(CHART, tmp_path / "chart", ignore=shutil.ignore_patterns("values.schema.json"))
    with pytest.raises(Refused, match="More than one server needs a database that they share"):
        helm.call("render", values={"server": server}, release="st", namespace="apps", chart=str(chart))


def test_every_object_of_the_schema_is_closed() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))
    loose = [path for path, node in _objects(schema, "") if node.get("additionalProperties") is not False]
    assert not loose


def _objects(node: Any, path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Those with parts of their own; maps of names and things of Kubernetes' are left open."""
    if isinstance(node, list):
        return
    if node.get("properties") and node.get("type") == "object":
        yield path, node
    for part in ("properties", "$defs"):
        for key, child in node.get(part, {}).items():
            yield from _objects(child, f"{path}/{key}")
    if "items" in node:
        yield from _objects(node["items"], f"{path}[]")


def test_schema_and_values_know_the_same_names() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))
    values = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
    assert _differences(schema, schema, values, "") == ["/global"]


def _differences(schema: dict[str, Any], node: dict[str, Any], values: Any, path: str) -> list[str]:
    """A definition that is shared may offer more than one of its users sets."""
    properties = node.get("properties")
    if not properties or not isinstance(values, dict):
        return []
    found = [f"{path}/{key}" for key in properties.keys() ^ values.keys()]
    for key in properties.keys() & values.keys():
        if "$ref" not in properties[key]:
            found += _differences(schema, properties[key], values[key], f"{path}/{key}")
    return found


def test_documentation_is_up_to_date() -> None:
    command = [sys.executable, "deploy/helm/document.py", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_value_is_documented() -> None:
    readme = (CHART / "README.md").read_text(encoding="utf-8")
    values = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
    missing = [
        path
        for path in _leaves(values, ())
        # Either it, or the group it belongs to.
        if not any(f"| `{'.'.join(path[:end])}` |" in readme for end in range(1, len(path) + 1))
    ]
    assert not missing


def _leaves(values: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    if isinstance(values, dict) and values:
        for key, value in values.items():
            yield from _leaves(value, (*path, key))
    else:
        yield path


def test_every_variable_is_a_setting(helm: Helm) -> None:
    """A setting that is renamed would be ignored in silence."""
    known = {f"SANDTABLE_{name.upper()}" for name in Settings.model_fields}
    for values in CASES.values():
        for text in helm.texts(values).values():
            for name in _variables(text):
                assert name in known, name


def _variables(text: str) -> Iterator[str]:
    for line in text.splitlines():
        _, _, name = line.partition("- name: SANDTABLE_")
        if name:
            yield f"SANDTABLE_{name.strip()}"


def test_the_egress_test_says_when_it_cannot_tell(unused_tcp_port: int) -> None:
    """Nothing answers on that port: that a run does not reach it either would prove nothing."""
    done = _egress_test(f"127.0.0.1:{unused_tcp_port}")
    assert (done.returncode, done.stdout.startswith("CANNOT TELL: ")) == (1, True), done.stdout + done.stderr


def _egress_test(target: str) -> subprocess.CompletedProcess[str]:
    given = json.dumps({"targets": [target], "seconds": 10, "cluster": {}})
    command = [sys.executable, "-B", str(CHART / "files/egress.py"), given]
    return subprocess.run(command, env={"PATH": ""}, capture_output=True, text=True, check=False)
