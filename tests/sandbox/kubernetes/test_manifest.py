"""What of a run stands in its Job, and where."""

from __future__ import annotations

import base64
import json
import random
import zlib
from typing import Any

import pytest

from sandtable.errors import InvalidInput
from sandtable.sandbox.job import Limits
from sandtable.sandbox.kubernetes import names
from sandtable.sandbox.kubernetes.manifest import (
    MOST_BYTES,
    Filling,
    Size,
    Timeouts,
    at_most,
    digest_of,
    fill,
    packed_order,
)
from sandtable.sandbox.kubernetes.template import built_in, pod_of, runner_of
from sandtable.sandbox.wire import order_of
from tests.sandbox.kubernetes.objects import RUN, job

_TEXT = "SELECT 'a text that is nowhere but in the order' AS x"


def _filled(template: dict[str, Any] | None = None, **given: Any) -> dict[str, Any]:
    filling = {
        "name": "sandtable-x",
        "labels": {names.RUN: RUN},
        "config": {"kind": "sql", "input": "file:/job/order", "nonce": "n"},
        "size": Size(),
        "order": packed_order(job(_TEXT)),
        "annotations": {names.NONCE: "n"},
    }
    return fill(template or built_in("runner:1"), Filling(**{**filling, **given}), Timeouts())


def test_the_order_is_a_file_of_the_container_and_nothing_else() -> None:
    made = _filled()
    template = made["spec"]["template"]
    packed = template["metadata"]["annotations"][names.ORDER]
    assert json.loads(zlib.decompress(base64.b64decode(packed))) == order_of(job(_TEXT))
    (volume,) = [v for v in pod_of(made)["volumes"] if "downwardAPI" in v]
    (item,) = volume["downwardAPI"]["items"]
    assert item == {"path": "order", "fieldRef": {"fieldPath": f"metadata.annotations['{names.ORDER}']"}}
    (mount,) = [m for m in runner_of(made)["volumeMounts"] if m["name"] == volume["name"]]
    assert (mount["mountPath"], mount["readOnly"]) == ("/job", True)
    assert "nowhere but" not in json.dumps(runner_of(made))
    assert "env" not in runner_of(made)


def test_the_program_is_told_where_things_are() -> None:
    (argument,) = runner_of(_filled())["args"]
    assert json.loads(argument) == {"store": "/data", "kind": "sql", "input": "file:/job/order", "nonce": "n"}


def test_a_job_ends_in_every_case() -> None:
    size = Size.of("sql", Limits(wall_ms=2500), 1)
    spec = _filled(size=size)["spec"]
    timeouts = Timeouts()
    assert spec["template"]["spec"]["activeDeadlineSeconds"] == 3 + timeouts.start
    assert spec["activeDeadlineSeconds"] == 3 + timeouts.start + timeouts.queue
    assert (spec["backoffLimit"], spec["template"]["spec"]["restartPolicy"]) == (0, "Never")
    assert spec["ttlSecondsAfterFinished"] == timeouts.finished
    assert spec["template"]["spec"]["terminationGracePeriodSeconds"] == 0


def test_a_pod_that_waits_may_live_longer() -> None:
    spec = _filled(waits_s=900.0, order=None)["spec"]
    assert spec["template"]["spec"]["activeDeadlineSeconds"] == 900 + 30 + Timeouts().start
    assert "volumes" not in spec["template"]["spec"] or all(
        "downwardAPI" not in volume for volume in spec["template"]["spec"]["volumes"]
    )


def test_the_container_has_room_for_the_run_the_engine_and_the_scratch_space() -> None:
    resources = runner_of(_filled(size=Size("sql", 500, 3, 30.0, 100)))["resources"]
    assert resources["limits"] == {"memory": "760Mi", "cpu": "3"}
    assert resources["requests"] == {"memory": "128Mi", "cpu": "100m"}


def test_the_templates_own_requests_and_further_limits_stay() -> None:
    template = built_in("r")
    runner_of(template)["resources"] = {
        "requests": {"cpu": "1"},
        "limits": {"ephemeral-storage": "1Gi", "cpu": "9"},
    }
    resources = runner_of(_filled(template))["resources"]
    assert resources["requests"] == {"memory": "128Mi", "cpu": "1"}
    assert (resources["limits"]["ephemeral-storage"], resources["limits"]["cpu"]) == ("1Gi", "1")


