"""`sandtable data scrub`: what it prints and how it exits."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sandtable.assemble import store_of
from sandtable.capsule.keys import open_signing_key
from sandtable.catalog.stored.store import DataStore
from sandtable.settings import Settings
from tests.catalog.damage import dataset, flip, publish
from tests.cli.conftest import Invoke

D, OTHER = dataset(), dataset("u")


@pytest.fixture
def store(invoke: Invoke, tmp_path: Path) -> DataStore:
    """Of the home in which the commands run."""
    home = tmp_path / "home"
    made = store_of(Settings(home=home), open_signing_key(home))
    publish(made, D)
    publish(made, OTHER)
    return made


def test_whole_data(invoke: Invoke, store: DataStore) -> None:
    done = invoke("data", "scrub")
    assert (done.exit_code, done.stderr) == (0, "")
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    assert lines == [["whole", version, "d", ""] for version in store.versions()]


def test_no_data_at_all(invoke: Invoke) -> None:
    done = invoke("data", "scrub", "--json")
    assert (done.exit_code, json.loads(done.stdout)) == (0, [])


def test_damaged_data(invoke: Invoke, store: DataStore) -> None:
    flip(store.path(D.version) / "t.parquet")
    done = invoke("data", "scrub")
    assert done.exit_code == 1
    states = {line.split("\t")[1]: line.split("\t") for line in done.stdout.splitlines()}
    assert states[D.version] == ["damaged", D.version, "d", "t.parquet changed after it was published"]
    assert states[OTHER.version][0] == "whole"


def test_data_that_do_not_even_say_what_they_are(invoke: Invoke, store: DataStore) -> None:
    (store.path(D.version) / "dataset.json").write_bytes(b"\x1b[2J")
    done = invoke("data", "scrub", "--json")
    assert done.exit_code == 1
    found = {each["version"]: each for each in json.loads(done.stdout)}[D.version]
    assert (found["state"], found["dataset"]) == ("damaged", "")
    assert "dataset.json changed" in found["detail"] and found["bytes"] > 0


def test_nothing_is_built_again_when_all_is_whole(invoke: Invoke, store: DataStore) -> None:
    """Which needs no sandbox: the house of these tests has none."""
    done = invoke("data", "scrub", "--repair", "--json")
    assert (done.exit_code, {each["state"] for each in json.loads(done.stdout)}) == (0, {"whole"})


@pytest.mark.parametrize("arguments", [("data",), ("data", "scrab"), ("data", "scrub", "x")], ids=" ".join)
def test_misuse_is_told(invoke: Invoke, arguments: tuple[str, ...]) -> None:
    assert invoke(*arguments).exit_code == 2
