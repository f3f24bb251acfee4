"""What the values do: the Job of a run, the server's state, its ways in and out, the hooks."""

from __future__ import annotations

from typing import Any

import pytest

from sandtable.sandbox.kubernetes.manifest import Filling, Size, Timeouts, fill
from sandtable.sandbox.kubernetes.names import labels_of
from sandtable.sandbox.kubernetes.template import checked
from tests.kubernetes.chart.cases import CASES, DIGEST
from tests.kubernetes.chart.helm import Helm, Manifest
from tests.kubernetes.chart.pods import job_template, of_kind, only, pods_of, variables

pytestmark = pytest.mark.needs("helm")

Rendered = dict[str, list[Manifest]]


def _server(manifests: list[Manifest]) -> dict[str, Any]:
    (pod,) = (pod for pod in pods_of(manifests) if pod.name == "server")
    return pod.spec


def _volume(spec: dict[str, Any], name: str) -> dict[str, Any]:
    (found,) = (volume for volume in spec["volumes"] if volume["name"] == name)
    return found


def _mounts(spec: dict[str, Any]) -> dict[str, str]:
    return {mount["name"]: mount["mountPath"] for mount in spec["containers"][0]["volumeMounts"]}


def _job_of_a_run(manifests: list[Manifest], size: Size, order: str | None = "packed") -> dict[str, Any]:
    """As the server makes it from the template."""
    template = checked(job_template(manifests), "unused", "the chart")
    labels = labels_of("sandtable", "replica", "run_" + "0" * 32 + "-1")
    filling = Filling("sandtable-run", labels, {"input": "file:/job/order"}, size, order)
    return fill(template, filling, Timeouts())


def test_a_run_is_a_job_that_is_tried_once_and_cleaned_away(rendered: Rendered) -> None:
    job = job_template(rendered["as it comes"])
    spec, pod = job["spec"], job["spec"]["template"]["spec"]
    assert (spec["backoffLimit"], pod["restartPolicy"]) == (0, "Never")
    assert (spec["activeDeadlineSeconds"], spec["ttlSecondsAfterFinished"]) == (300, 300)
    assert pod["terminationGracePeriodSeconds"] == 0
    assert (pod["automountServiceAccountToken"], pod["enableServiceLinks"]) == (False, False)
    assert "name" not in job["metadata"]
    assert not {"env", "envFrom", "command", "args"} & pod["containers"][0].keys()