def test_scratch_space_is_memory_of_its_size() -> None:
    made = _filled(size=Size(tmp_mb=64))
    (volume,) = [v for v in pod_of(made)["volumes"] if "emptyDir" in v]
    assert volume["emptyDir"] == {"medium": "Memory", "sizeLimit": "64Mi"}
    assert not any("emptyDir" in v for v in pod_of(_filled(size=Size(tmp_mb=0)))["volumes"])


def test_filling_changes_neither_the_template_nor_the_next_job() -> None:
    template = built_in("r")
    before = json.dumps(template)
    first = _filled(template)
    assert json.dumps(template) == before
    assert _filled(template) == first


def test_what_the_template_adds_is_kept() -> None:
    template = built_in("r")
    template["metadata"]["labels"] = {"team": "a", names.RUN: "never"}
    template["spec"]["template"]["metadata"] = {"annotations": {"kueue": "yes"}}
    pod_of(template)["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": "c"}}]
    runner_of(template)["volumeMounts"] = [{"name": "data", "mountPath": "/data", "readOnly": True}]
    made = _filled(template)
    assert made["metadata"]["labels"] == {"team": "a", names.RUN: RUN}
    assert made["spec"]["template"]["metadata"]["annotations"]["kueue"] == "yes"
    assert pod_of(made)["volumes"][0]["name"] == "data"
    assert runner_of(made)["volumeMounts"][0]["mountPath"] == "/data"


def test_a_text_that_does_not_fit_is_the_callers_to_shorten() -> None:
    noise = "".join(random.Random(1).choices("abcdefghijklmnopqrstuvwxyz0123456789", k=MOST_BYTES * 2))
    with pytest.raises(InvalidInput, match="too long for a Kubernetes Job") as caught:
        packed_order(job(f"SELECT '{noise}'"))
    assert caught.value.suggestion


def test_attempts_of_one_run_are_seen_to_be_the_same() -> None:
    assert digest_of(job(job_id=f"{RUN}-1")) == digest_of(job(job_id=f"{RUN}-2"))
    assert digest_of(job("SELECT 1")) != digest_of(job("SELECT 2"))


@pytest.mark.parametrize(
    ("other", "fits"),
    [
        (Size("sql", 1024, 1, 30.0), True),
        (Size("sql", 512, 1, 10.0), True),
        (Size("sql", 1025, 1, 30.0), False),
        (Size("sql", 1024, 2, 30.0), False),
        (Size("sql", 1024, 1, 31.0), False),
        (Size("sql", 1024, 1, 30.0, 257), False),
        (Size("sql", 1024, 1, 30.0, 255), False),
        (Size("py", 1024, 1, 30.0), False),
    ],
)
def test_what_a_pod_is_large_enough_for(other: Size, fits: bool) -> None:
    assert Size().holds(other) is fits
    assert fits or other.kind == "py" or Size().and_also(other).holds(other)


@pytest.mark.parametrize(
    ("wanted", "limit", "given"),
    [
        ("256Mi", "224Mi", "224Mi"),
        ("256Mi", "1Gi", "256Mi"),
        ("2", "1", "1"),
        ("100m", "1", "100m"),
        ("1500m", "1", "1"),
        ("1G", "1Gi", "1G"),
        ("1e3", "1", "1e3"),
        ("1", None, "1"),
    ],
)
def test_nothing_is_asked_for_beyond_its_limit(wanted: str, limit: str | None, given: str) -> None:
    """A cluster would refuse the pod. What is not understood is left to it."""
    assert at_most(wanted, limit) == given
    template = built_in("r")
    runner_of(template)["resources"] = {"requests": {"memory": "9Gi"}}
    assert runner_of(_filled(template))["resources"]["requests"]["memory"] == "1440Mi"


def test_a_job_goes_where_the_executor_puts_it() -> None:
    template = built_in("r")
    template["metadata"]["namespace"] = "elsewhere"
    assert "namespace" not in _filled(template)["metadata"]
