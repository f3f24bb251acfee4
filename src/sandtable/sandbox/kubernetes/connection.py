"""What an executor needs of one cluster, created with its first job: the API, the template, and what uses both."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from sandtable.retrying import retried
from sandtable.sandbox.executor import Kind
from sandtable.sandbox.kubernetes.api import OUTAGE, Api, ApiAway, ApiRefused, Object
from sandtable.sandbox.kubernetes.cluster import find_cluster
from sandtable.sandbox.kubernetes.deleting import Deletions, reap
from sandtable.sandbox.kubernetes.manifest import Timeouts
from sandtable.sandbox.kubernetes.names import INSTANCE
from sandtable.sandbox.kubernetes.placing import Placing
from sandtable.sandbox.kubernetes.template import built_in, read_template, runner_of
from sandtable.sandbox.kubernetes.trouble import check_permissions, unavailable
from sandtable.sandbox.kubernetes.warm import IDLE_S, WarmPods
from sandtable.sandbox.report import Ready

_ANSWER = replace(OUTAGE, budget_s=10.0)
_CLOSE_S = 10.0
_LEFT_S = 60.0
"""How long a finished Job counts as one that a server may still read."""


@dataclass(frozen=True, slots=True)
class Setup:
    """The operator's settings."""

    image: str
    namespace: str = ""
    """When empty, the template's; if that has none, the kubeconfig's, or that of the server's pod."""
    kubeconfig: Sequence[Path] = ()
    service: tuple[str, int] | None = None
    """Host and port of the API, as in the environment of a pod."""
    instance: str = ""
    """The installation: replicas of one server share it, two installations in a namespace do not. When empty, the
    template's label."""
    template: Path | None = None
    warm: int = 0
    timeouts: Timeouts = field(default_factory=Timeouts)
    warm_idle_s: float = IDLE_S


class ClusterConnection:
    def __init__(
        self, setup: Setup, replica: str, api: Api, template: Object, on_ready: Callable[[Kind, Ready], None]
    ) -> None:
        self.api = api
        self.template = template
        self.container: str = runner_of(template)["name"]
        labels = template.get("metadata", {}).get("labels") or {}
        self.instance: str = setup.instance or labels.get(INSTANCE) or "sandtable"
        self.deletions = Deletions(api)
        self.placing = Placing(api, template, self.instance, replica, setup.timeouts)
        self._setup, self._replica, self._on_ready = setup, replica, on_ready
        self.shelves: dict[Kind, WarmPods] = {
            "sql": self._shelf("sql", setup.warm),
            "py": self._shelf("py", (setup.warm + 1) // 2),
        }
        self._reaping = asyncio.create_task(reap(api, self.instance, _LEFT_S), name="reap Jobs")
        # The shelf for code is filled when the first code arrives: its pods hold far more memory.
        self.shelves["sql"].start()

    def _shelf(self, kind: Kind, count: int) -> WarmPods:
        return WarmPods(
            self.api,
            self.template,
            self.container,
            self.instance,
            self._replica,
            self.deletions,
            kind=kind,
            count=count,
            timeouts=self._setup.timeouts,
            idle_s=self._setup.warm_idle_s,
            on_ready=self._on_ready,
        )

    @classmethod
    async def open(
        cls, setup: Setup, replica: str, on_ready: Callable[[Kind, Ready], None]
    ) -> ClusterConnection:
        """Raises SandboxUnavailable: no cluster, no answer, no permission, no usable template."""
        cluster = await asyncio.to_thread(find_cluster, setup.kubeconfig, setup.service)
        if setup.template is None:
            template = built_in(setup.image)
        else:
            template = await asyncio.to_thread(read_template, setup.template, setup.image)
        api = Api(cluster, setup.namespace or template["metadata"].get("namespace") or "")
        try:
            await _check(api)
        except BaseException:
            await api.aclose()
            raise
        return cls(setup, replica, api, template, on_ready)

    async def aclose(self) -> None:
        self._reaping.cancel()
        await asyncio.gather(self._reaping, return_exceptions=True)
        await asyncio.gather(*(shelf.aclose() for shelf in self.shelves.values()))
        await self.deletions.settle(_CLOSE_S)
        await self.api.aclose()


async def _check(api: Api) -> None:
    try:
        await retried(lambda: check_permissions(api), on=ApiAway, backoff=_ANSWER)
    except (ApiAway, ApiRefused) as error:
        raise unavailable(error, api) from error
