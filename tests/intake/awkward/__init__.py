"""Files as people have them: banks, shops, ERPs, government portals, notebooks, databases of programs.

The conventions are those of real exports of five countries; the rows are made up.
"""

from __future__ import annotations

from tests.intake.awkward.banks import banks
from tests.intake.awkward.case import Case
from tests.intake.awkward.databases import databases
from tests.intake.awkward.erps import erps
from tests.intake.awkward.government import government
from tests.intake.awkward.notebooks import notebooks
from tests.intake.awkward.packed import broken, foreign, packed
from tests.intake.awkward.shops import shops


def cases() -> list[Case]:
    return [
        *banks(),
        *shops(),
        *erps(),
        *government(),
        *notebooks(),
        *broken(),
        *packed(),
        *foreign(),
        *databases(),
    ]
