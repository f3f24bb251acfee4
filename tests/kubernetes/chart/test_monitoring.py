"""The dashboard and the alerts: what they ask for is measured, under these labels, and Prometheus can read it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, get_args

import pytest
import yaml

from sandtable.agent.events import Ending
from sandtable.errors import ErrorCode
from sandtable.observing import Stage
from sandtable.store.run_store import Status
from sandtable.telemetry.measures import EVERY
from sandtable.telemetry.metrics import Metrics
from tests.kubernetes.chart.helm import CHART, ROOT, Manifest
from tests.kubernetes.chart.pods import of_kind, only
from tests.kubernetes.chart.promql import NotPromql, Used, metrics_in

DASHBOARD = json.loads((CHART / "files/dashboard.json").read_text(encoding="utf-8"))
ALERTS = yaml.safe_load((CHART / "files/alerts.yaml").read_text(encoding="utf-8"))
RULES = [rule for group in ALERTS["groups"] for rule in group["rules"]]
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
OF_TARGETS = {"namespace", "pod", "job", "instance"}
"""Labels that Prometheus adds to what it reads."""
_VARIABLES = {"$__rate_interval": "5m", "$namespace": ".*", "$pod": ".*"}


def _expressions() -> Iterator[tuple[str, str]]:
    for panel in PANELS:
        for target in panel["targets"]:
            text = target["expr"]
            for name, value in _VARIABLES.items():
                text = text.replace(name, value)
            yield f"panel {panel['title']}: {target['legendFormat']}", text
    for rule in RULES:
        yield f"alert {rule['alert']}", rule["expr"]


EXPRESSIONS = dict(_expressions())


def _exported() -> dict[str, set[str]]:
    """Every series that the registry exports, with its labels."""
    found: dict[str, set[str]] = {}
    for each in EVERY:
        if each.kind == "histogram":
            found |= {f"{each.name}_{part}": set(each.labels) for part in ("sum", "count")}
            found[f"{each.name}_bucket"] = {*each.labels, "le"}
        else:
            found[each.name] = set(each.labels)
    text = Metrics().text().decode()
    return found | {name: set() for name in re.findall(r"^# TYPE (process_\w+) ", text, re.MULTILINE)}


EXPORTED = _exported()
VALUES: dict[str, set[str]] = {
    "stage": set(get_args(Stage)),
    "code": {"", *ErrorCode},
    "ending": set(get_args(Ending)),
    "status": set(get_args(Status)),
}
"""Values of a label, where all are known."""


def test_there_is_something_to_check() -> None:
    assert len(EXPRESSIONS) > 45 and len(RULES) >= 8
    assert len({rule["alert"] for rule in RULES}) == len(RULES)
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])


@pytest.mark.parametrize("of", EXPRESSIONS)
def test_what_is_asked_for_is_measured(of: str) -> None:
    for used in metrics_in(EXPRESSIONS[of]):
        assert used.name in EXPORTED, f"{used.name} is no metric"
        unknown = used.labels.keys() - EXPORTED[used.name] - OF_TARGETS
        assert not unknown, f"{used.name} has no label {unknown}"
        _require_values(used)


def _require_values(used: Used) -> None:
    """A pattern that no value fits would select nothing, or everything."""
    for label, pattern in used.labels.items():
        known = VALUES.get(label)
        if known is None or not pattern or (label == "status" and used.name.startswith("sandtable_http")):
            continue
        alternatives = pattern.split("|")
        assert set(alternatives) <= known, f"{label} of {used.name} is never {set(alternatives) - known}"


def test_counters_are_asked_for_by_their_rate() -> None:
    for of, text in EXPRESSIONS.items():
        for used in metrics_in(text):
            counts = used.name.endswith(("_total", "_bucket", "_sum", "_count"))
            assert used.ranged == counts, f"{of}: {used.name}"


@pytest.mark.parametrize(
    "text",
    [
        "sum by (le (rate(x[5m]))", "rate(x)", "sum(x) sum(y)", "nosuch(x)", 'x{a="b}', 'x{a=b}', "x{a='b' c='d'}",
        "x[5]", "1 +", "sum(x))", "histogram_quantile(0.9 sum(x))", "", "x > > 1", 'x{a=~"("}',
    ],
)  # fmt: skip
def test_a_mistake_would_be_noticed(text: str) -> None:
    with pytest.raises((NotPromql, re.error)):
        metrics_in(text)


def test_metrics_and_labels_are_found() -> None:
    [a, b] = metrics_in('sum by (pod) (rate(a_total{x=~"1|2"}[5m])) / on (pod) max(b) > 0.5')
    assert (a.name, a.labels, a.ranged) == ("a_total", {"x": "1|2", "pod": ""}, True)
    assert (b.name, b.ranged) == ("b", False)


def test_every_alert_says_what_to_do() -> None:
    page = (ROOT / "docs/operations.md").read_text(encoding="utf-8")
    for rule in RULES:
        assert rule["labels"]["severity"] in ("warning", "critical")
        assert rule["annotations"]["summary"] and rule["annotations"]["description"]
        assert f"| `{rule['alert']}` |" in page
    assert page.count("| `Sandtable") == len(RULES)


def test_panels_do_not_overlap() -> None:
    taken: dict[tuple[int, int], str] = {}
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        for x in range(place["x"], place["x"] + place["w"]):
            for y in range(place["y"], place["y"] + place["h"]):
                assert x < 24 and (x, y) not in taken, panel["title"]
                taken[x, y] = panel["title"]


def test_every_metric_that_changes_is_on_the_dashboard() -> None:
    shown = " ".join(text for of, text in EXPRESSIONS.items() if of.startswith("panel"))
    left_out = {"sandtable_import_seconds", "sandtable_turn_wait_seconds"}
    assert {each.name for each in EVERY if each.name not in shown} == left_out


@pytest.mark.needs("helm")
def test_the_dashboard_comes_as_the_sidecar_finds_it(rendered: dict[str, list[Manifest]]) -> None:
    config = only(rendered["watched"], "ConfigMap", "st-sandtable-dashboard")
    assert config["metadata"]["namespace"] == "grafana"
    assert config["metadata"]["labels"]["grafana_dashboard"] == "1"
    assert config["metadata"]["annotations"] == {"grafana_folder": "Data"}
    assert json.loads(config["data"]["sandtable.json"]) == DASHBOARD
    other = only(rendered["watched without an operator"], "ConfigMap", "st-sandtable-dashboard")["metadata"]
    assert other["labels"]["dashboards"] == "yes" and other["namespace"] == "apps"


@pytest.mark.needs("helm")
def test_alerts_come_for_the_operator_or_as_a_file(rendered: dict[str, list[Manifest]]) -> None:
    rule: Any = only(rendered["watched"], "PrometheusRule")
    assert rule["apiVersion"] == "monitoring.coreos.com/v1"
    assert rule["metadata"]["labels"]["release"] == "prometheus"
    assert rule["spec"] == ALERTS
    plain = only(rendered["watched without an operator"], "ConfigMap", "st-sandtable-alerts")
    assert yaml.safe_load(plain["data"]["sandtable.yaml"]) == ALERTS
    assert not of_kind(rendered["watched without an operator"], "PrometheusRule")


@pytest.mark.needs("helm")
def test_nothing_of_it_comes_unasked(rendered: dict[str, list[Manifest]]) -> None:
    manifests = rendered["as it comes"]
    names = {one["metadata"]["name"] for one in of_kind(manifests, "ConfigMap")}
    assert not {name for name in names if "dashboard" in name or "alerts" in name}
    assert not of_kind(manifests, "PrometheusRule")
