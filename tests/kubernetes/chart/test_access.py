"""Who may use the server, and by which names, as the values say it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sandtable.settings import Settings
from tests.kubernetes.chart.helm import Helm, Manifest, Refused
from tests.kubernetes.chart.pods import only, pods_of, variables

pytestmark = pytest.mark.needs("helm")

Rendered = dict[str, list[Manifest]]


def _settings(manifests: list[Manifest]) -> dict[str, Any]:
    (pod,) = (pod for pod in pods_of(manifests) if pod.name == "server")
    return variables(pod.spec["containers"][0])


@pytest.mark.parametrize(
    ("case", "further"),
    [
        ("as it comes", []),
        (
            "chat interface",
            [f"st-sandtable-chat{end}" for end in ("", ".apps", ".apps.svc", ".apps.svc.cluster.local")],
        ),
        ("ingress", ["a.example.com"]),
        ("route", ["a.example.com", ".b.example.com"]),
    ],
)
def test_the_server_answers_to_the_names_it_is_given(
    rendered: Rendered, case: str, further: list[str]
) -> None:
    given = _settings(rendered[case])
    own = [
        "st-sandtable",
        "st-sandtable.apps",
        "st-sandtable.apps.svc",
        "st-sandtable.apps.svc.cluster.local",
    ]
    settings = Settings(allowed_hosts=given["SANDTABLE_ALLOWED_HOSTS"])  # pyright: ignore[reportArgumentType] - as in the environment
    assert list(settings.allowed_hosts) == own + further


def test_its_own_test_asks_by_such_a_name(rendered: Rendered) -> None:
    """By the address of the service, which no server knows, it would be refused."""
    (container,) = only(rendered["as it comes"], "Pod", "st-sandtable-test-ask")["spec"]["containers"]
    assert (
        json.loads(container["args"][0])["name"]
        in _settings(rendered["as it comes"])["SANDTABLE_ALLOWED_HOSTS"]
    )


@pytest.mark.parametrize(
    ("values", "insecure", "proxies"),
    [
        ({}, "true", None),
        ({"server": {"trustedProxies": ["10.0.0.7", "10.1.0.0/16"]}}, None, "10.0.0.7,10.1.0.0/16"),
        ({"server": {"trustedProxies": ["10.0.0.7"], "insecure": True}}, "true", "10.0.0.7"),
        ({"server": {"insecure": True}, "ingress": {"enabled": True}}, "true", None),
        ({"server": {"trustedProxies": ["10.0.0.7"]}, "ingress": {"enabled": True}}, None, "10.0.0.7"),
    ],
    ids=["inside", "a proxy", "a proxy and everybody", "everybody outside", "a proxy outside"],
)
def test_who_may_use_the_server(
    helm: Helm, values: dict[str, Any], insecure: str | None, proxies: str | None
) -> None:
    given = _settings(helm.manifests(values))
    assert (given.get("SANDTABLE_INSECURE"), given.get("SANDTABLE_TRUSTED_PROXIES")) == (insecure, proxies)


def test_people_sign_in_where_that_was_chosen(helm: Helm) -> None:
    server = {"accounts": True, "publicUrl": "https://a.example.com", "oidc": {"existingSecret": "login"}}
    manifests = helm.manifests({"server": server, "ingress": {"enabled": True}})
    given = _settings(manifests)
    assert (given["SANDTABLE_ACCOUNTS"], given["SANDTABLE_PUBLIC_URL"]) == ("on", "https://a.example.com")
    assert "SANDTABLE_INSECURE" not in given
    (pod,) = (pod for pod in pods_of(manifests) if pod.name == "server")
    assert {"secretRef": {"name": "login"}} in pod.spec["containers"][0]["envFrom"]


@pytest.mark.parametrize(
    "server",
    [
        {"accounts": True, "insecure": True},
        {"oidc": {"existingSecret": "login"}},
        {"accounts": True, "oidc": {"existingSecret": "login"}},
    ],
    ids=str,
)
def test_accounts_that_contradict_other_values(helm: Helm, server: dict[str, Any]) -> None:
    with pytest.raises(Refused, match=r"server\.(accounts|publicUrl)"):
        helm.manifests({"server": server})
