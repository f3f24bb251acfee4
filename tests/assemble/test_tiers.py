"""Which tier runs go to, and what is said where it cannot be had."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from sandtable.assemble import tiers
from sandtable.assemble.tiers import Tiers, open_tiers
from sandtable.catalog.stored.store import DataStore
from sandtable.errors import InvalidInput, SandboxUnavailable, SandtableError
from sandtable.observing import Tracer
from sandtable.sandbox.executor import Abilities, Hello, Kind
from sandtable.sandbox.fake import FakeExecutor
from sandtable.sandbox.job import MODES, READS, Job
from sandtable.sandbox.local.executor import LocalExecutor
from sandtable.settings import Settings

NOBODY_THERE = "unix:///nowhere/docker.sock"
_NO_CLUSTER = {"kubeconfig": "/nowhere/kubeconfig", "kubernetes_service_host": None}

pytestmark = pytest.mark.needs("userns")


async def _tiers(home: Path, stack: AsyncExitStack, **given: Any) -> Tiers:
    settings = Settings(home=home).model_copy(update=given)
    return await open_tiers(settings, DataStore(home / "data"), stack)


@pytest.mark.parametrize(
    "given",
    [
        {"backend": "local"},
        {"backend": "multiprocessing"},
        {"backend": "auto", "docker_host": NOBODY_THERE},
        {"backend": "auto", "docker_host": NOBODY_THERE, "prefer_docker": True},
    ],
    ids=["local", "multiprocessing", "auto", "docker preferred and not there"],
)
async def test_runs_stay_here(tmp_path: Path, given: dict[str, Any]) -> None:
    async with AsyncExitStack() as stack:
        opened = await _tiers(tmp_path, stack, **given)
        assert opened.runs.name == "local"
        assert opened.in_one_place
        assert "seccomp" in opened.hello.layers


@pytest.mark.parametrize(
    ("given", "kind", "says"),
    [
        ({"backend": "docker", "docker_host": NOBODY_THERE}, SandboxUnavailable, "/nowhere/docker.sock"),
        ({"backend": "kubernetes", **_NO_CLUSTER}, SandboxUnavailable, "/nowhere/kubeconfig"),
        ({"backend": "remote"}, InvalidInput, "where its service is"),
    ],
    ids=["docker", "kubernetes", "remote"],
)
async def test_what_was_asked_for_is_never_replaced(
    tmp_path: Path, given: dict[str, Any], kind: type[SandtableError], says: str
) -> None:
    async with AsyncExitStack() as stack:
        with pytest.raises(kind, match=says) as raised:
            await _tiers(tmp_path, stack, **given)
    assert raised.value.suggestion


class _Elsewhere(FakeExecutor):
    """A tier that works, with the abilities that a test gives it."""

    abilities = Abilities("elsewhere", MODES, grace_s=7.0)

    @classmethod
    def configured(cls, settings: Settings, store: Path, tracer: Tracer) -> _Elsewhere:
        return cls()

    async def start(self, kind: Kind = "sql") -> Hello:
        return Hello("engine", ("wall",))

    async def warm(self, job: Job) -> None:
        raise AssertionError("nothing is warmed here")


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> type[_Elsewhere]:
    monkeypatch.setattr(tiers, "resolve_name", lambda name: _Elsewhere)
    return _Elsewhere


async def test_a_tier_is_set_up_by_what_it_declares(
    tmp_path: Path, elsewhere: type[_Elsewhere], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where this machine cannot isolate, a tier that handles files does all the work."""

    async def trouble(local: LocalExecutor) -> SandboxUnavailable:
        return SandboxUnavailable("no walls here", suggestion="Use another machine.")

    async with AsyncExitStack() as stack:
        opened = await _tiers(tmp_path, stack, backend="docker")
        assert (opened.runs.name, opened.looks.name, opened.grace_s) == ("fake", "local", 7.0)
    monkeypatch.setattr(tiers, "_trouble_of", trouble)
    async with AsyncExitStack() as stack:
        opened = await _tiers(tmp_path, stack, backend="docker")
        assert opened.runs is opened.looks is opened.index
    monkeypatch.setattr(elsewhere, "abilities", Abilities("elsewhere", READS, grace_s=7.0))
    async with AsyncExitStack() as stack:
        with pytest.raises(SandboxUnavailable, match=r"`elsewhere`.*no walls here"):
            await _tiers(tmp_path, stack, backend="docker")
