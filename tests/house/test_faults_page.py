"""docs/faults.md names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "faults.md"


def test_every_test_that_the_page_names_exists() -> None:
    folder, named = ROOT, list[Path]()
    for name in re.findall(r"`((?:tests/)?[\w/]*test_\w+\.py)`", PAGE.read_text(encoding="utf-8")):
        path = ROOT / name if "/" in name else folder / name
        folder = path.parent
        named.append(path)
    assert len(named) > 30
    assert [str(path.relative_to(ROOT)) for path in named if not path.is_file()] == []
