"""Every ordinary snippet is approved; every attack is refused, by name, at its place, with advice."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandtable.errors import ErrorCode
from sandtable.policy.verdict import Approved, Refused
from tests.policy.python.corpora import (
    ATTACKS,
    EVALUATED,
    ORDINARY,
    Attack,
    Ordinary,
    attacks,
    ordinary,
)
from tests.policy.python.shop import DATASETS, verdict


@pytest.mark.parametrize("case", ordinary())
def test_ordinary_code_is_approved(case: Ordinary) -> None:
    found = verdict(case.code, case.dataset)
    assert isinstance(found, Approved), found
    assert found.sql == case.code
    assert set(found.tables) <= {table.name for table in DATASETS[case.dataset].tables}


@pytest.mark.parametrize("case", attacks())
def test_attack_is_refused(case: Attack) -> None:
    found = verdict(case.code)
    if case.construct is None:
        assert isinstance(found, Approved), found
        return
    assert isinstance(found, Refused), found
    assert found.code is ErrorCode.PYTHON_POLICY_VIOLATION
    assert found.construct == case.construct
    assert found.message.endswith(".") and found.suggestion and "{table}" not in found.suggestion
    assert found.position is not None
    assert found.length > 0
    assert found.position + found.length <= len(case.code)


_LINES = sorted({line for case in (*ORDINARY, *ATTACKS, *EVALUATED) for line in case.code.splitlines()})


@given(
    st.lists(st.sampled_from(_LINES), max_size=25),
    st.sets(st.sampled_from(["orders", "name", "text", "set_option"])),
)
def test_every_mixture_of_their_lines_is_judged(lines: list[str], names: set[str]) -> None:
    found = verdict("\n".join(line.strip() for line in lines), names=tuple(names))
    assert isinstance(found, (Approved, Refused))


def test_the_corpora_are_broad() -> None:
    assert len(ORDINARY) >= 165
    assert {case.dataset for case in ORDINARY} == set(DATASETS)
    assert len({case.title for case in ORDINARY}) == len(ORDINARY)
    assert sum(case.construct is not None for case in ATTACKS) >= 220
    assert len({case.family for case in ATTACKS}) >= 14
    assert sum(case.construct is not None for case in EVALUATED) >= 150
    both = [*ATTACKS, *EVALUATED]
    assert len({case.id for case in both}) == len(both)
    assert all(case.success for case in both)
