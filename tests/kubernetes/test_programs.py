"""What the cluster is built of is pinned, and found again by what it was built of."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.kubernetes.cluster import programs

MODULES = sorted(folder.parent for folder in programs.MODULES.glob("*/go.mod"))


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.name)
def test_a_module_is_pinned_and_names_no_registry(module: Path) -> None:
    text = (module / "go.mod").read_text() + (module / "go.sum").read_text()
    assert not re.search(r"https?:|=> \.", text)
    assert re.search(r"^tool ", text, re.MULTILINE)


def test_kubernetes_knows_its_own_version() -> None:
    told = programs.versions(programs.MODULES / "kubernetes")
    assert "-X=k8s.io/component-base/version.gitVersion=v1.36.4" in told
    assert "-X=k8s.io/component-base/version.gitMinor=36" in told
    assert programs.versions(programs.MODULES / "coredns") == []


def test_another_pin_is_another_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go = tmp_path / "go"
    go.write_text("#!/bin/sh\necho go1.0 amd64\n")
    go.chmod(0o755)
    module = tmp_path / "modules" / "one"
    module.mkdir(parents=True)
    (module / "go.mod").write_text("module one\n")
    (module / "go.sum").write_text("a\n")
    monkeypatch.setattr(programs, "MODULES", tmp_path / "modules")
    before = programs.key(str(go))
    assert programs.key(str(go)) == before
    (module / "go.sum").write_text("b\n")
    changed = programs.key(str(go))
    go.write_text("#!/bin/sh\necho go1.1 amd64\n")
    assert len({before, changed, programs.key(str(go))}) == 3
