"""What code has shown, numbered by kind and bounded in number and bytes.

Invariant: everything kept here is plain JSON without NaN or infinities, and its total size is within the run's limit;
what does not fit raises an error in the code, and is never cut silently.
"""

from __future__ import annotations

import json
from typing import Any

MOST = 20
_LONGEST_TITLE = 400


class TooMuch(Exception):
    """The code shows more than it may. Has a suggestion."""

    def __init__(self, message: str, suggestion: str) -> None:
        super().__init__(message)
        self.suggestion = suggestion


class Artifacts:
    """Counts for the whole session; holds what one cell has shown."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._left = 0
        self._limit = 0
        self.shown: list[dict[str, Any]] = []

    def begin(self, result_bytes: int) -> None:
        self.shown = []
        self._limit = self._left = result_bytes

    @property
    def left(self) -> int:
        """Bytes that may still be shown."""
        return self._left

    def add(self, kind: str, title: str | None, content: dict[str, Any], size: int | None = None) -> str:
        """`size`: approximate bytes of JSON of the content, if already known."""
        if len(self.shown) == MOST:
            raise TooMuch(
                f"at most {MOST} tables, plots and texts can be shown in one run",
                "show fewer, or put several values into one table",
            )
        name = " ".join(str(title or "").split())[:_LONGEST_TITLE]
        size = measure(content) if size is None else size
        if size + len(name) > self._left:
            raise self.too_large(f"this {kind} has {size} bytes")
        self._left -= size + len(name)
        self._counts[kind] = number = self._counts.get(kind, 0) + 1
        self.shown.append({"id": f"{kind}-{number}", "kind": kind, "title": name, **content})
        return f"{kind}-{number}"

    def too_large(self, what: str) -> TooMuch:
        return TooMuch(
            f"{what}; {self._left} of the run's {self._limit} are left",
            "show fewer rows and columns: aggregate first, or use .head(200)",
        )


def measure(content: dict[str, Any]) -> int:
    return len(json.dumps(content, ensure_ascii=False, allow_nan=False).encode(errors="replace"))
