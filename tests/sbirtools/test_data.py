"""Where the awards are, what they look like as a DataFrame, and what the import costs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import sbirtools
from sbirtools.command import main
from tests.sbirtools.awards import COLUMNS, awards, csv_bytes, write_csv
from tests.sbirtools.web import Web


def test_the_cache_is_where_the_environment_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SBIRTOOLS_CACHE_DIR", str(tmp_path / "else where"))
    assert sbirtools.get_cache_path() == tmp_path / "else where" / "award_data.csv"
    monkeypatch.setenv("SBIRTOOLS_CACHE_DIR", "")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert sbirtools.get_cache_path() == tmp_path / ".cache/sbirtools/award_data.csv"


def test_the_address_is_what_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    assert sbirtools.get_csv_url().startswith("https://data.www.sbir.gov/")
    monkeypatch.setenv("SBIRTOOLS_CSV_URL", " https://example.org/a.csv ")
    assert sbirtools.get_csv_url() == "https://example.org/a.csv"


def test_the_awards_become_a_dataframe(cache: Path) -> None:
    write_csv(cache, 50)
    frame = sbirtools.load_sbir_dataframe()
    assert tuple(frame.columns) == COLUMNS
    assert len(frame) == 50
    assert set(frame["Zip"]) <= {"02139", "80301", "35806", "92121", "00680"}
    expected = sum(float(award["Award Amount"]) for award in awards(50))
    assert sum(frame["Award Amount"]) == expected
    assert frame["Proposal Award Date"].dt.year.tolist() == frame["Award Year"].tolist()
    assert frame["Abstract"].str.contains("\n").all()


def test_the_awards_are_fetched_when_they_are_not_here(web: Web) -> None:
    assert len(sbirtools.load_sbir_dataframe()) == 400
    assert len(web.asked) == 1


def test_the_generator_repeats_itself() -> None:
    assert csv_bytes(40) == csv_bytes(40) != csv_bytes(40, seed=1)


def test_the_import_brings_no_pandas_and_no_engine() -> None:
    code = (
        "import sys, sbirtools; print(*{'pandas', 'numpy', 'duckdb', 'sandtable.assemble'} & {*sys.modules})"
    )
    places = {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=places, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ""


def test_every_public_name_is_there_and_no_other() -> None:
    assert all(getattr(sbirtools, name) for name in sbirtools.__all__)
    assert dir(sbirtools) == sorted(sbirtools.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = sbirtools.nothing


def test_the_command_says_where_the_file_is(web: Web, cache: Path) -> None:
    done = CliRunner().invoke(main, [web.url])
    assert (done.exit_code, done.output) == (0, f"{cache}\n")
    assert cache.read_bytes() == web.content


def test_the_command_knows_an_address_without_being_told(web: Web, cache: Path) -> None:
    assert CliRunner().invoke(main, []).exit_code == 0
    assert cache.read_bytes() == web.content


def test_the_command_tells_what_went_wrong(web: Web) -> None:
    web.statuses = [404]
    done = CliRunner().invoke(main, [web.url])
    assert done.exit_code == 1
    assert done.output.startswith("error: http://127.0.0.1:")
    assert "answered 404" in done.output and "Check the address" in done.output
    assert "Traceback" not in done.output
