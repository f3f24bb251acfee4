"""The golden capsules of today's format are what their script makes, to the byte, and the script changes none."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandtable.capsule.keys import keyid_of, read_public
from sandtable.capsule.model import SCHEMA
from sandtable.capsule.verify import Rederive, verify
from sandtable.runs.draw import draw
from scripts import make_golden_capsules
from scripts.make_golden_capsules import files, write

GOLDEN = Path(__file__).parent / "golden"
OTHERWISE = "it would come out otherwise now: see the beginning of scripts/make_golden_capsules.py"
MADE = files()


def test_the_script_makes_all_that_are_kept() -> None:
    assert sorted(MADE) == sorted(path.name for path in GOLDEN.glob(f"v{SCHEMA}-*"))


@pytest.mark.parametrize("name", MADE)
def test_the_same_bytes_come_out(name: str) -> None:
    # Bare truth first: a difference of two signed texts says nothing to anybody.
    same = MADE[name] == (GOLDEN / name).read_bytes()
    assert same, OTHERWISE


@pytest.mark.parametrize("name", [name for name in MADE if name.endswith(".json")])
async def test_what_comes_out_verifies(name: str, tmp_path: Path) -> None:
    write(tmp_path)
    key = read_public(tmp_path / f"v{SCHEMA}-key.pem")
    report = await verify((tmp_path / name).read_bytes(), Rederive(keys={keyid_of(key): key}, draw=draw))
    assert [link.status for link in report.links[:4]] == ["ok"] * 4, report
    assert report.ok


def test_what_is_there_is_named_and_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(make_golden_capsules, "TARGET", tmp_path)
    assert make_golden_capsules.main() == 0
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == MADE
    changed = tmp_path / f"v{SCHEMA}-sql.json"
    changed.write_text("{}")
    (tmp_path / f"v{SCHEMA}-python.json").unlink()
    capsys.readouterr()
    assert make_golden_capsules.main() == 1
    told = capsys.readouterr()
    assert told.out == f"made v{SCHEMA}-python.json\n" and changed.name in told.err
    assert changed.read_text() == "{}"
