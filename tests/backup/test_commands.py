"""What the commands say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.backup.conftest import invoke


def test_keys_are_a_choice_and_a_warning(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without = invoke("backup", str(tmp_path / "without.tar"))
    assert without.exit_code == 0 and "WARNING" not in without.stderr
    assert "left out: keys/signing.pem (a private key; --with-keys takes it)" in without.stderr
    taken = invoke("backup", str(tmp_path / "with.tar"), "--with-keys")
    assert taken.exit_code == 0 and "WARNING: the backup holds the private key, unencrypted" in taken.stderr
    for name in ("without", "with"):
        new = tmp_path / name
        assert invoke("restore", str(tmp_path / f"{name}.tar"), "--home", str(new)).exit_code == 0
        key = new / "keys/signing.pem"
        assert key.exists() is (name == "with")
        assert new.stat().st_mode & 0o777 == 0o700
        assert (new / "data/versions/aa").stat().st_mode & 0o777 == 0o755
        assert (new / "data/versions/aa/t.parquet").stat().st_mode & 0o777 == 0o644
        assert (new / "sandtable.db").stat().st_mode & 0o777 == 0o600
        # A home that was restored is backed up like any other.
        with monkeypatch.context() as patched:
            patched.setenv("SANDTABLE_HOME", str(new))
            again = invoke("backup", str(tmp_path / f"{name}-again.tar"), "--json")
        assert again.exit_code == 0 and json.loads(again.stdout)["files"] > 10


def test_a_check_restores_nothing(home: Path, tmp_path: Path) -> None:
    assert invoke("backup", str(tmp_path / "copy")).exit_code == 0
    before = sorted(tmp_path.iterdir())
    checked = invoke("restore", str(tmp_path / "copy"), "--home", str(tmp_path / "new"), "--check", "--json")
    assert checked.exit_code == 0 and json.loads(checked.stdout)["home"] is None
    own = str(home / "keys/signing.pub.pem")
    assert invoke("restore", str(tmp_path / "copy"), "--check", "--key", own).exit_code == 0
    assert sorted(tmp_path.iterdir()) == before
    (tmp_path / "copy" / "home" / "attestations/aa").write_bytes(b"Code")
    broken = invoke("restore", str(tmp_path / "copy"), "--check", "--json")
    assert broken.exit_code == 2
    assert (
        json.loads(broken.stdout)["error"]["message"]
        == "this is no whole backup: home/attestations/aa is damaged"
    )


def test_what_is_not_there(home: Path, tmp_path: Path) -> None:
    missing = invoke("restore", str(tmp_path / "nothing.tar"))
    assert missing.exit_code == 2 and "error[NOT_FOUND]" in missing.stderr
    nowhere = invoke("backup", str(tmp_path / "no/folder.tar"))
    assert nowhere.exit_code == 2 and "there is no folder" in nowhere.stderr
