"""Why a run found nothing, as a value."""

from __future__ import annotations

from dataclasses import dataclass

from sandtable.policy.verdict import Fix

MOST_FIXES = 5


@dataclass(frozen=True, slots=True)
class Explanation:
    text: str = ""
    """Why there is nothing, in sentences of plain text; empty where that cannot be said."""
    run_ids: tuple[str, ...] = ()
    """The runs whose cells the text is made of."""
    fixes: tuple[Fix, ...] = ()
    """Plans, or SQL, with other values that the gate approves, the likeliest first."""
