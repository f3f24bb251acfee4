"""KubernetesExecutor: every job gets its own Kubernetes Job, or goes to a waiting pod.

Invariant: a result is never shared between jobs. A job runs once, and a second time only when the cluster took its
sandbox away; however it ends, its Job is deleted.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import time
from collections.abc import Sequence
from pathlib import Path

import structlog

from sandtable.errors import SandboxUnavailable
from sandtable.observing import UNOBSERVED, Tracer
from sandtable.sandbox.executor import Abilities, Hello, JobStatus, Kind
from sandtable.sandbox.job import READS, Job, JobResult, Limits
from sandtable.sandbox.jobs import Jobs
from sandtable.sandbox.kubernetes import names
from sandtable.sandbox.kubernetes.connection import ClusterConnection, Setup
from sandtable.sandbox.kubernetes.following import Following, Progress
from sandtable.sandbox.kubernetes.loglines import result_from
from sandtable.sandbox.kubernetes.manifest import Size, Timeouts
from sandtable.sandbox.kubernetes.placing import kind_of
from sandtable.sandbox.kubernetes.pods import Pod, PodLost, PodWatch, explain_pod, is_lost
from sandtable.sandbox.kubernetes.template import layers_of
from sandtable.sandbox.kubernetes.warm import Unreached, WarmPod, talk
from sandtable.sandbox.outcome import failed
from sandtable.sandbox.report import Ready
from sandtable.settings import Settings

_TRIES = 2
_SEE_END_S = 3.0
_PROBE = Limits(wall_ms=20_000, memory_mb=256)
_PROBES: dict[Kind, tuple[str, str]] = {"sql": ("sql", "SELECT 1 AS ok"), "py": ("python", "1 + 1")}

log = structlog.get_logger(__name__)


class KubernetesExecutor:
    abilities = Abilities("kubernetes", READS, grace_s=900.0)
    name = abilities.name

    def __init__(
        self,
        *,
        image: str,
        namespace: str | None = None,
        template: Path | None = None,
        warm: int = 0,
        parallel: int = 8,
        instance: str = "",
        kubeconfig: Sequence[Path] = (),
        service: tuple[str, int] | None = None,
        timeouts: Timeouts | None = None,
        tracer: Tracer = UNOBSERVED.tracer,
    ) -> None:
        """`parallel`: Jobs at the same time; further ones wait here, where it costs nothing, and not at the quota. The
        rest as in `Setup`."""
        self._setup = Setup(
            image, namespace or "", kubeconfig, service, instance, template, warm, timeouts or Timeouts()
        )
        self._replica = secrets.token_hex(5)
        self._tracer = tracer
        self._jobs = Jobs(self._work, parallel, tracer=tracer)
        self._progress: dict[str, Progress] = {}
        self._hellos: dict[Kind, Hello] = {}
        self._connection: ClusterConnection | None = None
        self._opening = asyncio.Lock()
        self._probing = asyncio.Lock()

    @classmethod
    def configured(
        cls, settings: Settings, store: Path, tracer: Tracer = UNOBSERVED.tracer
    ) -> KubernetesExecutor:
        """The data are in the image or on a volume that the template names, not in this server's store."""
        host = settings.kubernetes_service_host
        return cls(
            namespace=settings.kubernetes_namespace,
            image=settings.kubernetes_image,
            template=settings.kubernetes_template,
            warm=settings.kubernetes_warm,
            parallel=settings.concurrency + settings.verifications,
            instance=settings.kubernetes_instance,
            kubeconfig=tuple(Path(each) for each in (settings.kubeconfig or "").split(os.pathsep) if each),
            service=(host, settings.kubernetes_service_port) if host else None,
            tracer=tracer,
        )

    async def start(self, kind: Kind = "sql") -> Hello:
        """Runs a Job that does almost nothing: its result proves that image, admission, log and order work."""
        async with self._probing:
            if kind not in self._hellos:
                await self._probe(kind)
        return self._hellos[kind]

    async def submit(self, job: Job) -> None:
        self.abilities.require(job)
        self._jobs.submit(job)

    async def result(self, job_id: str) -> JobResult:
        return await self._jobs.result(job_id)

    async def status(self, job_id: str) -> JobStatus:
        status = self._jobs.status(job_id)
        if status != "running":
            return status
        progress = self._progress.get(job_id)
        return "running" if progress is not None and progress.begun else "pending"

    async def waiting(self, job_id: str) -> str | None:
        """Why a pending job has not begun, as text for a person."""
        if await self.status(job_id) != "pending":
            return None
        return self._progress.get(job_id, Progress()).waiting

    async def cancel(self, job_id: str) -> None:
        self._jobs.cancel(job_id)

    async def warm(self, job: Job) -> None:
        """Warm pods are not bound to a dataset; they only have to be large enough."""
        if self._setup.warm and (kind := kind_of(job)) in _PROBES:
            (await self._opened()).shelves[kind].fit(Size.of(kind, job.limits, job.threads))

    async def aclose(self) -> None:
        await self._jobs.aclose()
        if self._connection is not None:
            await self._connection.aclose()

    async def _opened(self) -> ClusterConnection:
        async with self._opening:
            if self._connection is None:
                self._connection = await ClusterConnection.open(self._setup, self._replica, self._found_ready)
            return self._connection

    async def _probe(self, kind: Kind) -> None:
        if kind not in _PROBES:
            raise SandboxUnavailable(
                f"there are no sandboxes of kind {kind!r} in Kubernetes",
                suggestion="Use the local sandbox for sessions",
            )
        mode, text = _PROBES[kind]
        job = Job.model_validate(
            {"id": f"probe-{secrets.token_hex(8)}", "mode": mode, "text": text, "limits": _PROBE}
        )
        result = await self._as_job(await self._opened(), job, Progress())
        if result.error is not None:
            raise SandboxUnavailable(
                f"a runner started in Kubernetes but could not answer: {result.error.message}",
                suggestion=result.error.suggestion,
            )

    def _found_ready(self, kind: Kind, ready: Ready | None) -> None:
        if ready is not None and kind not in self._hellos and self._connection is not None:
            layers = (*layers_of(self._connection.template), *ready.layers)
            self._hellos[kind] = Hello(engine=ready.engine, layers=layers, reasons=ready.reasons)

    async def _work(self, job: Job) -> JobResult:
        started = time.monotonic()
        progress = self._progress[job.id] = Progress()
        progress.waiting = "it is handed to the cluster"
        try:
            cluster = await self._opened()
            result = await self._in_warm_pod(cluster, job, progress)
            if result is None:
                result = await self._as_job(cluster, job, progress)
        finally:
            del self._progress[job.id]
        metrics = {**result.metrics, **progress.times(started)}
        return result.model_copy(update={"metrics": metrics})

    async def _as_job(self, cluster: ClusterConnection, job: Job, progress: Progress) -> JobResult:
        why = ""
        if (earlier := await cluster.placing.adopt(job)) is not None:
            try:
                return await self._follow(cluster, job, earlier.name, earlier.nonce, progress)
            except PodLost as lost:
                log.warning("adopted_job_lost", job_id=job.id, reason=str(lost))
            finally:
                cluster.deletions.start(earlier.name)
        for again in range(_TRIES):
            name, uncertain = names.job_name(cluster.instance, job.id, again), True
            try:
                with self._tracer.span("pod.create"):
                    placed = await cluster.placing.place(job, progress, again)
                uncertain = False
                return await self._follow(cluster, job, name, placed.nonce, progress)
            except PodLost as lost:
                why = str(lost)
                log.warning("sandbox_lost", job_id=job.id, reason=why)
            finally:
                cluster.deletions.start(name, uncertain=uncertain)
        advice = "run it again; if it is lost again, look at the cluster's events"
        message = f"the sandbox was lost {_TRIES} times: {why}"
        return failed(job, "RUNNER_INTERNAL_ERROR", "SandboxLost", message, advice)

    async def _follow(
        self, cluster: ClusterConnection, job: Job, name: str, nonce: str, progress: Progress
    ) -> JobResult:
        progress.restart()
        progress.marks["made"] = time.monotonic()
        following = Following(
            cluster.api, job, name, nonce, cluster.container, self._setup.timeouts, progress
        )
        try:
            result = await following.result()
        finally:
            progress.report_stages(self._tracer)
        self._found_ready(kind_of(job), progress.ready)
        return result

    async def _in_warm_pod(
        self, cluster: ClusterConnection, job: Job, progress: Progress
    ) -> JobResult | None:
        """None when no such pod is ready, or it was lost: then the job gets its own Job."""
        shelf = cluster.shelves[kind_of(job)]
        shelf.start()
        pod = shelf.take(Size.of(kind_of(job), job.limits, job.threads))
        if pod is None:
            return None
        try:
            progress.begin()
            with self._tracer.span("pod.run", warm=True):
                report = await talk(pod.address, pod.token, pod.nonce, job)
            shelf.met(reached=True)
            return result_from(job, report)
        except Unreached as unreached:
            shelf.met(reached=False)
            log.warning("warm_pod_unreached", pod=pod.name, reason=str(unreached))
        except PodLost as lost:
            log.warning("warm_pod_lost", pod=pod.name, reason=str(lost))
            end = await self._end_of(cluster, pod)
            if end is not None and not is_lost(end):
                return explain_pod(job, end, "")
        finally:
            cluster.deletions.start(pod.name)
        progress.restart()
        return None

    async def _end_of(self, cluster: ClusterConnection, pod: WarmPod) -> Pod | None:
        """How a pod that stopped answering ended; None when it did not, or when that is unknown."""
        latest = time.monotonic() + _SEE_END_S
        async with PodWatch(cluster.api, names.selector(job=pod.name)) as watch:
            while (left := latest - time.monotonic()) > 0:
                await watch.changed(left)
                if watch.newest is not None and watch.newest.over:
                    return watch.newest
        return None
