"""What is taken, what is not, and in which order."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sandtable.backup.manifest import Manifest, unseal
from tests.backup.conftest import take_from

TAKEN = {
    "conversations.db",
    "sandtable.db",
    "threads.db",
    "data/versions/aa/dataset.json",
    "data/versions/aa/t.parquet",
    "data/datasets/t.json",
    "data/catalogs/t.json",
    "data/removals/bb.json",
    "data/sources/cc",
    "attestations/aa",
}


def paths(manifest: Manifest) -> list[str]:
    return [entry.path.removeprefix("home/") for entry in manifest.entries]


def test_locks_and_files_on_their_way_in_are_not_taken(home: Path, tmp_path: Path) -> None:
    taken = take_from(home, tmp_path / "copy")
    trusted = f"keys/trusted/backup-{taken.keyid[:16]}.pem"
    assert set(paths(taken.manifest)) == {*TAKEN, trusted}
    assert sorted(one.path for one in taken.manifest.left_out) == ["keys/other.pem", "keys/signing.pem"]
    assert unseal((tmp_path / "copy/manifest.json").read_bytes())[0] == taken.manifest


def test_what_names_comes_before_what_is_named(home: Path, tmp_path: Path) -> None:
    order = paths(take_from(home, tmp_path / "copy.tar").manifest)
    wanted = ["sandtable.db", "data/datasets/t.json", "data/versions/aa/t.parquet", "data/removals/bb.json"]
    assert sorted(wanted, key=order.index) == wanted


def test_keys_are_taken_when_asked_for(home: Path, tmp_path: Path) -> None:
    taken = take_from(home, tmp_path / "copy", with_keys=True)
    keys = {"keys/other.pem", "keys/signing.pem", "keys/signing.pub.pem"}
    assert keys <= set(paths(taken.manifest)) and taken.manifest.keys and not taken.manifest.left_out
    copied = tmp_path / "copy" / "home" / "keys/signing.pem"
    assert copied.read_bytes() == (home / "keys/signing.pem").read_bytes()
    assert copied.stat().st_mode & 0o777 == 0o600


def test_links_are_not_followed(home: Path, tmp_path: Path) -> None:
    (home / "data/sources/link").symlink_to("/etc/hostname")
    (home / "elsewhere").symlink_to("/etc")
    taken = take_from(home, tmp_path / "copy")
    assert {"'data/sources/link'", "'elsewhere'"} <= {one.path for one in taken.manifest.left_out}
    assert not any("link" in path or "elsewhere" in path for path in paths(taken.manifest))


def test_a_data_folder_on_another_disk_is_taken(home: Path, tmp_path: Path) -> None:
    (home / "data").rename(tmp_path / "disk")
    (home / "data").symlink_to(tmp_path / "disk")
    assert set(paths(take_from(home, tmp_path / "copy").manifest)) >= TAKEN


@pytest.mark.parametrize(
    "path",
    ["home/../x", "/etc/passwd", "home//x", "home/./x", "..", "home", "other/x", "home/a\\b", "home/a\nb",
     "home/" + "x" * 256, "home/" + "/".join(["y" * 200] * 6), "home/a\0b"],
)  # fmt: skip
def test_a_path_that_could_lead_out_is_no_path(home: Path, tmp_path: Path, path: str) -> None:
    good = json.loads(take_from(home, tmp_path / "copy").manifest.model_dump_json())
    good["entries"][0]["path"] = path
    with pytest.raises(ValueError, match="relative"):
        Manifest.model_validate_json(json.dumps(good))


def test_a_path_is_there_once_and_no_folder_of_another(home: Path, tmp_path: Path) -> None:
    good = json.loads(take_from(home, tmp_path / "copy").manifest.model_dump_json())
    for other in (good["entries"][0]["path"], "home/data"):
        twice = {**good, "entries": [*good["entries"], {**good["entries"][0], "path": other}]}
        with pytest.raises(ValueError, match="one path"):
            Manifest.model_validate_json(json.dumps(twice))


def test_passwords_of_databases_stay_unless_keys_are_taken(home: Path, tmp_path: Path) -> None:
    sources = home / "sources"
    sources.mkdir(mode=0o700)
    (sources / "shop.json").write_text("{}")
    (sources / "shop.password").write_text("hidden")
    without = take_from(home, tmp_path / "without")
    assert "sources/shop.json" in paths(without.manifest)
    assert "sources/shop.password" in {one.path for one in without.manifest.left_out}
    assert not [p for p in (tmp_path / "without").rglob("*") if p.is_file() and b"hidden" in p.read_bytes()]
    taken = take_from(home, tmp_path / "with", with_keys=True)
    assert "sources/shop.password" in paths(taken.manifest)
