"""What images are made from: pinned, the same for everybody, and nothing else. No engine is needed for these."""

from __future__ import annotations

import importlib
import re
import shutil
import sys
from pathlib import Path

import pytest
import yaml

from scripts.images import context, wheels

ROOT = Path(__file__).resolve().parents[2]
DOCKERFILES = sorted((ROOT / "deploy/docker").glob("*Dockerfile"))
LOCK = """
alpha==1.0 ; python_full_version < '3.12' \\
    --hash=sha256:aa
    # via sandtable
alpha==2.0 ; python_full_version >= '3.12' \\
    --hash=sha256:bb
beta==1.0 ; sys_platform == 'win32' \\
    --hash=sha256:cc
gamma==3.1 \\
    --hash=sha256:dd \\
    --hash=sha256:ee
"""


@pytest.mark.parametrize("dockerfile", DOCKERFILES, ids=lambda path: path.name)
def test_bases_are_pinned_and_no_step_needs_a_shell(dockerfile: Path) -> None:
    text = dockerfile.read_text(encoding="utf-8")
    bases = re.findall(r"^ARG \w+_BASE=(\S+)", text, re.MULTILINE)
    assert bases
    assert [base for base in bases if not re.fullmatch(r"[a-z]+:\d+\.\d+\.\d+-[a-z-]+", base)] == []
    assert re.findall(r"^(?:RUN|CMD|ENTRYPOINT) (?!\[)", text, re.MULTILINE) == []
    stages = re.findall(r"^FROM (\S+)(?: AS (\S+))?", text, re.MULTILINE)
    known = {"scratch", *(name for _, name in stages)}
    assert [source for source, _ in stages if source not in known and not source.startswith("${")] == []


def test_compose_lets_everybody_in_only_where_it_is_for_this_machine() -> None:
    """The image itself makes no such choice: a server that is started from it by hand refuses to."""
    server = yaml.safe_load((ROOT / "deploy/compose/compose.yaml").read_text("utf-8"))["services"]["server"]
    given = server["environment"]
    assert given["SANDTABLE_INSECURE"] == "${SANDTABLE_INSECURE:-true}"
    assert server["ports"] == ["${SANDTABLE_ADDRESS:-127.0.0.1}:${SANDTABLE_PORT:-8000}:8000"]
    assert {given[name] for name in ("SANDTABLE_ALLOWED_HOSTS", "SANDTABLE_TRUSTED_PROXIES")} == {
        "${SANDTABLE_ALLOWED_HOSTS:-}",
        "${SANDTABLE_TRUSTED_PROXIES:-}",
    }
    dockerfile = (ROOT / "deploy/docker/Dockerfile").read_text("utf-8")
    assert "SANDTABLE_HOST=0.0.0.0" in dockerfile and "INSECURE" not in dockerfile


@pytest.mark.parametrize(("python", "chosen"), [("3.11", "alpha==1.0"), ("3.13", "alpha==2.0")])
def test_wheels_are_those_of_the_images_own_python(tmp_path: Path, python: str, chosen: str) -> None:
    lock = tmp_path / "lock.txt"
    lock.write_text(LOCK)
    entries = wheels.applying(lock, python, "x86_64")
    assert [entry.split()[0] for entry in entries] == [chosen, "gamma==3.1"]
    assert entries[1].count("--hash=") == 2


def test_a_context_is_the_same_bytes_wherever_it_lies(tmp_path: Path) -> None:
    for place in ("one", "two"):
        (tmp_path / place / "src/__pycache__").mkdir(parents=True)
        (tmp_path / place / "src/a.py").write_text("x = 1\n")
        (tmp_path / place / "src/__pycache__/a.pyc").write_text(place)
        files = context.sources(tmp_path / place, ["src"])
        assert list(files) == ["src/a.py"]
        context.write(files, tmp_path / f"{place}.tar")
    assert (tmp_path / "one.tar").read_bytes() == (tmp_path / "two.tar").read_bytes()
    (tmp_path / "two/src/a.py").write_text("x = 2\n")
    digests = {context.digest(context.sources(tmp_path / place, ["src"])) for place in ("one", "two")}
    assert len(digests) == 2


def test_a_binary_tells_which_libraries_it_asks_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "deploy/docker/steps"))
    elf = importlib.import_module("collect.elf")
    wanted = elf.wants(Path(shutil.which("ls") or sys.executable).resolve())
    assert wanted is not None
    assert any(name.startswith("libc.") for name in wanted.libraries)
    assert wanted.loader and Path(wanted.loader).name.startswith("ld-linux")
    text = tmp_path / "text"
    text.write_text("no binary")
    assert elf.wants(text) is None
