"""The groups of servers that were killed do not pile up; those of living ones stay."""

from __future__ import annotations

import os
from pathlib import Path

from sandtable.sandbox.local import cgroups


def _group(parent: Path, name: str, age_s: float, *, used: bool = False) -> Path:
    folder = parent / name
    folder.mkdir()
    if used:
        # As in the real tree, where a group with processes cannot be removed.
        (folder / "cgroup.procs").write_text("1\n")
    then = folder.stat().st_mtime - age_s
    os.utime(folder, (then, then))
    return folder


def test_only_what_is_old_and_empty_goes(tmp_path: Path) -> None:
    left = _group(tmp_path, "sandtable-11-12", 3600)
    young = _group(tmp_path, "sandtable-21-22", 0)
    used = _group(tmp_path, "sandtable-31-32", 3600, used=True)
    others = _group(tmp_path, "somebody-else", 3600)
    cgroups._sweep(tmp_path)
    assert [left.exists(), young.exists(), used.exists(), others.exists()] == [False, True, True, True]
