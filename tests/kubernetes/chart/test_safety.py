"""What holds for every pod, role and policy, however the chart is installed."""

from __future__ import annotations

import pytest

from tests.kubernetes.chart.cases import CASES
from tests.kubernetes.chart.helm import NAMESPACE, Manifest
from tests.kubernetes.chart.pods import Pod, of_kind, only, pods_of, variables

pytestmark = pytest.mark.needs("helm")

MOUNTABLE = {"emptyDir", "downwardAPI", "configMap", "secret", "persistentVolumeClaim"}
RIGHTS = [
    {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["create", "get", "list", "watch", "delete"]},
    {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]},
    {"apiGroups": [""], "resources": ["pods/log"], "verbs": ["get"]},
]


def _backend(case: str) -> str:
    return CASES[case].get("backend", "kubernetes")


def _runners(manifests: list[Manifest]) -> str:
    return only(manifests, "Role")["metadata"]["namespace"]


def test_every_expected_pod_is_looked_at(rendered: dict[str, list[Manifest]]) -> None:
    seen = {pod.name for manifests in rendered.values() for pod in pods_of(manifests)}
    assert seen == {"server", "runner", "execd", "chat", "migrate", "test"}


def test_every_pod_is_restricted(manifests: list[Manifest]) -> None:
    for pod in pods_of(manifests):
        security = pod.spec["securityContext"]
        assert security["runAsNonRoot"] is True, pod.name
        assert security.get("runAsUser") != 0, pod.name
        assert security["seccompProfile"]["type"] in ("RuntimeDefault", "Localhost"), pod.name
        for host in ("hostNetwork", "hostPID", "hostIPC"):
            assert not pod.spec.get(host), pod.name
        for container in pod.containers:
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "privileged": False,
                "readOnlyRootFilesystem": True,
                "runAsNonRoot": True,
                "capabilities": {"drop": ["ALL"]},
            }, pod.name
            assert {"cpu", "memory"} <= container["resources"]["limits"].keys(), pod.name


def test_every_volume_is_bounded_and_none_is_the_nodes(manifests: list[Manifest]) -> None:
    for pod in pods_of(manifests):
        for volume in pod.spec.get("volumes", ()):
            (kind,) = volume.keys() - {"name"}
            assert kind in MOUNTABLE, pod.name
            if kind == "emptyDir":
                assert volume["emptyDir"]["sizeLimit"], f"{pod.name}: {volume['name']}"


def test_images_are_pinned_by_tag_or_digest(manifests: list[Manifest]) -> None:
    for pod in pods_of(manifests):
        for container in pod.containers:
            name, at, digest = container["image"].partition("@")
            tag = name.rpartition("/")[2].partition(":")[2]
            assert digest.startswith("sha256:") if at else tag not in ("", "latest"), container["image"]


def test_only_who_makes_jobs_has_a_token(manifests: list[Manifest], case: str) -> None:
    holders = {pod.name for pod in pods_of(manifests) if pod.spec["automountServiceAccountToken"]}
    assert holders == ({"server", "test"} if _backend(case) == "kubernetes" else set())
    accounts = of_kind(manifests, "ServiceAccount")
    assert accounts
    assert all(account["automountServiceAccountToken"] is False for account in accounts)


def test_a_runner_has_an_account_of_its_own_without_rights(manifests: list[Manifest], case: str) -> None:
    by_name = {pod.name: pod for pod in pods_of(manifests)}
    if _backend(case) != "kubernetes":
        assert "runner" not in by_name
        return
    runner = by_name["runner"].spec["serviceAccountName"]
    assert runner != by_name["server"].spec["serviceAccountName"]
    subjects = [
        subject["name"] for binding in of_kind(manifests, "RoleBinding") for subject in binding["subjects"]
    ]
    assert runner not in subjects


def test_secrets_come_by_reference_alone(manifests: list[Manifest]) -> None:
    assert not of_kind(manifests, "Secret")
    for pod in pods_of(manifests):
        for container in pod.containers:
            if "env" not in container:
                continue
            for name, value in variables(container).items():
                if name.endswith(("_KEY", "_TOKEN", "_URL")) and name not in (
                    "SANDTABLE_SIGNING_KEY",
                    "SANDTABLE_MODEL_BASE_URL",
                    "SANDTABLE_EXECD_URL",
                    "SANDTABLE_MODEL_URL",
                ):
                    assert "secretKeyRef" in value, f"{pod.name}: {name}"


