"""Who may run a module that attacks its sandbox from inside, and what it reports from there."""

from __future__ import annotations

import json
import secrets
from pathlib import Path
from typing import Any

import pytest

from tests.sandbox import as_user

World = tuple[int, str]
"""A user's number, and a kind of isolation."""
_WORLDS: dict[str, tuple[World, tuple[str, ...]]] = {
    "root-namespaces": ((0, "auto"), ("root", "userns")),
    "user-namespaces": ((as_user.ORDINARY_UID, "auto"), ("userns",)),
    "user-landlock": ((as_user.ORDINARY_UID, "landlock"), ("landlock",)),
}
WORLDS = [
    pytest.param(world, id=name, marks=pytest.mark.needs(*needs)) for name, (world, needs) in _WORLDS.items()
]


def report_from(world: World, module: str, folder: Path) -> dict[str, Any]:
    """What `module` prints as JSON when that user runs it there."""
    uid, isolation = world
    given = json.dumps({"isolation": isolation, "folder": str(folder / secrets.token_hex(4))})
    done = as_user.run(module, given, uid=uid, timeout=400)
    assert done.returncode == 0, done.stderr[-3000:]
    report = json.loads(done.stdout)
    assert (report["uid"] == 0) == (uid == 0)
    assert ("private-root" in report["layers"]) == (isolation == "auto")
    return report
