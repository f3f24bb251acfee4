"""The README's pictures are there and small."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MOST_BYTES = 150_000


def test_pictures_are_there_and_small() -> None:
    named = re.findall(r"\]\((docs/images/[^)]+)\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert named
    sizes = {name: (ROOT / name).stat().st_size for name in named}
    assert {name: size for name, size in sizes.items() if size > MOST_BYTES} == {}
