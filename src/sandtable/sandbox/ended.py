"""How a sandbox's process ended: what every tier knows when no answer came."""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Ended:
    """As `wait` tells it; status None when nobody could tell any more."""

    status: int | None
    peak_kb: int = 0
    cpu_ms: float = 0.0

    @property
    def signal(self) -> int | None:
        return os.WTERMSIG(self.status) if self.status is not None and os.WIFSIGNALED(self.status) else None

    @property
    def exit_code(self) -> int | None:
        return os.WEXITSTATUS(self.status) if self.status is not None and os.WIFEXITED(self.status) else None
