"""Chooses what holds the Python state of a conversation: the sandbox's sessions, or Jupyter kernels inside it."""

from __future__ import annotations

from contextlib import AsyncExitStack

from sandtable.catalog.stored.store import DataStore
from sandtable.errors import SandboxUnavailable
from sandtable.sandbox.job import Job
from sandtable.sandbox.local.kernels import Kernels, require_jupyter
from sandtable.sandbox.session import Session, SessionHost
from sandtable.settings import Settings


class NoSessions:
    """Implements `sandbox.session.SessionHost` where this machine has no isolation."""

    def __init__(self, backend: str) -> None:
        self._backend = backend

    async def open_session(self, job: Job) -> Session:
        raise SandboxUnavailable(
            f"a living session of Python needs the local sandbox; this server runs code with `{self._backend}` only",
            suggestion="Run each piece of code by itself, or use a machine with Landlock or user namespaces",
        )


def kernels_of(settings: Settings, store: DataStore) -> Kernels:
    """Starts nothing before the first kernel is opened."""
    return Kernels(
        store.root,
        isolation=settings.isolation,
        parallel=settings.places,
        memory_mb=settings.memory_mb + settings.tmp_mb,
    )


def session_host(
    settings: Settings, store: DataStore, local: SessionHost, stack: AsyncExitStack
) -> SessionHost:
    """`stack` closes what is opened. Raises SandboxUnavailable if `jupyter` is configured and not installed."""
    if settings.session == "local":
        return local
    require_jupyter()
    # It needs jupyter_client, which is an optional dependency.
    from sandtable.sandbox.local.jupyter_session import JupyterHost

    host = JupyterHost(kernels_of(settings, store), parallel=settings.places)
    stack.push_async_callback(host.aclose)
    return host
