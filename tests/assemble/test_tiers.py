"""Which tier runs go to, and what is said where it cannot be had."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from sandtable.assemble.tiers import Tiers, open_tiers
from sandtable.catalog.store import DataStore
from sandtable.errors import InvalidInput, SandboxUnavailable, SandtableError
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
        tiers = await _tiers(tmp_path, stack, **given)
        assert tiers.runs.name == "local"
        assert tiers.in_one_place
        assert "seccomp" in tiers.hello.layers


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
