"""The rules that the cluster of our own makes of NetworkPolicies."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kubernetes.cluster.policies import Pod, matches, ruleset

NET = "10.244.0.0/24"
SERVER = Pod("app", "10.244.0.5", {"app": "server"}, {"http": 8000})
RUNNER = Pod("runs", "10.244.0.6", {"app": "runner"})
NAMES = Pod("kube-system", "10.244.0.7", {"k8s-app": "kube-dns"})
PODS = [SERVER, RUNNER, NAMES]
SPACES = {"app": {"name": "app"}, "runs": {"name": "runs"}, "kube-system": {"name": "kube-system"}}


def _policy(space: str, app: str, **spec: Any) -> dict[str, Any]:
    selector = {"podSelector": {"matchLabels": {"app": app}}}
    return {"metadata": {"namespace": space, "name": "one"}, "spec": {**selector, **spec}}


def _chain(policies: list[dict[str, Any]], name: str) -> list[str] | None:
    """The rules of a chain, None where there is no such chain."""
    _, found, rest = ruleset(PODS, SPACES, policies, NET).partition(f"chain {name} {{\n")
    return [line.strip() for line in rest.partition("}\n")[0].splitlines()] if found else None


@pytest.mark.parametrize(
    ("selector", "labels", "expected"),
    [
        ({}, {}, True),
        ({"matchLabels": {"a": "1"}}, {"a": "1", "b": "2"}, True),
        ({"matchLabels": {"a": "1"}}, {"a": "2"}, False),
        ({"matchExpressions": [{"key": "a", "operator": "In", "values": ["1", "2"]}]}, {"a": "2"}, True),
        ({"matchExpressions": [{"key": "a", "operator": "In", "values": ["1"]}]}, {}, False),
        ({"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["1"]}]}, {}, True),
        ({"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["1"]}]}, {"a": "1"}, False),
        ({"matchExpressions": [{"key": "a", "operator": "Exists"}]}, {"a": ""}, True),
        ({"matchExpressions": [{"key": "a", "operator": "DoesNotExist"}]}, {"a": ""}, False),
    ],
)
def test_a_selector_matches_as_the_api_says(selector: Any, labels: dict[str, str], expected: bool) -> None:
    assert matches(selector, labels) is expected


EGRESS = [
    pytest.param([], ["counter drop"], id="nothing"),
    pytest.param([{}], ["return", "counter drop"], id="everything"),
    pytest.param(
        [{"to": [{"podSelector": {}}]}],
        ["ip daddr { 10.244.0.6 } return", "counter drop"],
        id="pods of its own namespace",
    ),
    pytest.param(
        [{"to": [{"namespaceSelector": {}, "podSelector": {"matchLabels": {"k8s-app": "kube-dns"}}}],
          "ports": [{"port": 53, "protocol": "UDP"}, {"port": 53}]}],
        ["ip daddr { 10.244.0.7 } udp dport 53 return", "ip daddr { 10.244.0.7 } tcp dport 53 return", "counter drop"],
        id="the name server",
    ),
    pytest.param(
        [{"to": [{"ipBlock": {"cidr": "0.0.0.0/0", "except": ["10.0.0.0/8"]}}], "ports": [{"port": 1, "endPort": 9}]}],
        ["ip daddr 0.0.0.0/0 ip daddr != { 10.0.0.0/8 } tcp dport 1-9 return", "counter drop"],
        id="the outside",
    ),
    pytest.param(
        [{"to": [{"namespaceSelector": {"matchLabels": {"name": "app"}}}], "ports": [{"port": "http"}]}],
        ["ip daddr { 10.244.0.5 } tcp dport 8000 return", "counter drop"],
        id="a named port",
    ),
    pytest.param([{"to": [{"podSelector": {"matchLabels": {"no": "pod"}}}]}], ["counter drop"], id="no pod at all"),
    pytest.param([{"to": [{"ipBlock": {"cidr": "::/0"}}]}], ["counter drop"], id="addresses of the other kind"),
]  # fmt: skip


@pytest.mark.parametrize(("rules", "expected"), EGRESS)
def test_what_a_pod_may_reach(rules: list[Any], expected: list[str]) -> None:
    policy = _policy("runs", "runner", policyTypes=["Egress"], egress=rules)
    assert _chain([policy], "egress-1") == expected
    assert _chain([policy], "ingress-1") is None


def test_policies_add_up() -> None:
    one = _policy(
        "app", "server", ingress=[{"from": [{"namespaceSelector": {"matchLabels": {"name": "runs"}}}]}]
    )
    two = _policy("app", "server", ingress=[{"ports": [{"port": "http"}]}])
    assert _chain([one, two], "ingress-0") == [
        "ip saddr { 10.244.0.6 } return",
        "tcp dport 8000 return",
        "counter drop",
    ]


def test_a_policy_holds_in_its_own_namespace_only() -> None:
    assert _chain([_policy("app", "runner", policyTypes=["Egress"])], "egress-1") is None


def test_a_pod_not_yet_known_has_no_connections() -> None:
    rules = ruleset([SERVER], SPACES, [], NET)
    assert "elements = { 10.244.0.1, 10.244.0.5 }" in rules
    assert _chain([], "leaving") == ["ip saddr != @known counter drop"]
    assert _chain([], "entering") == ["ip daddr != @known counter drop"]
