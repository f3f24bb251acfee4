"""What a pod's state means: wait on, give up, try again, or a result."""

from __future__ import annotations

from typing import Any

import pytest

from sandtable.errors import ErrorCode
from sandtable.sandbox.kubernetes.pods import Pod, explain_pod, hopeless, is_lost, read_pod, why_waiting
from tests.sandbox.kubernetes.objects import ended, job, pod, waiting

_UNSCHEDULABLE = {
    "conditions": [
        {
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable",
            "message": "0/3 nodes are available",
        }
    ]
}
_GONE = {"conditions": [{"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI"}]}


def test_an_empty_object_is_a_pod_of_which_nothing_is_known() -> None:
    read = read_pod({})
    assert (read.begun, read.over, is_lost(read), hopeless(read)) == (False, False, False, None)


_WAITING: dict[str, tuple[Pod, str]] = {
    "no room": (pod(node="", status=_UNSCHEDULABLE), "no room for it: 0/3 nodes are available"),
    "no node yet": (pod(node=""), "waits for a node"),
    "being made": (pod(state=waiting("ContainerCreating")), "being made"),
    "pulling": (pod(state=waiting("ErrImagePull", "connection reset")), "ErrImagePull: connection reset"),
    "runs": (pod(state={"running": {}}, phase="Running"), ""),
    "has ended": (pod(state=ended(0), phase="Succeeded"), ""),
}


@pytest.mark.parametrize(("given", "told"), _WAITING.values(), ids=list(_WAITING))
def test_why_it_waits(given: Pod, told: str) -> None:
    assert told in why_waiting(given)
    assert bool(told) == bool(why_waiting(given))
    assert hopeless(given) is None


_HOPELESS: dict[str, tuple[Pod, str]] = {
    "never pulled": (
        pod(state=waiting("ErrImageNeverPull", "image is not present")),
        "image cannot be pulled",
    ),
    "pull given up": (pod(state=waiting("ImagePullBackOff", "Back-off")), "image cannot be pulled"),
    "no such image": (pod(state=waiting("ErrImagePull", "repo/x: not found")), "image cannot be pulled"),
    "a bad name": (pod(state=waiting("InvalidImageName")), "image cannot be pulled"),
    "no secret": (pod(state=waiting("CreateContainerConfigError", 'secret "s" not found')), 'secret "s"'),
    "no program": (pod(state=ended(128, "StartError"), phase="Failed"), "does not start"),
    "before it": (
        pod(status={"initContainerStatuses": [{"name": "i", "state": waiting("ImagePullBackOff", "of i")}]}),
        "of i",
    ),
}


@pytest.mark.parametrize(("given", "told"), _HOPELESS.values(), ids=list(_HOPELESS))
def test_what_waiting_will_not_help(given: Pod, told: str) -> None:
    trouble = hopeless(given)
    assert trouble is not None
    assert told in trouble.message
    assert trouble.suggestion


_LOST: dict[str, tuple[Pod, bool]] = {
    "evicted": (pod(phase="Failed", status={"reason": "Evicted", "message": "low on memory"}), True),
    "node shut down": (pod(phase="Failed", status={"reason": "Terminated"}, state=ended(137)), True),
    "not admitted": (pod(phase="Failed", status={"reason": "OutOfcpu"}), True),
    "disrupted": (pod(phase="Failed", state=ended(137), status=_GONE), True),
    "deleted": (pod(state={"running": {}}, metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"}), True),
    "node gone": (pod(phase="Failed", state=ended(137, "ContainerStatusUnknown")), True),
    "its deadline": (pod(phase="Failed", status={"reason": "DeadlineExceeded"}), False),
    "its memory": (pod(phase="Failed", state=ended(137, "OOMKilled")), False),
    "its own fault": (pod(phase="Failed", state=ended(1)), False),
    "its end": (pod(phase="Succeeded", state=ended(0, "Completed")), False),
}


@pytest.mark.parametrize(("given", "lost"), _LOST.values(), ids=list(_LOST))
def test_who_ended_it(given: Pod, lost: bool) -> None:
    assert is_lost(given) is lost


_ENDS: dict[str, tuple[dict[str, Any], ErrorCode, str]] = {
    "memory": ({"state": ended(137, "OOMKilled")}, ErrorCode.RUNNER_RESOURCE_EXCEEDED, "MemoryLimit"),
    "deadline": ({"status": {"reason": "DeadlineExceeded"}}, ErrorCode.RUNNER_TIMEOUT, "Timeout"),
    "killed": ({"state": ended(137)}, ErrorCode.RUNNER_RESOURCE_EXCEEDED, "Killed"),
    "crashed": ({"state": ended(139)}, ErrorCode.RUNNER_INTERNAL_ERROR, "Crash"),
    "ended by itself": ({"state": ended(2)}, ErrorCode.RUNNER_INTERNAL_ERROR, "NoAnswer"),
    "said nothing": ({"state": ended(0, "Completed")}, ErrorCode.RUNNER_INTERNAL_ERROR, "NoAnswer"),
}


@pytest.mark.parametrize(("given", "code", "kind"), _ENDS.values(), ids=list(_ENDS))
def test_an_end_without_a_report(given: dict[str, Any], code: ErrorCode, kind: str) -> None:
    result = explain_pod(job(), pod(phase="Failed", **given), "Traceback: it broke")
    assert result.error is not None
    assert (result.status, result.error.code, result.error.type) == ("failed", code, kind)
    assert result.error.suggestion
    assert kind == "Timeout" or "it broke" in result.stderr