def test_the_server_may_do_exactly_this(manifests: list[Manifest], case: str) -> None:
    for kind in ("ClusterRole", "ClusterRoleBinding"):
        assert not of_kind(manifests, kind)
    if _backend(case) != "kubernetes":
        assert not of_kind(manifests, "Role") + of_kind(manifests, "RoleBinding")
        return
    role, binding = only(manifests, "Role"), only(manifests, "RoleBinding")
    assert role["rules"] == RIGHTS
    assert role["metadata"]["namespace"] == binding["metadata"]["namespace"] != NAMESPACE
    assert binding["roleRef"]["name"] == role["metadata"]["name"]
    (server,) = (pod for pod in pods_of(manifests) if pod.name == "server")
    assert binding["subjects"] == [
        {"kind": "ServiceAccount", "name": server.spec["serviceAccountName"], "namespace": NAMESPACE}
    ]


def test_the_runners_namespace_holds_runners_alone(manifests: list[Manifest], case: str) -> None:
    if _backend(case) != "kubernetes":
        assert not of_kind(manifests, "Namespace")
        return
    runners = _runners(manifests)
    inside = {m["kind"] for m in manifests if m["metadata"].get("namespace") == runners}
    assert inside <= {"ServiceAccount", "Role", "RoleBinding", "ResourceQuota", "LimitRange", "NetworkPolicy"}
    for space in of_kind(manifests, "Namespace"):
        assert space["metadata"]["name"] == runners
        assert space["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"


def test_runners_reach_nothing_and_are_reached_by_the_server_alone(
    manifests: list[Manifest], case: str
) -> None:
    if _backend(case) != "kubernetes" or case == "no network policy":
        assert not [m for m in of_kind(manifests, "NetworkPolicy") if m["metadata"]["namespace"] != NAMESPACE]
        return
    runners = _runners(manifests)
    policies = [m for m in of_kind(manifests, "NetworkPolicy") if m["metadata"]["namespace"] == runners]
    deny, *warm = policies
    assert deny["spec"] == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    assert len(warm) == (case == "warm pods")
    pods = {pod.name: pod for pod in pods_of(manifests)}
    for policy in warm:
        assert policy["spec"]["policyTypes"] == ["Ingress"]
        assert "egress" not in policy["spec"]
        (rule,) = policy["spec"]["ingress"]
        assert rule["ports"] == [{"protocol": "TCP", "port": 8377}]
        (peer,) = rule["from"]
        assert peer["namespaceSelector"]["matchLabels"] == {"kubernetes.io/metadata.name": NAMESPACE}
        assert _selects(peer["podSelector"], pods["server"])
        assert not _selects(peer["podSelector"], pods["test"])
        assert _selects(policy["spec"]["podSelector"], pods["runner"])


def test_every_pod_that_stays_has_a_network_policy(manifests: list[Manifest], case: str) -> None:
    policies = [m for m in of_kind(manifests, "NetworkPolicy") if m["metadata"]["namespace"] == NAMESPACE]
    staying = [pod for pod in pods_of(manifests) if pod.name in ("server", "execd", "chat")]
    if case == "no network policy":
        assert not policies
        return
    for pod in staying:
        bound = [policy for policy in policies if _selects(policy["spec"]["podSelector"], pod)]
        assert len(bound) == 1, pod.name
        assert bound[0]["spec"]["policyTypes"] == ["Ingress", "Egress"]
    # The control of the test that shows runs to be shut in must not be bound itself.
    for pod in pods_of(manifests):
        assert pod.name != "test" or not any(_selects(p["spec"]["podSelector"], pod) for p in policies)


def _selects(selector: dict[str, dict[str, str]], pod: Pod) -> bool:
    return selector.get("matchLabels", {}).items() <= pod.labels.items()


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        ("Deployment", ("spec", "selector", "matchLabels")),
        ("Service", ("spec", "selector")),
        ("PodDisruptionBudget", ("spec", "selector", "matchLabels")),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_selectors_find_their_pods_and_never_change(
    manifests: list[Manifest], kind: str, path: tuple[str, ...]
) -> None:
    for manifest in of_kind(manifests, kind):
        selector = manifest
        for key in path:
            selector = selector[key]
        assert set(selector) == {f"app.kubernetes.io/{part}" for part in ("name", "instance", "component")}
        component = selector["app.kubernetes.io/component"]
        (pod,) = (pod for pod in pods_of(manifests) if pod.name == component)
        assert _selects({"matchLabels": selector}, pod)
