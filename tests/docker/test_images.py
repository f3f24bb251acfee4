"""What is in the images, what is not, and that one order gets its answer."""

from __future__ import annotations

import json
import mmap
import re
import struct
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from sandtable.catalog.registry import load_catalog, registry_folder
from sandtable.catalog.stored.integrity import OpenData, Whole
from sandtable.catalog.stored.store import DataStore
from sandtable.engines.duckdb.types import column_type
from sandtable.sandbox.job import Job, Limits, refs_of
from sandtable.sandbox.wire import order_of
from sandtable.settings import Settings
from tests.docker.conftest import IMAGES
from tests.docker.engine import HARDENED, docker, inspect, read

ROOT = Path(__file__).resolve().parents[2]
USER = "65532:65532"
MOST_MB = {"runner": 130, "runner-python": 720, "server": 1060, "chat": 20}
SHELLS = set("sh bash dash ash zsh busybox perl apt apt-get dpkg pip pip3 curl wget".split())
STORES = {"runner": "data", "runner-python": "data", "server": "opt/sandtable/data"}

Contents = dict[str, tarfile.TarFile]

pytestmark = pytest.mark.needs("docker_images")


@pytest.mark.parametrize("image", IMAGES)
def test_nobody_special_runs_it(image: str) -> None:
    config = inspect(f"sandtable-{image}:dev")["Config"]
    assert config["User"] == USER
    assert "org.opencontainers.image.title" in config["Labels"]


@pytest.mark.parametrize("image", IMAGES)
def test_nothing_in_it_raises_rights_or_can_be_replaced(images: Contents, image: str) -> None:
    members = images[image].getmembers()
    assert [m.name for m in members if m.mode & 0o6000] == []
    open_to_all = [m.name for m in members if m.mode & 0o002 and not m.issym()]
    assert [name for name in open_to_all if name != "tmp"] == []
    owned = {m.name.split("/")[0] for m in members if m.uid != 0}
    assert owned <= ({"var"} if image == "server" else set())


@pytest.mark.parametrize("image", IMAGES)
def test_it_has_no_shell_and_no_package_manager(images: Contents, image: str) -> None:
    programs = [m.name for m in images[image].getmembers() if re.search(r"(^|/)s?bin/[^/]+$", m.name)]
    assert programs
    assert [name for name in programs if name.rpartition("/")[2] in SHELLS] == []


@pytest.mark.parametrize("image", IMAGES)
def test_it_is_small(image: str) -> None:
    assert inspect(f"sandtable-{image}:dev")["Size"] <= MOST_MB[image] * 1_000_000


@pytest.mark.parametrize("image", ["runner", "runner-python"])
def test_one_order_gets_its_answer(image: str) -> None:
    dataset = load_catalog(registry_folder(Settings()), column_type).get("support")
    job = Job(
        id="one",
        mode="sql",
        dataset_version=dataset.version,
        data=refs_of(OpenData(dataset, Whole(dataset.version))),
        text="SELECT count(*) AS n FROM tickets",
        limits=Limits(wall_ms=20_000, memory_mb=256),
    )
    lines = run_once(image, order_of(job))
    ready, report = lines[0], lines[-1]
    assert ready["kind"] == "ready" and {"seccomp", "no-new-privileges", "uid:65532"} <= set(ready["layers"])
    assert report["kind"] == "report" and report["nonce"] == "n"
    rows = next(table.rows for table in dataset.tables if table.name == "tickets")
    assert report["answer"]["status"] == "succeeded"
    assert report["answer"]["rows"] == [[rows]]


SAFELY: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
"""Python 3.11 has it from its fourth patch on."""


def run_once(image: str, order: dict[str, Any]) -> list[dict[str, Any]]:
    config = {"store": "/data", "kind": "sql", "input": "stdin", "nonce": "n", "wait_s": 30}
    body = json.dumps(order).encode()
    done = docker(
        "run", "--rm", "--interactive", *HARDENED, f"sandtable-{image}:dev", json.dumps(config),
        stdin=struct.pack(">I", len(body)) + body,
    )  # fmt: skip
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_code_finds_its_libraries_in_the_image_for_it() -> None:
    load = "import numpy, pandas, polars, pyarrow.parquet, scipy.stats, plotly.express, altair, duckdb"
    image = "sandtable-runner-python:dev"
    docker("run", "--rm", *HARDENED, "--entrypoint", "python3", image, "-I", "-c", load)


@pytest.mark.parametrize("image", STORES)
def test_the_data_in_it_are_what_a_server_would_make(images: Contents, image: str, tmp_path: Path) -> None:
    """The same versions, and every file as it was published."""
    place = STORES[image]
    kept = [m for m in images[image].getmembers() if m.name.startswith(f"{place}/")]
    images[image].extractall(tmp_path, members=kept, **SAFELY)
    store = DataStore(tmp_path / place)
    datasets = list(load_catalog(registry_folder(Settings()), column_type).values())
    versions = {dataset.version for dataset in datasets}
    assert {f"sha256:{path.name}" for path in (store.root / "versions").iterdir()} == versions
    assert {version: store.rehash(version) for version in versions} == {v: v for v in versions}
    assert all(store.profile(version) for version in versions)


@pytest.mark.parametrize("image", IMAGES)
def test_its_bill_of_materials_is_valid_and_complete(images: Contents, image: str) -> None:
    text = read(images[image], f"usr/share/sbom/sandtable-{image}.cdx.json").decode()
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    assert '"url"' not in text, "no package of the tests checks the form of an IRI"
    listed = json.loads(text)["components"]
    names = {component["name"] for component in listed}
    wanted = {
        "chat": {"@langchain/langgraph-sdk", "react"},
        "server": {"react", "fastapi", "psycopg", "pymysql", "duckdb", "sandtable"},
    }
    assert {"libc6", *wanted.get(image, {"duckdb", "sandtable"})} <= names
    lock = (ROOT / "requirements/runtime.lock.txt").read_text(encoding="utf-8")
    locked = set(re.findall(r"^([\w.-]+)==(\S+)", lock, re.MULTILINE))
    python = {(c["name"], c["version"]) for c in listed if c.get("purl", "").startswith("pkg:pypi/")}
    assert {name for name, _ in python - locked} <= {"sandtable"}
    installed = {
        re.sub(r"[-_.]+", "-", m.name.rpartition("/")[2].split("-")[0]).lower()
        for m in images[image].getmembers()
        if m.name.endswith(".dist-info")
    }
    assert installed <= {name for name, _ in python}


@pytest.mark.parametrize("image", IMAGES)
def test_nothing_of_the_builder_is_in_it(images: Contents, image: str) -> None:
    """Neither where packages came from nor how to get in there."""
    told = docker("history", "--no-trunc", "--format", "{{.CreatedBy}}", f"sandtable-{image}:dev").stdout
    places = builders_own()
    assert [place for place in places if place in told] == []
    whole = Path(str(images[image].name))
    with whole.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        assert [place for place in places if content.find(place) >= 0] == []


def builders_own() -> list[bytes]:
    """What pip is configured with on this machine: addresses, and hosts that are no public index."""
    said = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=True
    )
    public = {"pypi.org", "files.pythonhosted.org"}
    hosts = set(re.findall(r"https?://(?:[^/@\s']*@)?([\w.:-]+)", said.stdout)) - public
    return [host.encode() for host in sorted(hosts)] + [str(ROOT).encode()]
