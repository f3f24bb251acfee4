"""A Job's name is a name, is its job's alone, and is found again."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandtable.sandbox.kubernetes import names
from tests.sandbox.kubernetes.objects import RUN

_DNS = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_LABEL = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_ids = st.text(max_size=200)


@given(_ids, st.integers(0, 3))
def test_every_id_gives_a_valid_name(job_id: str, again: int) -> None:
    name = names.job_name("sandtable", job_id, again)
    assert _DNS.fullmatch(name)
    assert name == names.job_name("sandtable", job_id, again)


@given(_ids, _ids)
def test_two_ids_give_two_names(one: str, other: str) -> None:
    assert (names.job_name("i", one) == names.job_name("i", other)) == (one == other)


def test_installations_and_tries_do_not_meet() -> None:
    assert len({names.job_name(instance, "a", again) for instance in ("x", "y") for again in (0, 1)}) == 4


def test_the_name_of_a_run_can_be_read() -> None:
    assert f"run-{RUN.removeprefix('run_')}-3" in names.job_name("sandtable", f"{RUN}-3")


@given(_ids)
def test_every_text_gives_a_valid_label(text: str) -> None:
    assert _LABEL.fullmatch(names.label_value(text))


@pytest.mark.parametrize(
    ("job_id", "expected"),
    [
        (f"{RUN}-1", (RUN, 1)),
        (f"{RUN}-12", (RUN, 12)),
        (f"session-{RUN}-1", (f"session-{RUN}-1", 1)),
        ("job-7", ("job-7", 1)),
        (RUN, (RUN, 1)),
    ],
)
def test_only_runs_have_attempts(job_id: str, expected: tuple[str, int]) -> None:
    """Jobs of one run replace each other: nothing else may be taken for one."""
    assert names.run_and_attempt(job_id) == expected


def test_what_was_labelled_is_selected() -> None:
    labels = names.labels_of("My release!", "r1", f"{RUN}-2")
    wanted = dict(part.split("=") for part in names.selector(instance="My release!", run=RUN).split(","))
    assert wanted.items() <= labels.items()
    assert labels[names.ATTEMPT] == "2"
