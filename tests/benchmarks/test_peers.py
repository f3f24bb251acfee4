"""What the benchmarks say of peers without running them: their pins, their memory, and why one is left out."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchmarks import peer_image, peers, python_peers

LISTS = {
    name: Path(peers.__file__).parent / f"{name}.txt" for name in ("peers", "python_peers", "peer_image")
}
ONE = """5581a000-7ffd2000 ---p 00000000 00:00 0                          [rollup]
Rss:                9216 kB
Pss:                4096 kB
Pss_Dirty:          2048 kB
Private_Clean:      1024 kB
Private_Dirty:      2048 kB
"""


@pytest.mark.parametrize(
    ("rollups", "expected"),
    [
        pytest.param(ONE, python_peers.Memory(3.0, 4.0), id="a process"),
        pytest.param(ONE + ONE, python_peers.Memory(6.0, 8.0), id="a container's processes together"),
    ],
)
def test_memory_is_what_is_private_and_the_share_of_the_rest(
    rollups: str, expected: python_peers.Memory
) -> None:
    assert python_peers.memory_in(rollups) == expected


def test_every_peer_is_measured_with_the_same_libraries() -> None:
    pins: dict[str, set[str]] = {}
    pinned = [
        package
        for name in ("peers", "python_peers")
        for packages in peers.listed(LISTS[name]).values()
        for package in packages
    ]
    inside = [line for line in LISTS["peer_image"].read_text().splitlines() if not line.startswith("#")]
    for package in (*pinned, *inside):
        name, _, version = package.partition("==")
        pins.setdefault(name, set()).add(version)
    assert {"duckdb", "pandas", "pyarrow", "llm-sandbox[docker]"} <= pins.keys()
    assert {name: versions for name, versions in pins.items() if len(versions) > 1 or "" in versions} == {}


def test_a_peer_takes_part_in_each_of_its_ways() -> None:
    assert peers.ways_of("llm-sandbox", ["smolagents", *peers.LLM_SANDBOX]) == list(peers.LLM_SANDBOX)
    assert peers.ways_of("llm", peers.LLM_SANDBOX) == []
    for name in ("peers", "python_peers"):
        assert "llm-sandbox" in peers.listed(LISTS[name])


def test_without_docker_the_reason_is_said_and_nothing_is_started(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("DOCKER_HOST", raising=False)
    with peer_image.daemon_at_hand():
        assert "DOCKER_HOST" not in os.environ
        with pytest.raises(RuntimeError, match="no Docker daemon is up"):
            peer_image.ready()
