"""What the tiers declare, and what they refuse by it."""

from __future__ import annotations

import pytest

from sandtable.errors import InvalidInput
from sandtable.sandbox.docker.executor import DockerExecutor
from sandtable.sandbox.executor import Abilities
from sandtable.sandbox.job import MODES, Job
from sandtable.sandbox.kubernetes.executor import KubernetesExecutor
from sandtable.sandbox.local.executor import LocalExecutor
from sandtable.sandbox.remote.executor import RemoteExecutor

_REFUSED: dict[str, tuple[Abilities, set[str]]] = {
    "local": (LocalExecutor.abilities, set()),
    "docker": (DockerExecutor.abilities, {"session"}),
    "kubernetes": (KubernetesExecutor.abilities, {"session", "ingest", "export"}),
    "remote": (RemoteExecutor.abilities, {"session", "ingest", "export"}),
}


@pytest.mark.parametrize(("name", "abilities", "refused"), [(name, *rest) for name, rest in _REFUSED.items()])
def test_a_mode_that_is_not_declared_is_refused(name: str, abilities: Abilities, refused: set[str]) -> None:
    assert abilities.name == name
    for mode in sorted(MODES):
        job = Job(id="job", mode=mode)
        if mode in refused:
            with pytest.raises(InvalidInput, match=f"`{name}` takes no jobs of mode '{mode}'") as found:
                abilities.require(job)
            assert "local sandbox" in found.value.suggestion
        else:
            abilities.require(job)


@pytest.mark.parametrize(
    ("abilities", "handles"),
    [
        (LocalExecutor.abilities, True),
        (DockerExecutor.abilities, True),
        (KubernetesExecutor.abilities, False),
    ],
    ids=["local", "docker", "kubernetes"],
)
def test_who_can_do_without_a_local_sandbox(abilities: Abilities, handles: bool) -> None:
    assert abilities.handles_files is handles
