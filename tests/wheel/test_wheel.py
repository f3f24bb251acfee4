"""The wheel in an environment of its own, without the checkout: a page with its assets, a question over HTTP."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from scripts import build_wheel

pytestmark = pytest.mark.needs("web_ui")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel.build(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The environment's programs. It has the locked packages of this one, but none of its `.pth` files."""
    folder = tmp_path_factory.mktemp("environment") / "venv"
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    install = ["--no-deps", "--offline", "--no-index", "--quiet", "--link-mode=copy"]
    uv = [Path(sys.executable).with_name("uv"), "pip", "install", "--python", python, *install, wheel]
    subprocess.run(uv, check=True)
    packages = folder / "lib" / f"python3.{sys.version_info.minor}" / "site-packages"
    (packages / "locked.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder / "bin"


def _environment(home: Path) -> dict[str, str]:
    """No PATH: neither Node nor a checkout can be found. No command leaves a process behind."""
    return {
        "SANDTABLE_HOME": str(home / "home"),
        "SANDTABLE_PREFORK_S": "0",
        "LANG": "C.UTF-8",
        "HOME": str(home),
    }


@pytest.fixture(scope="module")
def address(programs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home = tmp_path_factory.mktemp("served")
    with (home / "log").open("w") as log, subprocess.Popen(
        [programs / "sandtable", "serve", "--port", "0", "--json"],
        cwd=home, env=_environment(home), stdout=subprocess.PIPE, stderr=log, text=True,
    ) as server:  # fmt: skip
        assert server.stdout is not None
        said = server.stdout.readline()
        assert said, (home / "log").read_text()[-2000:]
        yield json.loads(said)["url"]
        server.send_signal(signal.SIGTERM)
        assert server.wait(30) == 0


def test_the_package_comes_from_the_wheel(programs: Path, tmp_path: Path) -> None:
    program = "import sandtable, sandtable_runner; print(sandtable.__file__, sandtable_runner.__file__)"
    command = [programs / "python", "-c", program]
    said = subprocess.run(command, cwd=tmp_path, env={}, capture_output=True, text=True, check=True).stdout
    for file in said.split():
        assert Path(file).is_relative_to(programs.parent)


def test_a_page_with_its_assets(address: str) -> None:
    page = httpx.get(f"{address}/", timeout=60)
    assert page.status_code == 200
    assets = re.findall(r'(?:src|href)="(/?assets/[^"]+)"', page.text)
    assert any(asset.endswith(".js") for asset in assets)
    assert any(asset.endswith(".css") for asset in assets)
    for asset in assets:
        assert httpx.get(f"{address}/{asset.lstrip('/')}", timeout=60).status_code == 200


@pytest.mark.needs("userns")
def test_a_question_over_http(address: str) -> None:
    asked = {"dataset_id": "ecommerce", "message": "How many orders are there?"}
    answer = httpx.post(f"{address}/chat", json=asked, timeout=120)
    assert answer.status_code == 200, answer.text
    assert (answer.json()["ending"], answer.json()["status"]) == ("answered", "succeeded")


@pytest.mark.needs("userns")
def test_a_question_on_the_command_line(programs: Path, tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text("city,amount\nBerlin,1\nParis,2\n")
    command = [programs / "sandtable", "ask", "total amount", "--data", "sales.csv", "--json"]
    done = subprocess.run(
        command, cwd=tmp_path, env=_environment(tmp_path), capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout)["rows"] == [[3]]


def test_the_same_sources_give_the_same_bytes(wheel: Path, tmp_path: Path) -> None:
    assert build_wheel.build(tmp_path).read_bytes() == wheel.read_bytes()


def test_it_carries_what_runs_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    for wanted in (
        "sandtable/server/_built/web/index.html",
        "sandtable/_datasets/registry.json",
        "sandtable/py.typed",
        "sandtable_runner/zygote.py",
    ):
        assert wanted in names
    assert [name for name in names if name.startswith("sandtable/planner/candidates/network/model/")]
    assert not [name for name in names if "__pycache__" in name or name.startswith(("tests/", "web/"))]
    assert {name.split("/")[0] for name in names} == {
        "sandtable", "sandtable_runner", "sbirtools", "sandtable-0.1.0.dist-info",
    }  # fmt: skip
