"""Locked packages are installed with uv or with pip, from the index that pip is configured to use."""

from __future__ import annotations

import base64
import hashlib
import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from scripts import install

INSTALLER = Path(install.__file__)
_TWO = ["--index", "https://b.example/simple", "--index", "https://c.example/simple"]


@pytest.mark.parametrize(
    ("pip", "options", "environment"),
    [
        ({}, [], {"UV_SYSTEM_CERTS": "1"}),
        ({"index-url": "https://a.example/simple"}, ["--default-index", "https://a.example/simple"], {}),
        (
            {"extra-index-url": "https://b.example/simple\nhttps://c.example/simple"},
            [*_TWO, "--index-strategy", "unsafe-best-match"],
            {},
        ),
        ({"find-links": "/w /x", "no-index": "true"}, ["--find-links", "/w", "--find-links", "/x", "--no-index"], {}),
        ({"trusted-host": "a.example"}, ["--allow-insecure-host", "a.example"], {}),
        ({"cert": "/c.pem", "default-timeout": "90"}, [], {"SSL_CERT_FILE": "/c.pem", "UV_HTTP_TIMEOUT": "90"}),
        ({"proxy": "http://p.example"}, [], {"HTTPS_PROXY": "http://p.example"}),
    ],
    ids=["none", "index", "more-indexes", "folders", "trusted", "certificate", "proxy"],
)  # fmt: skip
def test_settings_of_pip_hold_for_uv(
    pip: dict[str, str], options: list[str], environment: dict[str, str]
) -> None:
    said, around = install.uv_settings(pip)
    assert said == options
    assert environment.items() <= around.items()


def test_pips_own_files_and_environment_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    config = tmp_path / "pip.conf"
    config.write_text(
        "[global]\nindex-url = https://a.example/simple\ntimeout = 7\n[install]\nfind-links = /w\n"
    )
    monkeypatch.setenv("PIP_CONFIG_FILE", str(config))
    monkeypatch.setenv("PIP_INDEX_URL", "https://b.example/simple")
    found = install.pip_settings()
    assert (found["index-url"], found["timeout"], found["find-links"]) == (
        "https://b.example/simple",
        "7",
        "/w",
    )


def test_the_lock_pins_uv_itself() -> None:
    lines = install.pinned("uv", install.UV_LOCK).splitlines()
    assert lines[0].startswith("uv==")
    assert all(line.strip().startswith("--hash=sha256:") for line in lines[1:])


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with pip, a folder with one wheel, and a lock that pins it."""
    folder = tmp_path_factory.mktemp("install")
    venv.create(folder / "venv", with_pip=True)
    wheel = folder / "wheels" / "tiny-1.0-py3-none-any.whl"
    wheel.parent.mkdir()
    files = {
        "tiny.py": "VALUE = 1\n",
        "tiny-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n",
        "tiny-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    with zipfile.ZipFile(wheel, "w") as archive:
        record = ""
        for name, text in files.items():
            archive.writestr(name, text)
            digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
            record += f"{name},sha256={digest},{len(text)}\n"
        archive.writestr("tiny-1.0.dist-info/RECORD", record + "tiny-1.0.dist-info/RECORD,,\n")
    hashed = hashlib.sha256(wheel.read_bytes()).hexdigest()
    (folder / "lock.txt").write_text(f"tiny==1.0 \\\n    --hash=sha256:{hashed}\n")
    (folder / "wrong.txt").write_text(f"tiny==1.0 \\\n    --hash=sha256:{'0' * 64}\n")
    return folder


def _install(world: Path, lock: str, **environment: str) -> subprocess.CompletedProcess[str]:
    around = {
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",  # uv of the tests' environment
        "HOME": str(world), "XDG_CACHE_HOME": str(world / "cache"),
        "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(world / "wheels"), **environment,
    }  # fmt: skip
    python = world / "venv" / "bin" / "python"
    subprocess.run(
        [python, "-m", "pip", "uninstall", "--quiet", "--yes", "tiny"], check=False, capture_output=True
    )
    return subprocess.run(
        [python, INSTALLER, world / lock], env=around, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("installer", ["uv", "pip"])
def test_what_the_lock_pins_is_installed(world: Path, installer: str) -> None:
    done = _install(world, "lock.txt", SANDTABLE_INSTALLER=installer)
    assert (done.returncode, done.stderr) == (0, "")
    said = subprocess.run(
        [world / "venv/bin/python", "-c", "import tiny, pathlib; print(tiny.VALUE)"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert said.stdout == "1\n"
    kept = next((world / "venv").glob("lib/*/site-packages/tiny-1.0.dist-info/INSTALLER")).read_text()
    assert kept.strip() == installer


def test_another_file_than_the_pinned_one_is_refused(world: Path) -> None:
    done = _install(world, "wrong.txt")
    assert done.returncode != 0
    assert "pip is used" in done.stderr


def test_without_uv_pip_installs(world: Path) -> None:
    done = _install(world, "lock.txt", PATH="/usr/bin:/bin")
    assert done.returncode == 0
    assert "uv could not be fetched; pip is used" in done.stderr