def test_the_server_makes_a_run_of_the_template(manifests: list[Manifest], case: str) -> None:
    if CASES[case].get("backend", "kubernetes") != "kubernetes":
        return
    job = _job_of_a_run(manifests, Size())
    pod = job["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    paths = [mount["mountPath"] for mount in container["volumeMounts"]]
    assert {"/job", "/scratch"} <= set(paths)
    assert len(paths) == len(set(paths))
    assert {mount["name"] for mount in container["volumeMounts"]} == {
        volume["name"] for volume in pod["volumes"]
    }
    for policy in of_kind(manifests, "NetworkPolicy"):
        if policy["metadata"]["name"].endswith("-warm"):
            wanted = policy["spec"]["podSelector"]["matchLabels"]
            assert wanted.items() <= job["spec"]["template"]["metadata"]["labels"].items()


def test_the_largest_run_fits_into_the_limits_of_the_namespace(rendered: Rendered) -> None:
    manifests = rendered["as it comes"]
    told = variables(_server(manifests)["containers"][0])
    size = Size(
        "py",
        int(told["SANDTABLE_MEMORY_MB"]),
        int(told["SANDTABLE_THREADS"]),
        30,
        int(told["SANDTABLE_TMP_MB"]),
    )
    resources = _job_of_a_run(manifests, size)["spec"]["template"]["spec"]["containers"][0]["resources"]
    (bounds,) = only(manifests, "LimitRange")["spec"]["limits"]
    for name, most in bounds["max"].items():
        assert _amount(resources["requests"][name]) <= _amount(resources["limits"][name]) <= _amount(most), (
            name
        )


def _amount(text: str) -> float:
    for suffix, factor in (("m", 1e-3), ("Mi", 2**20), ("Gi", 2**30)):
        if text.endswith(suffix):
            return float(text.removesuffix(suffix)) * factor
    return float(text)


def test_the_namespace_of_runs_is_bounded(rendered: Rendered) -> None:
    hard = only(rendered["as it comes"], "ResourceQuota")["spec"]["hard"]
    assert {"pods", "count/jobs.batch", "limits.cpu", "limits.memory"} <= hard.keys()
    assert hard["services"] == "0"
    assert not of_kind(rendered["no bounds"], "ResourceQuota") + of_kind(rendered["no bounds"], "LimitRange")


def test_the_admission_policy_holds_for_that_namespace_and_fails_closed(
    manifests: list[Manifest], case: str
) -> None:
    policies = of_kind(manifests, "ValidatingAdmissionPolicy")
    runs = CASES[case].get("backend", "kubernetes") == "kubernetes"
    assert len(policies) == (runs and case != "no admission policy")
    for policy in policies:
        constraints = policy["spec"]["matchConstraints"]
        runners = only(manifests, "Role")["metadata"]["namespace"]
        assert constraints["namespaceSelector"] == {"matchLabels": {"kubernetes.io/metadata.name": runners}}
        assert policy["spec"]["failurePolicy"] == "Fail"
        binding = only(manifests, "ValidatingAdmissionPolicyBinding")["spec"]
        assert (binding["policyName"], "Deny" in binding["validationActions"]) == (
            policy["metadata"]["name"],
            True,
        )
        about_images = [one for one in policy["spec"]["validations"] if "c.image" in one["expression"]]
        assert len(about_images) == (case != "any image")


def test_a_run_is_labelled_so_that_queues_find_it(rendered: Rendered) -> None:
    job = _job_of_a_run(rendered["placed"], Size())
    assert job["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "runs"
    assert job["metadata"]["labels"]["app.kubernetes.io/name"] == "sandtable-runner"


def test_a_run_goes_where_it_is_told(rendered: Rendered) -> None:
    pod = job_template(rendered["placed"])["spec"]["template"]["spec"]
    assert pod["runtimeClassName"] == "gvisor"
    assert pod["priorityClassName"] == "runs"
    assert pod["nodeSelector"] == {"pool": "runs"}
    assert pod["tolerations"] and pod["affinity"]
    assert pod["hostUsers"] is False


def test_the_server_is_told_of_the_job_it_makes(rendered: Rendered) -> None:
    for case, runners in (("as it comes", "st-sandtable-runners"), ("namespace that exists", "runs")):
        manifests = rendered[case]
        spec = _server(manifests)
        told = variables(spec["containers"][0])
        image = job_template(manifests)["spec"]["template"]["spec"]["containers"][0]["image"]
        assert told["SANDTABLE_BACKEND"] == "kubernetes"
        assert (
            told["SANDTABLE_KUBERNETES_NAMESPACE"]
            == runners
            == job_template(manifests)["metadata"]["namespace"]
        )
        assert told["SANDTABLE_KUBERNETES_IMAGE"] == image
        assert told["SANDTABLE_KUBERNETES_TEMPLATE"] == f"{_mounts(spec)['runner']}/job.json"


def test_a_changed_job_restarts_the_server(helm: Helm) -> None:
    def checksum(values: dict[str, Any]) -> str:
        template = only(helm.manifests(values), "Deployment")["spec"]["template"]
        return template["metadata"]["annotations"]["checksum/job-template"]

    assert checksum({}) == checksum({})
    assert checksum({}) != checksum({"runners": {"ephemeralStorage": "128Mi"}})


def test_images_are_named_by_digest_where_one_is_given(rendered: Rendered) -> None:
    manifests = rendered["by digest"]
    job = job_template(manifests)["spec"]["template"]["spec"]
    assert job["containers"][0]["image"] == f"example.com/runner@{DIGEST}"
    assert job["imagePullSecrets"] == [{"name": "registry"}]
    assert _server(manifests)["containers"][0]["image"] == f"example.com/server@{DIGEST}"
    (pinned,) = (
        validation["expression"]
        for validation in only(manifests, "ValidatingAdmissionPolicy")["spec"]["validations"]
        if "c.image" in validation["expression"]
    )
    assert f"'example.com/runner@{DIGEST}'" in pinned


def test_data_on_a_volume_are_read_only_for_runs(rendered: Rendered) -> None:
    manifests = rendered["data on a volume"]
    job = job_template(manifests)["spec"]["template"]["spec"]
    assert _volume(job, "data")["persistentVolumeClaim"] == {"claimName": "data", "readOnly": True}
    assert {"name": "data", "mountPath": "/data", "readOnly": True} in job["containers"][0]["volumeMounts"]
    assert _mounts(_server(manifests))["data"] == "/var/lib/sandtable/data"


@pytest.mark.parametrize(
    ("case", "volume", "strategy", "claims"),
    [
        ("as it comes", {"persistentVolumeClaim": {"claimName": "st-sandtable-home"}}, "Recreate", 1),
        ("claim that exists", {"persistentVolumeClaim": {"claimName": "mine"}}, "Recreate", 0),
        ("several servers", {"emptyDir": {"sizeLimit": "4Gi"}}, "RollingUpdate", 0),
    ],
)
def test_state_is_in_one_place(
    rendered: Rendered, case: str, volume: dict[str, Any], strategy: str, claims: int
) -> None:
    manifests = rendered[case]
    assert _volume(_server(manifests), "home") == {"name": "home", **volume}
    assert only(manifests, "Deployment")["spec"]["strategy"]["type"] == strategy
    assert len(of_kind(manifests, "PersistentVolumeClaim")) == claims


def test_the_claim_outlives_the_release_unless_told(rendered: Rendered) -> None:
    kept = only(rendered["as it comes"], "PersistentVolumeClaim")["metadata"]
    assert kept["annotations"] == {"helm.sh/resource-policy": "keep"}
    assert "annotations" not in only(rendered["claim of a class"], "PersistentVolumeClaim")["metadata"]


def test_the_database_is_known_by_a_secret_and_migrated_first(rendered: Rendered) -> None:
    manifests = rendered["several servers"]
    reference = {"secretKeyRef": {"name": "db", "key": "address"}}
    assert variables(_server(manifests)["containers"][0])["SANDTABLE_DATABASE_URL"] == reference
    job = only(manifests, "Job")
    assert job["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"
    (container,) = job["spec"]["template"]["spec"]["containers"]
    assert variables(container)["SANDTABLE_DATABASE_URL"] == reference
    assert container["command"] == ["sandtable", "migrate"]
    # Hooks come before everything else: there is no account yet.
    assert "serviceAccountName" not in job["spec"]["template"]["spec"]
    assert not of_kind(rendered["migrated by hand"], "Job") + of_kind(rendered["as it comes"], "Job")


def test_the_signing_key_is_a_file_that_the_server_alone_reads(rendered: Rendered) -> None:
    spec = _server(rendered["one key for all"])
    assert variables(spec["containers"][0])["SANDTABLE_SIGNING_KEY"] == "/etc/sandtable/signing/k.pem"
    assert _mounts(spec)["signing-key"] == "/etc/sandtable/signing"
    secret = _volume(spec, "signing-key")["secret"]
    assert (secret["secretName"], secret["defaultMode"]) == ("signing", 0o440)


def test_keys_of_models_come_from_a_secret(rendered: Rendered) -> None:
    told = variables(_server(rendered["chat model"])["containers"][0])
    assert told["SANDTABLE_MODEL"] == "openai:some-model"
    assert told["SANDTABLE_OPENAI_API_KEY"] == {"secretKeyRef": {"name": "keys", "key": "openai"}}
    assert told["SANDTABLE_ANTHROPIC_API_KEY"] == {"secretKeyRef": {"name": "keys", "key": "anthropic"}}


def test_a_server_is_probed_and_drained(rendered: Rendered) -> None:
    spec = _server(rendered["as it comes"])
    (container,) = spec["containers"]
    paths = {
        name: container[f"{name}Probe"]["httpGet"]["path"] for name in ("startup", "readiness", "liveness")
    }
    assert paths == {"startup": "/healthz", "readiness": "/readyz", "liveness": "/healthz"}
    # Waiting, ten seconds for requests that are under way, and the parts that close take less than the grace.
    assert container["lifecycle"]["preStop"] == {"sleep": {"seconds": 5}}
    assert spec["terminationGracePeriodSeconds"] >= 5 + 10 + 20


def test_the_execution_service_shares_a_token_and_asks_nobody(rendered: Rendered) -> None:
    manifests = rendered["execution service"]
    told = variables(_server(manifests)["containers"][0])
    assert told["SANDTABLE_EXECD_URL"] == "http://st-sandtable-execd:8400"
    (execd,) = (pod for pod in pods_of(manifests) if pod.name == "execd")
    own = variables(execd.containers[0])
    assert own["SANDTABLE_EXECD_TOKEN"] == told["SANDTABLE_EXECD_TOKEN"]
    assert own["SANDTABLE_BACKEND"] == "local"
    policy = only(manifests, "NetworkPolicy", "st-sandtable-execd")["spec"]
    assert "egress" not in policy
    (rule,) = policy["ingress"]
    assert rule["ports"] == [{"protocol": "TCP", "port": 8400}]


def test_the_chat_interface_reaches_the_server_and_is_let_in(rendered: Rendered) -> None:
    manifests = rendered["chat interface"]
    config = only(manifests, "ConfigMap", "st-sandtable-chat")["data"]["server.conf"]
    assert config == "proxy_pass http://st-sandtable.apps.svc:80;\n"
    (pod,) = (pod for pod in pods_of(manifests) if pod.name == "chat")
    assert "/etc/nginx/server.conf" in _mounts(pod.spec).values()
    (rule,) = only(manifests, "NetworkPolicy", "st-sandtable")["spec"]["ingress"]
    components = [
        peer["podSelector"]["matchLabels"].get("app.kubernetes.io/component") for peer in rule["from"]
    ]
    assert components == [None, "test", "chat"]


def _reachable(manifests: list[Manifest]) -> list[int]:
    policy = only(manifests, "NetworkPolicy", "st-sandtable")
    return [port["port"] for rule in policy["spec"]["egress"] for port in rule.get("ports", ())]


@pytest.mark.parametrize(
    ("case", "ports"),
    [
        ("as it comes", [53, 53, 443, 6443]),
        ("warm pods", [53, 53, 443, 6443, 8377]),
        ("inside the server's pod", [53, 53]),
        ("execution service", [53, 53, 8400]),
        ("several servers", [53, 53, 443, 6443, 5432]),
        ("chat model", [53, 53, 443, 6443, 443]),
    ],
)
def test_the_server_reaches_what_it_uses(rendered: Rendered, case: str, ports: list[int]) -> None:
    assert _reachable(rendered[case]) == ports


def test_the_network_can_be_narrowed(rendered: Rendered) -> None:
    spec = only(rendered["narrow network"], "NetworkPolicy", "st-sandtable")["spec"]
    assert all("to" in rule for rule in spec["egress"])
    (ingress,) = spec["ingress"]
    first, tests = ingress["from"]
    assert first["namespaceSelector"]["matchLabels"] == {"kubernetes.io/metadata.name": "edge"}
    assert tests["podSelector"]["matchLabels"]["app.kubernetes.io/component"] == "test"


def test_an_ingress_does_not_hold_back_streams(rendered: Rendered) -> None:
    annotations = only(rendered["ingress"], "Ingress")["metadata"]["annotations"]
    assert annotations["nginx.ingress.kubernetes.io/proxy-buffering"] == "off"
    assert int(annotations["nginx.ingress.kubernetes.io/proxy-read-timeout"]) >= 3600


def test_a_route_has_no_time_limit(rendered: Rendered) -> None:
    route = only(rendered["route"], "HTTPRoute")["spec"]
    (rule,) = route["rules"]
    assert rule["timeouts"] == {"request": "0s"}
    service = only(rendered["route"], "Service")
    assert rule["backendRefs"] == [
        {"name": service["metadata"]["name"], "port": service["spec"]["ports"][0]["port"]}
    ]


def test_a_scaler_decides_alone_on_the_number(rendered: Rendered) -> None:
    manifests = rendered["scaled by load"]
    assert "replicas" not in only(manifests, "Deployment")["spec"]
    assert only(manifests, "HorizontalPodAutoscaler")["spec"]["scaleTargetRef"]["name"] == "st-sandtable"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({}, "helm test st --namespace apps --logs"),
        ({"admissionPolicy": {"enabled": False}}, "WARNING: admissionPolicy.enabled is false"),
        ({"networkPolicy": {"enabled": False}}, "WARNING: networkPolicy.enabled is false"),
        ({"database": {"existingSecret": "db"}}, "WARNING: signingKey.existingSecret is empty"),
        ({"runners": {"createNamespace": False}}, "pod-security.kubernetes.io/enforce=restricted"),
        (
            {"ingress": {"enabled": True}, "server": {"trustedProxies": ["10.0.0.7"]}},
            "http://sandtable.example.com/",
        ),
        ({}, "WARNING: everybody who can reach this service can run queries"),
        ({"server": {"trustedProxies": ["10.0.0.7"]}}, "Only 10.0.0.7 may use it"),
    ],
    ids=["tests", "admission", "network", "signing", "namespace", "ingress", "everybody", "a proxy"],
)
def test_the_notes_say_what_to_do_next(helm: Helm, values: dict[str, Any], said: str) -> None:
    assert said in helm.texts(values)["NOTES.txt"]


@pytest.mark.parametrize(
    ("release", "name"), [("sandtable", "sandtable"), ("my-sandtable", "my-sandtable"), ("x", "x-sandtable")]
)
def test_names_come_from_the_release(helm: Helm, release: str, name: str) -> None:
    assert only(helm.manifests(release=release), "Deployment")["metadata"]["name"] == name


def test_the_longest_name_fits(helm: Helm) -> None:
    for manifest in helm.manifests(
        {"database": {"existingSecret": "db"}}, release="r" * 53, namespace="n" * 63
    ):
        assert len(manifest["metadata"]["name"]) <= 63


def test_agents_get_ports_of_their_own_when_they_are_asked_for(rendered: Rendered) -> None:
    manifests = rendered["agents"]
    service = only(manifests, "Service")["spec"]["ports"]
    assert [(port["name"], port["port"]) for port in service[1:]] == [("a2a", 8101), ("a2a-grpc", 50061)]
    container = only(manifests, "Deployment")["spec"]["template"]["spec"]["containers"][0]
    assert {port["name"]: port["containerPort"] for port in container["ports"]} == {
        "http": 8000, "a2a": 8101, "a2a-grpc": 50061
    }  # fmt: skip
    given = {each["name"]: each.get("value") for each in container["env"]}
    assert (given["SANDTABLE_A2A"], given["SANDTABLE_A2A_PORT"], given["SANDTABLE_A2A_GRPC_PORT"]) == (
        "true", "8101", "50061"
    )  # fmt: skip
    (ingress,) = only(manifests, "NetworkPolicy", "st-sandtable")["spec"]["ingress"]
    assert [port["port"] for port in ingress["ports"]] == [8000, 8101, 50061]
    plain = rendered["as it comes"]
    assert len(only(plain, "Service")["spec"]["ports"]) == 1
    assert "SANDTABLE_A2A" not in str(only(plain, "Deployment"))
