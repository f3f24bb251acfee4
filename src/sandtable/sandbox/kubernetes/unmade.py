"""Why a Job has no pod: the Job itself tells little, its events tell all, where we may read them."""

from __future__ import annotations

import time

from sandtable.errors import SandboxUnavailable
from sandtable.sandbox.kubernetes.api import Api, ApiAway, ApiRefused, Object
from sandtable.sandbox.kubernetes.lost import Lost

_ASK_S = 1.0
_SOON_S = 2.0
"""A controller that is not held up needs less than this."""


class Unmade:
    """Asked again and again while there is no pod; looks at the cluster at most once a second."""

    def __init__(self, api: Api, name: str) -> None:
        self._api = api
        self._name = name
        self._since = time.monotonic()
        self._asked = float("-inf")
        self._may_read_events = True
        self._told = "the cluster makes its pod"

    async def reason(self, *, begun: bool) -> str:
        """In words. Raises Lost when the Job is no more, SandboxUnavailable when it will never have a pod."""
        now = time.monotonic()
        if now - self._asked < _ASK_S or (not begun and now - self._since < _SOON_S):
            return self._told
        self._asked = now
        try:
            self._look(await self._api.job(self._name))
            complaint = await self._complaint()
        except (ApiAway, ApiRefused):
            return self._told
        if complaint and _is_final(complaint):
            raise SandboxUnavailable(
                f"the cluster refuses the runner's pod: {complaint}",
                suggestion="change the Job template, or the policy of the namespace, so that they agree",
            )
        self._told = complaint or self._guess()
        return self._told

    def _guess(self) -> str:
        if self._may_read_events:
            return "the cluster has not made its pod yet: its Job controller is slow, or away"
        return (
            "the cluster has not made its pod yet, most likely because a quota is full "
            f"(kubectl -n {self._api.namespace} describe job {self._name})"
        )

    def _look(self, job: Object | None) -> None:
        if job is None:
            raise Lost("its Job was deleted")
        for condition in job.get("status", {}).get("conditions") or ():
            if condition.get("type") == "Failed" and condition.get("status") == "True":
                raise Lost(f"its Job failed without a pod: {condition.get('reason')}")

    async def _complaint(self) -> str:
        if not self._may_read_events:
            return ""
        try:
            events = await self._api.events_of(self._name)
        except ApiRefused:
            self._may_read_events = False
            return ""
        told = [event for event in events if event.get("type") == "Warning"]
        told.sort(key=lambda event: event.get("lastTimestamp") or event.get("eventTime") or "")
        return str(told[-1].get("message") or "") if told else ""


def _is_final(complaint: str) -> bool:
    """A quota empties again; a policy does not change its mind."""
    return "forbidden" in complaint and "exceeded quota" not in complaint
