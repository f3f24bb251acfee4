"""Every plan of the corpus gives the same rows in PostgreSQL as in DuckDB."""

from __future__ import annotations

import pytest

from sandtable.errors import InvalidInput
from tests.sql.corpus import Case, cases
from tests.sql.live.twins import Twin

CASES = cases()
REFUSED = {"filters: NUL inside a search": "no text of PostgreSQL"}
"""Such a text cannot be in the database, and so it cannot be in a query."""


@pytest.mark.parametrize(("name", "case"), CASES, ids=[name for name, _ in CASES])
def test_corpus(name: str, case: Case, shop: Twin) -> None:
    if name in REFUSED:
        with pytest.raises(InvalidInput, match=REFUSED[name]):
            shop.compiled(case["plan"])
    else:
        shop.check(case["plan"])
