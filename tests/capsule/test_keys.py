from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from sandtable.capsule.keys import keyid_of, open_signing_key, public_pem, read_public, trusted_keys
from sandtable.errors import InvalidInput


def test_the_key_is_made_once_and_kept_private(tmp_path: Path) -> None:
    first = open_signing_key(tmp_path)
    path = tmp_path / "keys" / "signing.pem"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert open_signing_key(tmp_path).keyid == first.keyid
    assert keyid_of(read_public(tmp_path / "keys" / "signing.pub.pem")) == first.keyid
    assert sorted(p.name for p in path.parent.iterdir()) == ["signing.pem", "signing.pub.pem"]


def test_processes_that_start_together_agree(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from sandtable.capsule.keys import open_signing_key;"
        "print(open_signing_key(Path(sys.argv[1])).keyid)"
    )
    started = [
        subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    printed = [process.communicate(timeout=60)[0].strip() for process in started]
    assert len(set(printed)) == 1
    assert len(printed[0]) == 64


def test_trusted_keys_are_own_and_given_ones(tmp_path: Path) -> None:
    own = open_signing_key(tmp_path)
    friend, extra = Ed25519PrivateKey.generate().public_key(), Ed25519PrivateKey.generate().public_key()
    folder = tmp_path / "keys" / "trusted"
    folder.mkdir()
    (folder / "friend.pem").write_bytes(public_pem(friend))
    (tmp_path / "extra.pem").write_bytes(public_pem(extra))
    found = trusted_keys(tmp_path, [tmp_path / "extra.pem"])
    assert set(found) == {own.keyid, keyid_of(friend), keyid_of(extra)}


def test_servers_are_given_one_key_as_a_file(tmp_path: Path) -> None:
    given = open_signing_key(tmp_path / "secret")
    file = tmp_path / "secret" / "keys" / "signing.pem"
    file.chmod(0o400)
    for home in (tmp_path / "a", tmp_path / "b"):
        key = open_signing_key(home, file)
        assert key.keyid == given.keyid and not home.exists()
        assert set(trusted_keys(home, own=key)) == {given.keyid}
    before = open_signing_key(tmp_path / "a")
    # What the home's own key signed before stays trusted.
    assert set(trusted_keys(tmp_path / "a", own=given)) == {given.keyid, before.keyid}


@pytest.mark.parametrize("content", [None, b"no key", b"-----BEGIN PRIVATE KEY-----\n"])
def test_a_given_key_that_cannot_be_used_is_told(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "key.pem"
    if content is not None:
        file.write_bytes(content)
        file.chmod(0o600)
    with pytest.raises(InvalidInput, match="cannot be read") as caught:
        open_signing_key(tmp_path, file)
    assert "Ed25519 private key" in caught.value.suggestion
    assert not (tmp_path / "keys").exists()


def test_nothing_is_trusted_in_an_empty_home(tmp_path: Path) -> None:
    assert trusted_keys(tmp_path) == {}


def test_a_damaged_key_says_what_to_do(tmp_path: Path) -> None:
    open_signing_key(tmp_path)
    (tmp_path / "keys" / "signing.pem").write_text("no key")
    with pytest.raises(InvalidInput) as caught:
        open_signing_key(tmp_path)
    assert "move it aside" in caught.value.suggestion
    with pytest.raises(InvalidInput, match="not a readable public key"):
        read_public(tmp_path / "missing.pem")


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o601, 0o666])
@pytest.mark.parametrize("given", [False, True], ids=["of the home", "given"])
def test_a_key_that_others_can_use_is_refused(tmp_path: Path, given: bool, mode: int) -> None:
    home, path = tmp_path / "home", tmp_path / "home" / "keys" / "signing.pem"
    first = open_signing_key(home)
    if given:
        path = path.rename(tmp_path / "a key.pem")
    path.chmod(mode)
    with pytest.raises(InvalidInput, match=f"other users: its mode is {mode:04o}") as caught:
        open_signing_key(home, path if given else None)
    command = caught.value.suggestion.split("`")[1]
    assert command.startswith("chmod 600 ")
    if not given:
        with pytest.raises(InvalidInput, match="other users"):
            trusted_keys(home)
    subprocess.run(command, shell=True, check=True)
    assert open_signing_key(home, path if given else None).keyid == first.keyid


@pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user")
@pytest.mark.parametrize(
    ("mode", "message"), [(0o440, ""), (0o640, ""), (0o444, "other users"), (0o660, "other users")]
)
def test_a_mounted_secret_is_read_by_its_group(tmp_path: Path, mode: int, message: str) -> None:
    """A cluster mounts a secret as a file of root with the group of the server."""
    open_signing_key(tmp_path)
    folder = tmp_path / "secret"
    folder.mkdir()
    folder.chmod(0o755)
    path = (tmp_path / "keys" / "signing.pem").rename(folder / "signing.pem")
    os.chown(path, 0, 65532)
    path.chmod(mode)
    script = (
        "import os, sys; from sandtable.capsule.keys import open_signing_key; from pathlib import Path;"
        "os.chdir(sys.argv[1]); os.setgid(65532); os.setuid(65532); open_signing_key(Path('x'), Path('signing.pem'))"
    )
    command = [sys.executable, "-c", script, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == (not message) and message in done.stderr


@pytest.mark.parametrize("blocked", ["", "keys"], ids=["home", "keys"])
def test_a_folder_that_is_none_is_told(tmp_path: Path, blocked: str) -> None:
    home = tmp_path / "home"
    if blocked:
        home.mkdir()
    (home / blocked).write_text("a file")
    with pytest.raises(InvalidInput, match=r"cannot be used: (Not a directory|File exists)") as caught:
        open_signing_key(home)
    assert "SANDTABLE_HOME" in caught.value.suggestion


def test_a_full_disk_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(InvalidInput, match="No space left on device"):
        open_signing_key(tmp_path)
    assert list((tmp_path / "keys").iterdir()) == []
