from __future__ import annotations

from sandtable.recent import Recent


def test_what_was_used_last_stays() -> None:
    recent: Recent[str, int] = Recent(2)
    recent.put("a", 1)
    recent.put("b", 2)
    assert recent.get("a") == 1
    recent.put("c", 3)
    assert (recent.get("a"), recent.get("b"), recent.get("c")) == (1, None, 3)


def test_none_may_be_kept() -> None:
    recent: Recent[str, int] = Recent(0)
    recent.put("a", 1)
    assert recent.get("a") is None
